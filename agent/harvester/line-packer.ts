/**
 * Fast path of packing: copies lines that are events unchanged from the read buffer into the slot, without creating
 * objects for them. It stops at the first line that needs the slow path. The kernel packs the lines that no filter must
 * check.
 */

import type { BlockMemory } from "#agent/contract/block-memory.ts";
import type { FileView, PlainLines } from "#agent/lines/event-format.ts";
import type { PackedRun } from "#agent/lines/kernel/line-kernel.ts";
import type { RangeFilter } from "#agent/lines/line-filter.ts";
import { appendLine, lineSize } from "#proto/raw-encoder.ts";

/** What was packed. */
export interface Packed {
  /** Everything of the view before it is packed or needs no event. */
  readonly end: number;
  /** End of the events in the slot's buffer. */
  readonly bodyEnd: number;
  readonly events: number;
  /** Places of the view where time ended an event. */
  readonly cuts: readonly number[];
  /** True where the slot was full before the view was at its end. */
  readonly full: boolean;
}

/** Where events are written. */
interface Target {
  readonly buffer: Buffer;
  readonly start: number;
  readonly limit: number;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Returns true if the view begins with a line and nothing was ever cut in it before its end. */
export function beginsPlain({ continued, afterCut, cuts }: FileView): boolean {
  return !continued && !afterCut && cuts.length === 0;
}

/** Packs whole lines of the view, as many as fit. */
export function packLines(lines: PlainLines, view: FileView, memory: BlockMemory, target: Target): Packed {
  const { buffer, start, end, offset } = view;
  const filter = lines.within(buffer);
  const kernel = memory.kernelFor(buffer, target.buffer);
  const { limit } = target;
  const { stripsReturn, maxBytes } = lines;
  let run: PackedRun = { place: start, at: target.start, events: 0, why: "suspect" };
  let events = 0;
  while (run.why === "suspect") {
    const { place, at } = run;
    const suspect = kernel === null ? null : filter.keptUntil(place);
    if (kernel !== null && suspect !== null) {
      const to = { target: target.buffer, from: at, limit };
      const from = { source: buffer, start: place, end, offset: offset + place - start };
      run = kernel.pack({ ...from, ...to, stripsReturn, maxBytes, suspect });
      events += run.events;
      if (run.why !== "suspect") break;
    }
    run = packLine(lines, filter, view, { ...target, start: run.at }, run.place);
    events += run.events;
  }
  return { end: run.place, bodyEnd: run.at, events, cuts: [], full: run.why === "stopped" };
}

/** Packs the line at `place`, as the kernel would but for the filter. "suspect": the next one must be checked. */
function packLine(
  { stripsReturn, maxBytes }: PlainLines,
  filter: RangeFilter,
  { buffer, start, end, offset }: FileView,
  { buffer: target, start: at, limit }: Target,
  place: number,
): PackedRun {
  const lineFeed = place < end ? buffer.indexOf(LINE_FEED, place) : -1;
  if (lineFeed < 0 || lineFeed >= end) return { place, at, events: 0, why: "end" };
  const next = lineFeed + 1;
  // A long line is cut in pieces; NULs are what a truncation left.
  if (next - place > maxBytes || buffer[place] === 0) return { place, at, events: 0, why: "stopped" };
  const strips = stripsReturn && lineFeed > place && buffer[lineFeed - 1] === CARRIAGE_RETURN;
  const textEnd = strips ? lineFeed - 1 : lineFeed;
  const passed: PackedRun = { place: next, at, events: 0, why: "suspect" };
  if (textEnd === place) return passed;
  const lineOffset = offset + place - start;
  const size = lineSize(lineOffset, textEnd - place, next - place);
  if (at + size > limit) return { place, at, events: 0, why: "stopped" };
  if (!filter.keeps(place, textEnd)) return passed;
  return {
    ...passed,
    at: appendLine(target, at, lineOffset, buffer, place, textEnd, next - place),
    events: 1,
  };
}
