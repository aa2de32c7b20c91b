/** Sends the events that a format cuts from a file. The next read begins where the last event ends. */

import { readSync } from "node:fs";
import type { Slot } from "#agent/contract/slot-pool.ts";
import type { FileView } from "#agent/lines/event-format.ts";
import { type PackedEvents, packEvents } from "./event-packer.ts";
import { type FileReading, holeBytes, MARK } from "./file-reading.ts";
import type { EventCutting, ReadOutcome, Successor } from "./harvester-options.ts";
import { ANCHOR_BYTES } from "./identity.ts";

/** Cuts remembered of one file; the oldest are forgotten, which matters only if the hub's log is lost. */
const CUTS_MAX = 1_000;

export class EventReader {
  /** The file in which the last event continues; null: none. */
  successor: Successor | null = null;
  readonly #reading: FileReading;
  readonly #events: EventCutting;
  /** Since when the file has ended in the middle of an event, on the monotonic clock. */
  #pending: { readonly end: number; readonly sinceMs: number } | null = null;
  #begun = false;
  #markedBytes = 0;

  constructor(reading: FileReading, events: EventCutting) {
    this.#reading = reading;
    this.#events = events;
  }

  /** True while an event at the file's end waits for its timeout. */
  get isPending(): boolean {
    return this.#pending !== null;
  }

  /** Time until the event at the file's end counts as whole, ms. */
  get pendingMs(): number {
    if (this.#pending === null) return Number.POSITIVE_INFINITY;
    const dueMs = this.#pending.sinceMs + this.#events.format.timeoutMs;
    return Math.max(0, dueMs - this.#reading.options.monotonicMs());
  }

  /** Forgets the read bytes: reading continues elsewhere. `anew`: it begins at the start of other content. */
  reset(anew: boolean): void {
    this.#pending = null;
    if (anew) this.#begun = false;
    this.#events.format.reset();
  }

  /** Reads events into `slot` and sends them. `final`: the last line won't grow any more. */
  async read(slot: Slot, final: boolean): Promise<ReadOutcome> {
    const reading = this.#reading;
    const { format, scratch } = this.#events;
    const { progress } = reading;
    const { tail } = progress.row;
    if (tail !== null && progress.offset >= tail.at + tail.to) return "nothing";
    for (;;) {
      const { buffer } = scratch;
      const capacity = buffer.length - ANCHOR_BYTES;
      const dataEnd = await reading.fetch(buffer, ANCHOR_BYTES, capacity);
      if (dataEnd === "rewritten") this.reset(true);
      if (typeof dataEnd === "string") return dataEnd;
      if (this.#begin(buffer, dataEnd)) continue;
      const full = dataEnd - ANCHOR_BYTES === capacity;
      const hole = holeBytes(buffer, ANCHOR_BYTES, dataEnd);
      if (hole > 0) {
        this.#pending = null;
        return reading.passHole(slot, buffer, ANCHOR_BYTES, ANCHOR_BYTES + hole, dataEnd) ? "more" : "end";
      }
      const outcome = await this.#pack(slot, buffer, dataEnd, full, final);
      if (outcome !== null) return outcome;
      scratch.grow(Math.max(capacity * 2, ANCHOR_BYTES + format.maxEventBytes * 2));
    }
  }

  /** Sends events of the read bytes; returns null if not even one fits. */
  async #pack(
    slot: Slot,
    buffer: Buffer,
    dataEnd: number,
    full: boolean,
    final: boolean,
  ): Promise<ReadOutcome | null> {
    const { format, scratch, onTruncated } = this.#events;
    const { headroom, tailroom } = this.#reading.channel;
    const { maxBodyBytes, slots } = this.#reading.options.output;
    const { offset } = this.#reading.progress;
    const expired = this.#pending?.end === offset + dataEnd - ANCHOR_BYTES && this.pendingMs === 0;
    const end = full ? dataEnd : this.#append(buffer, dataEnd);
    const view = this.#viewOf(buffer, end, expired, final && !full && end === dataEnd);
    const capacity = { slot, memory: slots.memory, headroom, tailroom, maxBodyBytes };
    const packed = packEvents(format, view, { ...capacity, stopAt: dataEnd, onTruncated });
    if (
      packed.end > ANCHOR_BYTES &&
      !this.#reading.isRecorded(buffer, ANCHOR_BYTES, Math.min(packed.end, dataEnd))
    )
      return "unrecorded";
    if (packed.end > dataEnd && !(await this.#join(dataEnd, packed.end))) return "nothing";
    if (packed.end > ANCHOR_BYTES) {
      if (packed.cuts.length > 0 && !(await this.#rememberCuts(packed.cuts))) return "nothing";
      this.#send(slot, buffer, packed);
      this.#notePending(full ? packed.end : dataEnd, packed.end);
      if (full || packed.full) return "more";
      scratch.shrink();
      return "end";
    }
    if (full) return null;
    scratch.shrink();
    this.#notePending(dataEnd, ANCHOR_BYTES);
    return this.#pending === null ? "nothing" : "pending";
  }

  #send(slot: Slot, buffer: Buffer, packed: PackedEvents): void {
    this.#pending = null;
    this.#reading.send(buffer, ANCHOR_BYTES, packed.end, {
      slot,
      body: { buffer: slot.buffer, start: this.#reading.channel.headroom, end: packed.bodyEnd, events: true },
      lines: packed.events,
      open: false,
      continued: false,
    });
  }

  #viewOf(buffer: Buffer, end: number, expired: boolean, final: boolean): FileView {
    const { format } = this.#events;
    const { offset, row } = this.#reading.progress;
    const start = ANCHOR_BYTES;
    const { cuts } = row;
    const afterCut = cuts.includes(offset);
    const atStart = offset === 0 || offset === this.#markedBytes;
    return {
      buffer,
      start,
      end,
      offset,
      continued: !atStart && !format.boundaryBefore(buffer, start),
      afterCut,
      cuts: cuts.length === 0 ? cuts : cuts.filter((cut) => cut > offset).map((cut) => cut - offset + start),
      expired,
      final,
    };
  }

  /** Appends the first bytes of the successor to those of the file, which end at `end` with a whole line. */
  #append(buffer: Buffer, end: number): number {
    const { successor } = this;
    const { tail } = this.#reading.progress.row;
    const { format } = this.#events;
    if (successor === null || end === ANCHOR_BYTES || !format.boundaryBefore(buffer, end)) return end;
    return end + successor.read(buffer, end, Math.min(buffer.length - end, tail?.to ?? buffer.length));
  }

  /** Remembers on disk that the last event ends in the successor; returns false if it can't. */
  async #join(dataEnd: number, end: number): Promise<boolean> {
    const { successor } = this;
    const { progress, options } = this.#reading;
    const { offset } = progress;
    const to = end - dataEnd;
    if (successor === null || !successor.claim(to)) {
      this.successor = null;
      return false;
    }
    progress.row.tail = { key: successor.key, to, at: offset + dataEnd - ANCHOR_BYTES };
    options.onChange();
    await options.persist();
    return offset === progress.offset;
  }

  /** Passes the file's first bytes to the format, once; returns true if reading must begin after them. */
  #begin(buffer: Buffer, dataEnd: number): boolean {
    if (this.#begun || dataEnd <= ANCHOR_BYTES) return false;
    const { progress, options } = this.#reading;
    this.#begun = true;
    const head = Buffer.alloc(MARK.length);
    if (progress.offset > 0) readSync(options.fd, head, 0, head.length, 0);
    else buffer.copy(head, 0, ANCHOR_BYTES, Math.min(dataEnd, ANCHOR_BYTES + head.length));
    this.#markedBytes = this.#events.format.begin(head);
    if (progress.offset > 0 || this.#markedBytes === 0) return false;
    progress.skipTo(this.#markedBytes);
    return true;
  }

  /**
   * Records on disk that a timeout ended an event: read again after a crash it must end there again. Returns false
   * after a rewind.
   */
  async #rememberCuts(places: readonly number[]): Promise<boolean> {
    const { progress, options } = this.#reading;
    const { row, offset } = progress;
    const known = row.cuts.filter((cut) => cut > row.committed);
    row.cuts = [...known, ...places.map((place) => offset + place - ANCHOR_BYTES)].slice(-CUTS_MAX);
    options.onChange();
    await options.persist();
    return offset === progress.offset;
  }

  /** Records since when bytes `from` to `end` of the read bytes wait for the rest of their event. */
  #notePending(end: number, from: number): void {
    if (end === from || this.#events.format.timeoutMs === 0) {
      this.#pending = null;
      return;
    }
    const fileEnd = this.#reading.sizeAtEnd;
    if (this.#pending?.end === fileEnd) return;
    this.#pending = { end: fileEnd, sinceMs: this.#reading.options.monotonicMs() };
  }
}
