/** Packs the events of a block of a file into a slot, up to the last offset at which no event is split. */

import type { BlockMemory } from "#agent/contract/block-memory.ts";
import type { Slot } from "#agent/contract/slot-pool.ts";
import { type CutEvent, type EventFormat, type FileView, flagFields } from "#agent/lines/event-format.ts";
import { appendEvent, type EventFields, eventSize } from "#proto/raw-encoder.ts";
import { beginsPlain, type Packed, packLines } from "./line-packer.ts";

export interface PackOptions {
  readonly slot: Slot;
  /** What the slot and the bytes read are mostly parts of. */
  readonly memory: BlockMemory;
  /** Bytes left free in front of the events. */
  readonly headroom: number;
  /** Bytes left free after them. */
  readonly tailroom: number;
  /** Longest body a message may carry, bytes. */
  readonly maxBodyBytes: number;
  /** At the first safe place from here on packing ends; with a successor's bytes after the file's own. */
  readonly stopAt: number;
  /** Called with the number of bytes cut from an event that is too long for a message. */
  readonly onTruncated: (bytes: number) => void;
}

/** What an event takes in a message beside its text: numbers and the tags of its parts. */
const EVENT_OVERHEAD_BYTES = 128;

/** Packs as many events as fit; grows the slot only where not even one fits. */
export function packEvents(format: EventFormat, view: FileView, options: PackOptions): Packed {
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
): Packed {
  const { plainLines } = format;
  if (plainLines !== null && view.end === stopAt && beginsPlain(view)) {
    const packed = packLines(plainLines, view, memory, { buffer, start, limit });
    if (packed.end > view.start) return packed;
  }
  let at = start;
  let events = 0;
  let cuts: number[] = [];
  let safe: Packed = { end: view.start, bodyEnd: start, events: 0, cuts: [], full: false };
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

/** Returns the event for the wire; one that no message can carry loses its fields and, at last, its end. */
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
