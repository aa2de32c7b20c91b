/** Cuts a block of a file into lines: at each newline, a carriage return before it stripped, everything else kept. */

import type { Interval } from "#proto/kit/interval-set.ts";

const LF = 0x0a;
const CR = 0x0d;
const NUL = 0x00;

export interface LineBlock {
  /** Bytes of the file from `from` on. */
  readonly data: Uint8Array;
  /** Offset of the first byte in the file. */
  readonly from: number;
  /** Parts of the file to cut, ascending, within the block; the rest is skipped. */
  readonly ranges: readonly Interval[];
  /** The first line continues a line that an earlier block split. */
  readonly firstLineContinued: boolean;
}

/**
 * Walks over the lines of a block. A range that begins or ends within a line yields that part of it, marked, so that
 * ranges that tile a file yield each of its bytes exactly once however they are cut.
 * Empty lines yield nothing. A run of NULs at a line's start (the hole that a truncating rotation leaves) is
 * skipped: the line begins after it.
 */
export class LineCutter {
  /** Start of the line in `data`. */
  start = 0;
  /** End in `data`, line end stripped. */
  end = 0;
  /** Number of the line in the block, from 0, empty ones and those outside of the ranges included. */
  index = -1;
  /** `start` isn't the line's beginning, which was split off or is in another range. */
  continued = false;
  /** The line has no newline. */
  open = false;
  /** Lines without a byte, so far. */
  emptyLines = 0;
  /** NULs passed over, so far. */
  nulBytes = 0;
  readonly #block: LineBlock;
  #range = 0;
  #at: number;
  /** Where the line that holds `#at` begins in `data`. */
  #lineStart = 0;
  #lineIndex = 0;

  constructor(block: LineBlock) {
    this.#block = block;
    this.#at = (block.ranges[0]?.[0] ?? block.from) - block.from;
  }

  /** Offset of the line in the file. */
  get offset(): number {
    return this.#block.from + this.start;
  }

  /** Moves to the next line; returns false after the last. */
  next(): boolean {
    const { data, from, ranges } = this.#block;
    for (; this.#range < ranges.length; ) {
      const rangeEnd = Math.min(ranges[this.#range]![1] - from, data.length);
      if (this.#at >= rangeEnd) {
        this.#range++;
        const next = ranges[this.#range];
        if (next !== undefined) this.#at = next[0] - from;
        continue;
      }
      this.#seekLine();
      if (this.#take(rangeEnd)) return true;
    }
    return false;
  }

  /** Moves `#lineStart` and `#lineIndex` to the line that holds `#at`. */
  #seekLine(): void {
    const { data } = this.#block;
    while (this.#lineStart < this.#at) {
      const newline = data.indexOf(LF, this.#lineStart);
      if (newline < 0 || newline >= this.#at) return;
      this.#lineStart = newline + 1;
      this.#lineIndex++;
    }
  }

  /** Takes the part of the line at `#at` that is before `rangeEnd`; returns false if it is empty. */
  #take(rangeEnd: number): boolean {
    const { data, firstLineContinued } = this.#block;
    let start = this.#at;
    const newline = data.indexOf(LF, start);
    const closed = newline >= 0 && newline < rangeEnd;
    let end = closed ? newline : rangeEnd;
    this.#at = closed ? newline + 1 : rangeEnd;
    this.index = this.#lineIndex;
    this.continued = start > this.#lineStart || (this.#lineIndex === 0 && firstLineContinued);
    this.open = !closed;
    if (closed) {
      this.#lineStart = newline + 1;
      this.#lineIndex++;
      if (end > start && data[end - 1] === CR) end--;
    }
    const nulls = start;
    while (start < end && data[start] === NUL) start++;
    this.nulBytes += start - nulls;
    this.start = start;
    this.end = end;
    if (start < end) return true;
    this.emptyLines++;
    return false;
  }
}
