/**
 * The data of a live page: its lines and gaps, its counts, and how many lines and errors came in each of the last
 * seconds.
 */

import type { TailGap, TailStats } from "#proto/live.ts";
import type { TailLine } from "./tail-client.ts";
import { TailRing } from "./tail-ring.ts";

/** Five minutes: as far back as a reader remembers. */
export const HISTORY_SECONDS = 300;

interface SecondCounts {
  readonly lines: number;
  readonly errors: number;
}

export class RateHistory {
  readonly #lines = new Uint32Array(HISTORY_SECONDS);
  readonly #errors = new Uint32Array(HISTORY_SECONDS);
  /** The newest second, since 1970. */
  #second = 0;

  /** Counts lines that came now. */
  add(lines: number, errors: number, nowMs: number): void {
    this.#moveTo(Math.floor(nowMs / 1_000));
    const at = this.#second % HISTORY_SECONDS;
    this.#lines[at]! += lines;
    this.#errors[at]! += errors;
  }

  /** Returns the seconds up to now, the oldest first. */
  seconds(nowMs: number): SecondCounts[] {
    this.#moveTo(Math.floor(nowMs / 1_000));
    return Array.from({ length: HISTORY_SECONDS }, (_, step) => {
      const at = (this.#second + 1 + step) % HISTORY_SECONDS;
      return { lines: this.#lines[at]!, errors: this.#errors[at]! };
    });
  }

  clear(): void {
    this.#lines.fill(0);
    this.#errors.fill(0);
  }

  /** Empties the seconds in which nothing came. A clock that was set back counts on where it was. */
  #moveTo(second: number): void {
    const gone = Math.min(HISTORY_SECONDS, second - this.#second);
    for (let step = 1; step <= gone; step++) {
      const at = (second - gone + step) % HISTORY_SECONDS;
      this.#lines[at] = 0;
      this.#errors[at] = 0;
    }
    if (gone > 0) this.#second = second;
  }
}

/** Lines a page holds; the older ones are found in Discover. */
export const RING_ENTRIES = 20_000;

export interface GapEntry {
  readonly gap: TailGap;
}

export type TailEntry = TailLine | GapEntry;

const ERROR_LEVEL = 5;
const MINUTE_MS = 60_000;

/** Lines since the tail was opened. */
interface Counts {
  readonly matched: number;
  readonly sent: number;
  readonly atMs: number;
}

export class TailLog {
  readonly ring = new TailRing<TailEntry>(RING_ENTRIES);
  /** Rows left out since the tail was opened. */
  skipped = 0;
  /** Lines that came since the tail was opened. */
  taken = 0;
  /** Lines a second, of those that match and of those shown: of the last second, below 1 of the last minute. */
  matchedRate = 0;
  shownRate = 0;
  lagMs = 0;
  /** Lines that came while the reader held the window. */
  unseen = 0;
  /** Of the last minutes. */
  readonly history = new RateHistory();
  /** The hub's counts of the last minute, the oldest first. */
  #counts: Counts[] = [];

  addLines(lines: readonly TailLine[], isSeen: boolean): void {
    for (const line of lines) this.ring.push(line);
    this.taken += lines.length;
    if (!isSeen) this.unseen += lines.length;
  }

  /** Counts lines that came now by their second. */
  countRates(lines: readonly TailLine[], nowMs: number): void {
    let errors = 0;
    for (const { row } of lines) if (row[2] >= ERROR_LEVEL) errors += 1;
    this.history.add(lines.length, errors, nowMs);
  }

  /** Adds a gap where it happened. */
  addGap(gap: TailGap): void {
    this.skipped += gap.n;
    this.ring.push({ gap });
  }

  /** Takes the hub's counts. */
  addStats({ matched, sent, lagMs }: TailStats, nowMs: number): void {
    this.lagMs = lagMs;
    const before = this.#counts.at(-1);
    if (before === undefined || matched < before.matched) this.#counts = [];
    this.#counts.push({ matched, sent, atMs: nowMs });
    while (this.#counts.length > 2 && this.#counts[1]!.atMs <= nowMs - MINUTE_MS) this.#counts.shift();
    if (this.#counts.length < 2) return;
    this.matchedRate = this.#rateOf("matched");
    this.shownRate = this.#rateOf("sent");
  }

  /** Returns the lines that are kept as texts, each after its time. */
  texts(): string[] {
    const lines: string[] = [];
    for (let number = this.ring.first; number < this.ring.end; number++) {
      const entry = this.ring.at(number);
      if (entry !== undefined && "row" in entry)
        lines.push(`${new Date(entry.row[1]).toISOString()} ${entry.row[4]}\n`);
    }
    return lines;
  }

  /** Forgets the lines; counts and rates continue. */
  clear(): void {
    this.ring.clear();
    this.unseen = 0;
    this.skipped = 0;
  }

  /** Starts again with another filter, of which the hub counts from 0. */
  reset(nowMs: number): void {
    this.clear();
    this.#counts = [{ matched: 0, sent: 0, atMs: nowMs }];
    this.taken = 0;
    this.matchedRate = 0;
    this.shownRate = 0;
    this.lagMs = 0;
    this.history.clear();
  }

  #rateOf(what: "matched" | "sent"): number {
    const last = this.#counts.at(-1)!;
    const since = (before: Counts): number =>
      (last[what] - before[what]) / Math.max(0.1, (last.atMs - before.atMs) / 1_000);
    const perSecond = since(this.#counts[0]!);
    return perSecond < 1 ? perSecond : Math.round(since(this.#counts.at(-2)!));
  }
}
