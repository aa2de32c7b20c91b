/**
 * Fast path of packing: lines that are events as they stand go from the bytes read into the slot, and nothing else is
 * made for them. It stops at the first that isn't so simple.
 */

import type { FileView, PlainLines } from "#agent/lines/event-format.ts";
import { appendLine, lineSize } from "#proto/raw-encoder.ts";
import type { Packed } from "./event-packer.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Returns true where the view begins with a line and nothing was ever cut in it before its end. */
export function beginsPlain({ continued, afterCut, cuts }: FileView): boolean {
  return !continued && !afterCut && cuts.length === 0;
}

/** Packs whole lines of the view into bytes `from` to `limit` of `target`, as many as have room. */
export function packLines(
  lines: PlainLines,
  view: FileView,
  target: Buffer,
  from: number,
  limit: number,
): Packed {
  const { buffer, start, end, offset } = view;
  const keeps = lines.within(buffer);
  let at = from;
  let events = 0;
  let place = start;
  let full = false;
  while (place < end) {
    const lineFeed = buffer.indexOf(LINE_FEED, place);
    if (lineFeed < 0 || lineFeed >= end) break;
    const next = lineFeed + 1;
    // A long line is cut in pieces; NULs are what a truncation left.
    full = next - place > lines.maxBytes || buffer[place] === 0;
    if (full) break;
    const isReturn = lines.stripsReturn && lineFeed > place && buffer[lineFeed - 1] === CARRIAGE_RETURN;
    const textEnd = isReturn ? lineFeed - 1 : lineFeed;
    const lineOffset = offset + place - start;
    full = at + lineSize(lineOffset, textEnd - place, next - place) > limit;
    if (full) break;
    if (textEnd > place && keeps(place, textEnd)) {
      at = appendLine(target, at, lineOffset, buffer, place, textEnd, next - place);
      events++;
    }
    place = next;
  }
  return { end: place, bodyEnd: at, events, cuts: [], full };
}
