/**
 * Packs the events of a block of a file into a slot, up to the last offset at which no event is split. Fast path:
 * lines that are events are copied unchanged from the read buffer, without creating objects for them; it stops at the
 * first line that needs the slow path. The kernel packs the lines that no filter must check.
 */

import type { BlockMemory } from "#agent/contract/block-memory.ts";
import type { Slot } from "#agent/contract/slot-pool.ts";
import {
  type CutEvent,
  type EventFormat,
  type FileView,
  flagFields,
  type PlainLines,
} from "#agent/lines/event-format.ts";
import type { PackedRun } from "#agent/lines/kernel/line-kernel.ts";
import type { RangeFilter } from "#agent/lines/line-filter.ts";
import { appendEvent, appendLine, type EventFields, eventSize, lineSize } from "#proto/raw-encoder.ts";

/** The result of packing. */
export interface PackedEvents {
  /** Everything of the view before it is packed or needs no event. */
  readonly end: number;
  /** End of the events in the slot's buffer. */
  readonly bodyEnd: number;
  readonly events: number;
  /** Offsets in the view where a timeout ended an event. */
  readonly cuts: readonly number[];
  /** True if the slot was full before the end of the view. */
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

export interface PackOptions {
  readonly slot: Slot;
  /** The memory that usually contains the slot and the bytes read. */
  readonly memory: BlockMemory;
  /** Bytes left free in front of the events. */
  readonly headroom: number;
  /** Bytes left free after them. */
  readonly tailroom: number;
  /** Longest body a message may carry, bytes. */
  readonly maxBodyBytes: number;
  /** Packing ends at the first safe offset from here on; with a successor's bytes, after the file's own. */
  readonly stopAt: number;
  /** Called with the number of bytes cut from an event that is too long for a message. */
  readonly onTruncated: (bytes: number) => void;
}

/** Bytes of an event in a message besides its text: numbers and the tags of its parts. */
const EVENT_OVERHEAD_BYTES = 128;

/** Packs as many events as fit; grows the slot only where not even one fits. */
export function packEvents(format: EventFormat, view: FileView, options: PackOptions): PackedEvents {
  const { slot, headroom, tailroom, maxBodyBytes } = options;
  for (;;) {
    const capacity = Math.min(slot.buffer.length - headroom - tailroom, maxBodyBytes);
    const packed = packInto(format, view, slot.buffer, headroom, headroom + capacity, options);
    const stuck = packed.full && packed.end === view.start;
    if (!stuck || capacity >= maxBodyBytes) return packed;
    slot.grow(headroom + Math.min(capacity * 2, maxBodyBytes) + tailroom);
  }
}

function packInto(
  format: EventFormat,
  view: FileView,
  buffer: Buffer,
  start: number,
  limit: number,
  { memory, maxBodyBytes, stopAt, onTruncated }: PackOptions,
): PackedEvents {
  const { plainLines } = format;
  if (plainLines !== null && view.end === stopAt && beginsPlain(view)) {
    const packed = packLines(plainLines, view, memory, { buffer, start, limit });
    if (packed.end > view.start) return packed;
  }
  let at = start;
  let events = 0;
  let cuts: number[] = [];
  let safe: PackedEvents = { end: view.start, bodyEnd: start, events: 0, cuts: [], full: false };
  for (const cut of format.cut(view)) {
    if (cut.message !== null) {
      const event = fitting(cut, view, cut.message, maxBodyBytes, onTruncated);
      if (at + eventSize(event) > limit) return { ...safe, full: true };
      at = appendEvent(buffer, at, event);
      events++;
    }
    if (cut.cutByTime) cuts = [...cuts, cut.end];
    if (!cut.safe) continue;
    safe = { end: cut.end, bodyEnd: at, events, cuts, full: false };
    if (cut.end >= stopAt) break;
  }
  return safe;
}

/** Returns the event in its wire form; an event that no message can carry loses its fields and, if need be, its end. */
function fitting(
  cut: CutEvent,
  { start, offset }: FileView,
  message: Buffer,
  maxBodyBytes: number,
  onTruncated: (bytes: number) => void,
): EventFields {
  const { timeMs, fieldsJson } = cut;
  const event = {
    offset: offset + cut.start - start,
    timeMs,
    message,
    fieldsJson,
    length: cut.end - cut.start,
  };
  if (message.length + fieldsJson.length + EVENT_OVERHEAD_BYTES <= maxBodyBytes) return event;
  const marked = { ...event, fieldsJson: flagFields(["truncated"]) };
  const most = maxBodyBytes - EVENT_OVERHEAD_BYTES;
  onTruncated(Math.max(fieldsJson.length, message.length - most));
  return message.length <= most ? marked : { ...marked, message: message.subarray(0, most) };
}

/** Returns true if the view begins with a line and no timeout ever cut an event in it. */
function beginsPlain({ continued, afterCut, cuts }: FileView): boolean {
  return !continued && !afterCut && cuts.length === 0;
}

/** Packs whole lines of the view, as many as fit. */
export function packLines(
  lines: PlainLines,
  view: FileView,
  memory: BlockMemory,
  target: Target,
): PackedEvents {
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

/** Packs the line at `place`, as the kernel would without the filter. "suspect": the next one must be checked. */
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
  // A long line is cut into pieces; NULs were left by a truncation.
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
