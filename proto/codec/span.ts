/** Parts of a line of bytes. */

const DASH = 0x2d;

/** Bytes from `start` up to but without `end`; both -1 where the line doesn't have the part. Reused from line to line. */
export interface Span {
  start: number;
  end: number;
}

/** Returns a span of a part that isn't there. */
export function noSpan(): Span {
  return { start: -1, end: -1 };
}

export function clearSpan(target: Span): void {
  target.start = -1;
  target.end = -1;
}

/** Sets a span; a part without bytes, or of a single dash, isn't there. */
export function setSpan(target: Span, bytes: Uint8Array, start: number, end: number): void {
  const absent = start >= end || (end - start === 1 && bytes[start] === DASH);
  target.start = absent ? -1 : start;
  target.end = absent ? -1 : end;
}
