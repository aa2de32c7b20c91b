/**
 * Detects that a stream was lost or rolled back, and stores its incarnations in a bucket. Sequences restart when a
 * stream is recreated, and go back when its files are replaced by an older copy or the newest messages are lost; the
 * incarnation distinguishes such sequences.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import type { Position } from "#proto/position.ts";
import type { StreamState } from "./stream-store.ts";

/** One incarnation: its messages have sequences from `firstSequence` up to the next one's. */
export interface Incarnation {
  readonly incarnation: number;
  readonly firstSequence: number;
}

/** Maximum incarnations kept; messages of older ones were purged long ago. */
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
   * Returns the sequence of the first message after `position`, whether it is already stored or not. Throws journal_gap for
   * a position of an unknown later incarnation.
   */
  nextAfter(position: Position): number {
    const { incarnation: newest } = this.current;
    if (position.incarnation > newest) {
      throw new AppError(
        "journal_gap",
        `position ${position.incarnation}/${position.sequence} belongs to a later incarnation of the log than ${newest}; ` +
          "the log must be reconciled first",
      );
    }
    const later = this.#lives.find(({ incarnation }) => incarnation > position.incarnation);
    const known = this.#lives.some(({ incarnation }) => incarnation === position.incarnation);
    const next = known ? position.sequence + 1 : later!.firstSequence;
    return later === undefined ? next : Math.min(next, later.firstSequence);
  }

  /**
   * Begins an incarnation after `endSequence`, the last message before it. `atLeast`: an incarnation that a position names
   * and the stream has forgotten.
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

/** An identity that no stream has. A restored snapshot stores it, so that the hub detects that its streams were recreated. */
export const RESTORED_IDENTITY = "";

/** Attempts against concurrent changes by other hubs. */
const MAX_CONFLICTS = 10;

/** The methods of StreamStore that the history needs. */
export interface StreamReader {
  /** `isLost`: whether a state means a loss, for a second question. */
  state(stream: string, isLost: (state: StreamState) => boolean): Promise<StreamState>;
}

export interface LogHistoryOptions {
  readonly streams: StreamReader;
  readonly bucket: StateBucket;
  readonly log: Logger;
  /** Called at each new incarnation. */
  readonly onRaise: (stream: string, incarnation: number) => void;
}

export interface Reconciliation {
  readonly incarnation: number;
  /** The stream was lost or rolled back: a new incarnation has begun. */
  readonly raised: boolean;
}

/** The bucket's value per stream, as JSON. */
interface Remembered {
  readonly identity: string;
  readonly lives: readonly Incarnation[];
}

/** The incarnations of all streams. */
export class LogHistory {
  readonly #options: LogHistoryOptions;
  readonly #known = new Map<string, Incarnations>();
  /** By stream: as of the last comparison, in case the bucket is lost together with the stream. */
  readonly #identities = new Map<string, string>();

  constructor(options: LogHistoryOptions) {
    this.#options = options;
  }

  /** Throws unavailable before the stream was reconciled once. */
  of(stream: string): Incarnations {
    const known = this.#known.get(stream);
    if (known === undefined)
      throw new AppError("unavailable", `the incarnation of ${stream} is not known yet`);
    return known;
  }

  /** Returns the stored incarnations; unlike `of`, works before the stream was reconciled. */
  async stored(stream: string): Promise<Incarnations> {
    const entry = await this.#options.bucket.get(stream);
    if (entry === null) return new Incarnations();
    return new Incarnations((JSON.parse(Buffer.from(entry.value).toString()) as Remembered).lives);
  }

  /**
   * Compares remembered positions with the stream and begins a new incarnation if it isn't the remembered stream.
   * `remembered`: positions that were made durable before the server started. `restored`: messages that the stream had when
   * the server started; later ones don't count. Undefined: all count. Clocks aren't used: a clock that is set back must not
   * make old messages look new.
   */
  async reconcile(
    stream: string,
    remembered: readonly Position[],
    restored?: number,
  ): Promise<Reconciliation> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#reconcile(stream, remembered, restored);
      } catch (error) {
        const conflict = error instanceof AppError && error.code === "journal_conflict";
        if (!conflict || tries === MAX_CONFLICTS) throw error; // otherwise another hub was quicker: read again
      }
    }
  }

  async #reconcile(
    stream: string,
    remembered: readonly Position[],
    restored: number | undefined,
  ): Promise<Reconciliation> {
    const { bucket, streams } = this.#options;
    const entry = await bucket.get(stream);
    const kept = entry === null ? undefined : (JSON.parse(Buffer.from(entry.value).toString()) as Remembered);
    const stored = new Incarnations(kept?.lives);
    const own = this.#known.get(stream);
    const known = own?.current.incarnation ?? 0;
    // An older entry is of a server that lags behind, or of a bucket that was lost: a write shows which, or repairs it.
    const before = own !== undefined && stored.current.incarnation < known ? own : stored;
    const wasRestored = kept?.identity === RESTORED_IDENTITY;
    const compare = (state: StreamState): { readonly end: number; readonly fault: string | undefined } => {
      const isOther = (identity: string | undefined): boolean =>
        identity !== undefined && identity !== state.identity;
      // A hub that knew nothing of earlier incarnations may have stored the new stream first.
      const isForgotten = isOther(this.#identities.get(stream)) && before.current.incarnation <= known;
      if (!isOther(kept?.identity) && !isForgotten) {
        const end = endAtStart(state, restored);
        return { end, fault: findFault(before, remembered, end) };
      }
      return { end: 0, fault: wasRestored ? "begins behind a restored snapshot" : "was made anew" };
    };
    const state = await streams.state(stream, (seen) => compare(seen).fault !== undefined);
    const { end, fault } = compare(state);
    const now =
      fault === undefined ? before : before.raise(end, Math.max(known, highestIncarnation(remembered)));
    if (kept === undefined || now !== stored) {
      const value = Buffer.from(
        JSON.stringify({ identity: state.identity, lives: now.toArray() } satisfies Remembered),
      );
      if (entry === null) await bucket.create(stream, value);
      else await bucket.update(stream, value, entry.revision);
    }
    this.#identities.set(stream, state.identity);
    this.#adopt(stream, now, fault, wasRestored ? "info" : "error");
    return { incarnation: now.current.incarnation, raised: fault !== undefined };
  }

  /** Adopts the incarnations and reports a new one, whichever hub began it. */
  #adopt(stream: string, now: Incarnations, fault: string | undefined, level: "info" | "error"): void {
    const { log, onRaise } = this.#options;
    const { incarnation, firstSequence } = now.current;
    const before = this.#known.get(stream)?.current.incarnation;
    this.#known.set(stream, now);
    if (fault !== undefined) {
      log[level](
        { stream, incarnation, firstSequence },
        `${stream} ${fault}; a new incarnation begins and agents resend what is not committed`,
      );
    }
    if (fault !== undefined || (before !== undefined && before !== incarnation)) onRaise(stream, incarnation);
  }
}

/** Returns the last sequence at the server's start of a stream that had `restored` messages then. */
function endAtStart(
  { firstSequence, lastSequence, messages }: StreamState,
  restored: number | undefined,
): number {
  if (restored === undefined) return lastSequence;
  // Messages missing between others were also missing at the start.
  const gaps = lastSequence - firstSequence + 1 - messages;
  return Math.min(lastSequence, firstSequence - 1 + restored + gaps);
}

/** Returns how the stream differs from the remembered one; undefined if it is the same. */
function findFault(before: Incarnations, remembered: readonly Position[], end: number): string | undefined {
  const { incarnation } = before.current;
  if (highestIncarnation(remembered) > incarnation) return "is older than positions taken from it";
  const highest = remembered.reduce(
    (most, each) => (each.incarnation === incarnation ? Math.max(most, each.sequence) : most),
    0,
  );
  if (highest > end) return `ended at ${end}, but ${highest} had been taken from it`;
  return undefined;
}

function highestIncarnation(positions: readonly Position[]): number {
  return positions.reduce((most, { incarnation }) => Math.max(most, incarnation), 0);
}
