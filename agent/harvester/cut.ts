/** Where a block of a file ends: at a line's end, unless a line is too long or will never end. */

import type { BlockMemory } from "#agent/contract/block-memory.ts";

const NEWLINE = 0x0a;
/** UTF-8: bytes 10xxxxxx continue a character; a character has at most three of them. */
const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;
const CONTINUATIONS_MAX = 3;

export interface CutOptions {
  /** Longest line that is kept whole, bytes with its line end. */
  readonly maxLineBytes: number;
  /** True where the bytes fill the room there was: more may follow. */
  readonly full: boolean;
  /** True where the last line won't grow any more. */
  readonly final: boolean;
}

/**
 * `block`: send up to `end`; `open`: the last line has no end.
 * `wait`: no line is complete yet. `grow`: a line is longer than the room but may still be kept whole.
 */
export type Cut =
  | { readonly kind: "block"; readonly end: number; readonly open: boolean }
  | { readonly kind: "wait" }
  | { readonly kind: "grow" };

const WAIT: Cut = { kind: "wait" };
const GROW: Cut = { kind: "grow" };

/** Decides about bytes `start` to `end` of `buffer`; `start` is where a line, or the rest of one, begins. */
export function cut(buffer: Buffer, start: number, end: number, options: CutOptions): Cut {
  const { maxLineBytes, full, final } = options;
  if (end <= start) return WAIT;
  const last = buffer.lastIndexOf(NEWLINE, end - 1);
  // Slow path: only where lines must be shorter than the room, each has to be looked at.
  if (maxLineBytes < end - start) {
    const long = firstLongLine(buffer, start, end, maxLineBytes);
    if (long > start) return { kind: "block", end: long, open: false };
    if (long === start)
      return { kind: "block", end: characterEnd(buffer, start, start + maxLineBytes), open: true };
  }
  if (last >= start) return { kind: "block", end: last + 1, open: false };
  if (end - start >= maxLineBytes)
    return { kind: "block", end: characterEnd(buffer, start, end), open: true };
  if (full) return GROW;
  return final ? { kind: "block", end, open: true } : WAIT;
}

/** Returns where the first line longer than `maxLineBytes` begins, or -1. An unfinished last line counts once it is too long. */
function firstLongLine(buffer: Buffer, start: number, end: number, maxLineBytes: number): number {
  for (let line = start; line < end; ) {
    const newline = buffer.indexOf(NEWLINE, line);
    const next = newline < 0 || newline >= end ? end : newline + 1;
    if (next - line > maxLineBytes) return line;
    line = next;
  }
  return -1;
}

/** Returns the last place at or before `end` where no UTF-8 character is cut. */
function characterEnd(buffer: Buffer, start: number, end: number): number {
  for (let at = end; at > start && at >= end - CONTINUATIONS_MAX; at--) {
    if ((buffer[at]! & CONTINUATION_MASK) !== CONTINUATION) return at;
  }
  return end;
}

/** Returns the number of line ends in bytes `start` to `end`. Fast path: the kernel counts, where `buffer` is of its memory. */
export function countLines(memory: BlockMemory, buffer: Buffer, start: number, end: number): number {
  const kernel = memory.kernelFor(buffer);
  if (kernel !== null) return kernel.count(buffer, start, end);
  let count = 0;
  for (let at = buffer.indexOf(NEWLINE, start); at >= 0 && at < end; at = buffer.indexOf(NEWLINE, at + 1))
    count++;
  return count;
}
