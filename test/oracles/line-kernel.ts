/** TypeScript twin of the agent's line kernel: decides in tests what is right, one line after the other. */

import type { FileView, PlainLines } from "#agent/lines/event-format.ts";
import { appendLine, lineSize } from "#proto/raw-encoder.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Returns the number of line feeds in bytes `start` to `end`. */
export function countLineFeeds(buffer: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) if (buffer[at] === LINE_FEED) count++;
  return count;
}

/** What packing a view must come to. */
export interface PackedLines {
  /** Position in the view after the last line that is packed or left out. */
  readonly end: number;
  readonly events: number;
  /** True where a line stopped it: too long, beginning with NUL, or larger than the rest of the target. */
  readonly full: boolean;
  /** The events' bytes. */
  readonly written: Buffer;
}

/** Packs whole lines of the view into `capacity` bytes. */
export function packPlainLines(lines: PlainLines, view: FileView, capacity: number): PackedLines {
  const { buffer, start, end, offset } = view;
  const filter = lines.within(buffer);
  const target = Buffer.alloc(capacity);
  let [at, events, written] = [start, 0, 0];
  for (;;) {
    const lineFeed = buffer.indexOf(LINE_FEED, at);
    const isOver = lineFeed < 0 || lineFeed >= end;
    const next = lineFeed + 1;
    const stops = !isOver && (next - at > lines.maxBytes || buffer[at] === 0);
    if (isOver || stops) return { end: at, events, full: stops, written: target.subarray(0, written) };
    const strips = lines.stripsReturn && lineFeed > at && buffer[lineFeed - 1] === CARRIAGE_RETURN;
    const textEnd = strips ? lineFeed - 1 : lineFeed;
    if (textEnd > at) {
      const lineOffset = offset + at - start;
      if (written + lineSize(lineOffset, textEnd - at, next - at) > capacity)
        return { end: at, events, full: true, written: target.subarray(0, written) };
      if (filter.keeps(at, textEnd)) {
        written = appendLine(target, written, lineOffset, buffer, at, textEnd, next - at);
        events++;
      }
    }
    at = next;
  }
}
