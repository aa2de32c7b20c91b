/**
 * The incarnations of a stream. Sequences restart when a stream is recreated, and go back when its files are replaced
 * by an older copy or the newest messages are lost; the incarnation distinguishes such sequences.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { Position } from "#proto/position.ts";

/** One incarnation: its messages have sequences from `firstSequence` up to the next one's. */
export interface Incarnation {
  readonly incarnation: number;
  readonly firstSequence: number;
}

/** Incarnations kept; older ones are long purged. */
const MAX_KEPT = 64;

/** All incarnations that may have messages in the stream, ascending. Immutable. */
export class Incarnations {
  readonly #lives: readonly Incarnation[];

  /** `lives`: at least one, ascending in both fields. */
  constructor(lives: readonly Incarnation[] = [{ incarnation: 1, firstSequence: 1 }]) {
    this.#lives = lives;
  }

  /** The newest incarnation. */
  get current(): Incarnation {
    return this.#lives.at(-1)!;
  }

  /** Returns the position of the message with `sequence`. */
  positionOf(sequence: number): Position {
    const life = this.#lives.findLast(({ firstSequence }) => firstSequence <= sequence) ?? this.#lives[0]!;
    return { incarnation: life.incarnation, sequence };
  }

  /**
   * Returns the sequence of the first message after `position`, whether it is stored yet or not. Throws journal_gap
   * for a position of an unknown later incarnation.
   */
  nextAfter(position: Position): number {
    const { incarnation: newest } = this.current;
    if (position.incarnation > newest) {
      throw new AppError(
        "journal_gap",
        `position ${position.incarnation}/${position.sequence} is of a later incarnation of the log than ${newest}; ` +
          "the log must be reconciled first",
      );
    }
    const later = this.#lives.find(({ incarnation }) => incarnation > position.incarnation);
    const known = this.#lives.some(({ incarnation }) => incarnation === position.incarnation);
    const next = known ? position.sequence + 1 : later!.firstSequence;
    return later === undefined ? next : Math.min(next, later.firstSequence);
  }

  /**
   * Begins an incarnation after `endSequence`, the last message that was there before. `atLeast`: an incarnation that
   * somebody remembers and the stream has forgotten.
   */
  raise(endSequence: number, atLeast: number): Incarnations {
    const incarnation = Math.max(this.current.incarnation, atLeast) + 1;
    const kept = this.#lives.filter(({ firstSequence }) => firstSequence <= endSequence);
    return new Incarnations([...kept, { incarnation, firstSequence: endSequence + 1 }].slice(-MAX_KEPT));
  }

  toArray(): readonly Incarnation[] {
    return this.#lives;
  }
}
