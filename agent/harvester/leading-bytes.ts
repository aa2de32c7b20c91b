/** Bytes at the start of what was read that belong to no line: a byte order mark, a hole of NULs. */

import { BYTE_ORDER_MARKS } from "#agent/lines/encoding.ts";

/** The byte order mark of UTF-8. */
export const MARK = BYTE_ORDER_MARKS["utf-8"]!;
/** Shorter runs of NULs go to the hub as they are; longer ones are holes, maybe of gigabytes. */
const HOLE_BYTES_MIN = 4_096;
const ZEROS = Buffer.alloc(HOLE_BYTES_MIN);

/** Returns the length of the byte order mark of UTF-8 at `start`, 0 without one. */
export function markBytes(buffer: Buffer, start: number, end: number): number {
  if (end - start < MARK.length || buffer[start] !== MARK[0]) return 0;
  return MARK.compare(buffer, start, start + MARK.length) === 0 ? MARK.length : 0;
}

/** Returns the length of a long run of NULs at `start`, 0 where there is none. */
export function holeBytes(buffer: Buffer, start: number, end: number): number {
  if (buffer[start] !== 0 || end - start < HOLE_BYTES_MIN) return 0;
  let at = start;
  while (at + HOLE_BYTES_MIN <= end && ZEROS.compare(buffer, at, at + HOLE_BYTES_MIN) === 0)
    at += HOLE_BYTES_MIN;
  // Whole pieces only: what is left of the run goes with the line behind it.
  return at - start;
}
