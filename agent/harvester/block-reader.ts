/** Sends a file's bytes as they are, in blocks that end at line ends. */

import type { Slot } from "#agent/contract/slot-pool.ts";
import { type FileReading, holeBytes, MARK, markBytes } from "./file-reading.ts";
import type { ReadOutcome } from "./harvester-options.ts";
import { ANCHOR_BYTES } from "./identity.ts";

const NEWLINE = 0x0a;

export class BlockReader {
  readonly #reading: FileReading;

  constructor(reading: FileReading) {
    this.#reading = reading;
  }

  /** Reads the next block into `slot` and sends it. `final`: the last line is complete without its end. */
  async read(slot: Slot, final: boolean): Promise<ReadOutcome> {
    const reading = this.#reading;
    const { progress, options } = reading;
    const { maxBodyBytes } = options.output;
    const maxLineBytes = Math.min(options.maxLineBytes, maxBodyBytes);
    for (;;) {
      const { headroom, tailroom } = reading.channel;
      const start = Math.max(headroom, ANCHOR_BYTES);
      const capacity = Math.min(slot.buffer.length - start - tailroom, maxBodyBytes);
      const isNew = reading.startsUnrecorded(Math.min(capacity, maxLineBytes));
      if (isNew && (await reading.peeks(slot.buffer, start))) return "unrecorded";
      const dataEnd = await reading.fetch(slot.buffer, start, capacity);
      if (typeof dataEnd === "string") return dataEnd;
      const mark = progress.offset === 0 ? markBytes(slot.buffer, start, dataEnd) : 0;
      if (mark > 0) {
        progress.skipTo(mark);
        continue;
      }
      const full = dataEnd - start === capacity;
      const hole = holeBytes(slot.buffer, start, dataEnd);
      if (hole > 0) return reading.passHole(slot, slot.buffer, start, start + hole, dataEnd) ? "more" : "end";
      const decision = cut(slot.buffer, start, dataEnd, { maxLineBytes, full, final });
      if (decision.kind === "wait") return "nothing";
      if (decision.kind === "block") {
        if (!reading.isRecorded(slot.buffer, start, decision.end)) return "unrecorded";
        this.#send(slot, start, decision.end, decision.open);
        const rest = decision.end < dataEnd && dataEnd - start > maxLineBytes;
        return full || rest ? "more" : "end";
      }
      slot.grow(start + maxLineBytes + tailroom);
    }
  }

  #send(slot: Slot, start: number, end: number, open: boolean): void {
    const { buffer } = slot;
    const from = this.#reading.progress.offset;
    const atStart = from === 0 || (from === MARK.length && markBytes(buffer, start - from, start) === from);
    this.#reading.send(buffer, start, end, {
      slot,
      body: { buffer, start, end, events: false },
      lines: this.#reading.options.output.slots.memory.kernel.count(buffer, start, end),
      open,
      continued: !atStart && buffer[start - 1] !== NEWLINE && buffer[start - 1] !== 0,
    });
  }
}

/** UTF-8: bytes 10xxxxxx continue a character; a character has at most three of them. */
const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;
const CONTINUATIONS_MAX = 3;

export interface CutOptions {
  /** Longest line that is kept whole, bytes with its line end. */
  readonly maxLineBytes: number;
  /** True if the bytes fill the buffer: more may follow. */
  readonly full: boolean;
  /** True if the last line won't grow any more. */
  readonly final: boolean;
}

/**
 * `block`: send up to `end`; `open`: the last line has no end.
 * `wait`: no line is complete yet. `grow`: a line is longer than the buffer but may still be kept whole.
 */
export type Cut =
  | { readonly kind: "block"; readonly end: number; readonly open: boolean }
  | { readonly kind: "wait" }
  | { readonly kind: "grow" };

const WAIT: Cut = { kind: "wait" };
const GROW: Cut = { kind: "grow" };

/** Decides where to cut bytes `start` to `end` of `buffer`; `start` is where a line, or the rest of one, begins. */
export function cut(buffer: Buffer, start: number, end: number, options: CutOptions): Cut {
  const { maxLineBytes, full, final } = options;
  if (end <= start) return WAIT;
  const last = buffer.lastIndexOf(NEWLINE, end - 1);
  // Slow path: each line is checked only where the limit is below the size of the buffer.
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

/** Returns the last offset at or before `end` that doesn't cut a UTF-8 character. */
function characterEnd(buffer: Buffer, start: number, end: number): number {
  for (let at = end; at > start && at >= end - CONTINUATIONS_MAX; at--) {
    if ((buffer[at]! & CONTINUATION_MASK) !== CONTINUATION) return at;
  }
  return end;
}
