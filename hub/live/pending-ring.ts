/** The rows and counted gaps that a tail has to send, in order. A full ring drops its oldest rows and counts them. */

import type { GapReason } from "#proto/live.ts";
import type { RenderedRow } from "./rendered-row.ts";

/** A waiting row. Shared by all viewers that requested no further fields. */
export interface PendingRow {
  readonly row: RenderedRow;
  /** The requested fields as JSON. */
  readonly extra: string;
  /** Number of the event at this hub. */
  readonly sequence: number;
  /** When the event was offered, monotonic ms. */
  readonly offeredMs: number;
}

export interface PendingGap {
  n: number;
  fromTs: number;
  toTs: number;
  why: GapReason;
}

type Entry = PendingRow | PendingGap;

export class PendingRing {
  readonly #maxRows: number;
  readonly #maxSizeBytes: number;
  /** Entries from #first on; the part before it is removed from time to time. */
  #entries: (Entry | undefined)[] = [];
  #first = 0;
  #rows = 0;
  #sizeBytes = 0;
  #gaps = 0;

  constructor(maxRows: number, maxSizeBytes: number) {
    this.#maxRows = maxRows;
    this.#maxSizeBytes = maxSizeBytes;
  }

  get rows(): number {
    return this.#rows;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get isEmpty(): boolean {
    return this.#rows === 0 && this.#gaps === 0;
  }

  /** Monotonic ms at which the oldest row was offered; undefined without rows. */
  get oldestOfferedMs(): number | undefined {
    for (let i = this.#first; i < this.#entries.length; i++) {
      const entry = this.#entries[i]!;
      if ("row" in entry) return entry.offeredMs;
    }
    return undefined;
  }

  /** Adds a row; returns the number of rows dropped for it. Their gap has the reason `why`. */
  push(row: PendingRow, why: GapReason): number {
    this.#entries.push(row);
    this.#rows += 1;
    this.#sizeBytes += rowSize(row);
    let dropped = 0;
    while (this.#rows > this.#maxRows || (this.#sizeBytes > this.#maxSizeBytes && this.#rows > 1)) {
      this.#dropOldest(why);
      dropped += 1;
    }
    return dropped;
  }

  /** Counts rows that are left out after the last entry; n 0: an unknown number. */
  pushGap(gap: PendingGap): void {
    const last = this.#entries.at(-1);
    if (last !== undefined && !("row" in last) && last.why === gap.why) {
      mergeGaps(last, gap);
      return;
    }
    this.#entries.push({ ...gap });
    this.#gaps += 1;
  }

  /** Takes the first entry if it is a gap. */
  takeGap(): PendingGap | undefined {
    const entry = this.#entries[this.#first];
    if (entry === undefined || "row" in entry) return undefined;
    this.#shift();
    this.#gaps -= 1;
    return entry;
  }

  /** Takes the first entry if it is a row. */
  takeRow(): PendingRow | undefined {
    const entry = this.#entries[this.#first];
    if (entry === undefined || !("row" in entry)) return undefined;
    this.#shift();
    this.#rows -= 1;
    this.#sizeBytes -= rowSize(entry);
    return entry;
  }

  #dropOldest(why: GapReason): void {
    let gap = this.takeGap();
    // Gaps without rows between them become one.
    for (let next = this.takeGap(); next !== undefined; next = this.takeGap()) mergeGaps(gap!, next);
    const oldest = this.takeRow();
    if (oldest === undefined) throw new Error("a ring without rows can't drop one");
    const { timestampMs } = oldest.row;
    const dropped: PendingGap = { n: 1, fromTs: timestampMs, toTs: timestampMs, why };
    if (gap === undefined) gap = dropped;
    else mergeGaps(gap, dropped);
    this.#unshift(gap);
    this.#gaps += 1;
  }

  #shift(): void {
    this.#entries[this.#first] = undefined;
    this.#first += 1;
    if (this.#first > 1_024 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }

  #unshift(entry: Entry): void {
    if (this.#first === 0) {
      this.#entries.unshift(entry);
      return;
    }
    this.#first -= 1;
    this.#entries[this.#first] = entry;
  }
}

function rowSize({ row, extra }: PendingRow): number {
  return row.sizeBytes + extra.length;
}

function mergeGaps(into: PendingGap, gap: PendingGap): void {
  // An unknown count stays unknown.
  into.n = into.n === 0 || gap.n === 0 ? 0 : into.n + gap.n;
  into.fromTs = into.fromTs === 0 ? gap.fromTs : Math.min(into.fromTs, gap.fromTs || into.fromTs);
  into.toTs = Math.max(into.toTs, gap.toTs);
}
