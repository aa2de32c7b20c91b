/**
 * Reads one file and keeps it open. Each read begins a little before the place where the last one ended, so
 * one system call brings new data and the proof that the old is still there: too few bytes or other ones
 * mean that the content was replaced, and reading begins a new generation at 0.
 */

import { closeSync, fstatSync, readSync, type Stats } from "node:fs";
import type { EventFormat, FileView } from "#agent/lines/event-format.ts";
import type { Batch, Channel } from "#agent/outputs/output.ts";
import { AckTracker, type Flight } from "#agent/registry/ack-tracker.ts";
import type { FileRow } from "#agent/registry/row.ts";
import type { Slot } from "#agent/slot-pool.ts";
import { countLines, cut } from "./cut.ts";
import { packEvents } from "./event-packer.ts";
import type { EventCutting, HarvesterOptions, Successor } from "./harvester-options.ts";
import { ANCHOR_BYTES, anchorOf, fits, HEAD_BYTES, readHead, sameBefore, sameHead } from "./identity.ts";
import { holeBytes, MARK, markBytes } from "./leading-bytes.ts";
import { readFully } from "./read-fully.ts";

/**
 * `more`: a block was sent and more may follow at once. `end`: a block was sent, the file has no more.
 * `nothing`: no complete line. `pending`: an event that time may end, see `pendingMs`.
 * `rewritten`: the content was replaced, reading goes on at 0.
 */
export type ReadOutcome = "more" | "end" | "nothing" | "pending" | "rewritten";

const NEWLINE = 0x0a;
/** Cuts remembered of one file; the oldest are forgotten, which matters only if the hub's log is lost. */
const CUTS_MAX = 1_000;

export class Harvester {
  readonly key: string;
  readonly path: string;
  /** Path under which the file was read before; its successor has it now. */
  readonly formerPath: string;
  readonly row: FileRow;
  readonly openedMs: number;
  /** When data was found last, on the monotonic clock. */
  activeMs: number;
  /** When a block was sent last, on the monotonic clock. */
  sentMs = Number.NEGATIVE_INFINITY;
  /** True where no path leads to the file any more. */
  deleted = false;
  /** True where the file has a path outside the input's patterns. */
  movedAway = false;
  /** Where the last event goes on; null: nowhere. */
  successor: Successor | null = null;
  linesRead = 0;
  bytesRead = 0;
  readonly #options: HarvesterOptions;
  readonly #fd: number;
  #offset: number;
  #tracker: AckTracker;
  #previousTracker: AckTracker | undefined;
  #anchor: FileRow["anchor"];
  #channel: Channel | undefined;
  #sizeAtEnd = -1;
  #seen: Pick<Stats, "size" | "mtimeMs"> = { size: -1, mtimeMs: -1 };
  #reading = false;
  #closed = false;
  /** Since when the file ends as it does in the middle of an event, on the monotonic clock. */
  #pending: { readonly end: number; readonly sinceMs: number } | null = null;
  #begun = false;
  #markedBytes = 0;

  /** Takes over `fd`. A row whose content isn't in the file any more gets a new generation. */
  constructor(options: HarvesterOptions) {
    this.#options = options;
    this.key = options.key;
    this.path = options.path;
    this.formerPath = options.row.path;
    this.row = options.row;
    this.#fd = options.fd;
    this.openedMs = options.monotonicMs();
    this.activeMs = this.openedMs;
    this.#offset = options.row.sent;
    this.#anchor = options.row.anchor;
    this.#tracker = new AckTracker(options.row.sent, options.row.anchor);
    if (!this.#contentIsKnown()) this.#beginGeneration();
    options.row.path = options.path;
    options.row.size = -1;
    options.onChange();
  }

  /** Where the next read begins, bytes. */
  get offset(): number {
    return this.#offset;
  }

  /** True where everything read is acknowledged. */
  get idle(): boolean {
    return this.#tracker.idle;
  }

  /** True where everything read is in committed segments. */
  get committed(): boolean {
    return this.idle && this.row.committed >= this.#offset;
  }

  /** True where the last read found the end of the file, and no event there waits for its time. */
  get atEnd(): boolean {
    return this.#sizeAtEnd >= 0 && this.#sizeAtEnd >= this.#seen.size && this.#pending === null;
  }

  /** Time until the event at the file's end counts as whole, ms. */
  get pendingMs(): number {
    const { events, monotonicMs } = this.#options;
    if (this.#pending === null || events === null) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.#pending.sinceMs + events.format.timeoutMs - monotonicMs());
  }

  /** True where no byte before the end of the file is unread, not even of an unfinished line. */
  get complete(): boolean {
    return this.#sizeAtEnd >= 0 && this.#offset >= this.#sizeAtEnd;
  }

  /** True where the end of the file was found in the middle of an event. */
  get endsWithin(): boolean {
    return this.#sizeAtEnd >= 0 && this.#offset < this.#sizeAtEnd;
  }

  /** True where everything of the generation before this one is acknowledged. */
  get previousSettled(): boolean {
    return this.#previousTracker?.idle ?? true;
  }

  /** Bytes seen in the file that no acknowledgement covers. */
  get lagBytes(): number {
    return Math.max(0, Math.max(this.#seen.size, this.#offset) - this.row.sent);
  }

  /** Bytes seen in the file that aren't in committed segments. */
  get uncommittedBytes(): number {
    return Math.max(0, Math.max(this.#seen.size, this.#offset) - this.row.committed);
  }

  /** Takes a fresh stat of the file; returns true where it has changed since the last one. */
  observe(stat: Pick<Stats, "size" | "mtimeMs">): boolean {
    if (stat.size === this.#seen.size && stat.mtimeMs === this.#seen.mtimeMs) return false;
    this.#seen = { size: stat.size, mtimeMs: stat.mtimeMs };
    this.row.known = stat.size;
    this.activeMs = this.#options.monotonicMs();
    return true;
  }

  /** Stats the open file itself, for one that no path leads to; returns true where it has changed. */
  observeOpen(): boolean {
    const stat = fstatSync(this.#fd);
    this.deleted = stat.nlink === 0;
    this.movedAway = !this.deleted;
    return this.observe(stat);
  }

  /**
   * Reads the next block into `slot` and sends it, which hands the slot over; on `nothing` and `rewritten`
   * the slot stays the caller's. `final`: the last line won't grow any more. Throws the system's error.
   */
  async read(slot: Slot, final: boolean): Promise<ReadOutcome> {
    this.#reading = true;
    try {
      const { events } = this.#options;
      return await (events === null ? this.#readBlock(slot, final) : this.#readEvents(events, slot, final));
    } finally {
      this.#reading = false;
      if (this.#closed) closeSync(this.#fd);
    }
  }

  /** Goes back to what is committed; what is on its way arrives a second time and is dropped by the hub. */
  rewind(): void {
    const { row } = this;
    const offset = Math.min(row.committed, row.sent);
    row.sent = offset;
    row.anchor = { bytes: 0, hash: "" };
    this.#tracker = new AckTracker(offset, row.anchor);
    this.#offset = offset;
    this.#anchor = row.anchor;
    this.#sizeAtEnd = -1;
    this.#pending = null;
    this.#options.events?.format.reset();
    this.#options.onChange();
  }

  /** Closes the file; what was sent is settled all the same. The row tells a later scan whether there is more to read. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const stat = fstatSync(this.#fd);
    if (stat.size === this.#sizeAtEnd && this.#tracker.idle && this.#pending === null) {
      this.row.size = stat.size;
      this.row.mtimeMs = stat.mtimeMs;
    }
    this.row.known = stat.size;
    this.row.seenMs = this.#options.nowMs();
    this.#options.onChange();
    if (!this.#reading) closeSync(this.#fd);
  }

  /** Sends a block of the file as it is. */
  async #readBlock(slot: Slot, final: boolean): Promise<ReadOutcome> {
    const { maxBodyBytes } = this.#options.output;
    const maxLineBytes = Math.min(this.#options.maxLineBytes, maxBodyBytes);
    for (;;) {
      const { headroom, tailroom } = this.#openChannel();
      const start = Math.max(headroom, ANCHOR_BYTES);
      const room = Math.min(slot.buffer.length - start - tailroom, maxBodyBytes);
      const dataEnd = await this.#fetch(slot.buffer, start, room);
      if (typeof dataEnd === "string") return dataEnd;
      if (this.#offset === 0 && this.#beginBehind(markBytes(slot.buffer, start, dataEnd))) continue;
      const full = dataEnd - start === room;
      const hole = holeBytes(slot.buffer, start, dataEnd);
      if (hole > 0) return this.#passHole(slot, start, start + hole, dataEnd);
      const decision = cut(slot.buffer, start, dataEnd, { maxLineBytes, full, final });
      if (decision.kind === "wait") return "nothing";
      if (decision.kind === "block") {
        this.#sendBlock(slot, start, decision.end, decision.open);
        const rest = decision.end < dataEnd && dataEnd - start > maxLineBytes;
        return full || rest ? "more" : "end";
      }
      slot.grow(start + maxLineBytes + tailroom);
    }
  }

  /** Sends events cut of the file; the place where the last one ends is where the next read begins. */
  async #readEvents(events: EventCutting, slot: Slot, final: boolean): Promise<ReadOutcome> {
    const { format, scratch, onTruncated } = events;
    const { maxBodyBytes } = this.#options.output;
    if (this.row.tail !== null && this.#offset >= this.row.tail.at + this.row.tail.to) return "nothing";
    for (;;) {
      const { headroom, tailroom } = this.#openChannel();
      const { buffer } = scratch;
      const room = buffer.length - ANCHOR_BYTES;
      const dataEnd = await this.#fetch(buffer, ANCHOR_BYTES, room);
      if (typeof dataEnd === "string") return dataEnd;
      if (this.#beginFormat(format, buffer, dataEnd)) continue;
      const full = dataEnd - ANCHOR_BYTES === room;
      const hole = holeBytes(buffer, ANCHOR_BYTES, dataEnd);
      if (hole > 0) return this.#passHole(slot, ANCHOR_BYTES, ANCHOR_BYTES + hole, dataEnd, buffer);
      const expired = this.#pending?.end === this.#offset + dataEnd - ANCHOR_BYTES && this.pendingMs === 0;
      const end = full ? dataEnd : this.#append(format, buffer, dataEnd);
      const view = this.#viewOf(format, buffer, end, expired, final && !full && end === dataEnd);
      const packing = { slot, headroom, tailroom, maxBodyBytes, stopAt: dataEnd, onTruncated };
      const packed = packEvents(format, view, packing);
      if (packed.end > dataEnd && !(await this.#join(dataEnd, packed.end, events))) return "nothing";
      if (packed.end > ANCHOR_BYTES) {
        if (packed.cuts.length > 0 && !(await this.#rememberCuts(packed.cuts, events))) return "nothing";
        this.#send(buffer, ANCHOR_BYTES, packed.end, packed.events, {
          slot,
          body: { buffer: slot.buffer, start: headroom, end: packed.bodyEnd, events: true },
          open: false,
          continued: false,
        });
        this.#notePending(format, full ? packed.end : dataEnd, packed.end);
        if (full || packed.full) return "more";
        scratch.shrink();
        return "end";
      }
      if (!full) {
        scratch.shrink();
        this.#notePending(format, dataEnd, ANCHOR_BYTES);
        return this.#pending === null ? "nothing" : "pending";
      }
      scratch.grow(Math.max(room * 2, ANCHOR_BYTES + format.maxEventBytes * 2));
    }
  }

  #openChannel(): Channel {
    this.#channel ??= this.#options.openChannel(this.row.generation);
    return this.#channel;
  }

  /**
   * Reads on at `start` of `buffer`, with the bytes before it in front; returns where the data ends, or what
   * keeps it from being used.
   */
  async #fetch(buffer: Buffer, start: number, room: number): Promise<number | "nothing" | "rewritten"> {
    const offset = this.#offset;
    const before = Math.min(ANCHOR_BYTES, offset);
    const length = await readFully(this.#fd, buffer, start - before, before + room, offset - before);
    if (offset !== this.#offset) return "nothing"; // a rewind came in between, and wakes the file
    if (length < before || !fits(this.#anchor, buffer, start)) {
      this.#beginGeneration();
      return "rewritten";
    }
    const dataEnd = start - before + length;
    this.#sizeAtEnd = dataEnd - start === room ? -1 : offset + dataEnd - start;
    return dataEnd;
  }

  #viewOf(format: EventFormat, buffer: Buffer, end: number, expired: boolean, final: boolean): FileView {
    const offset = this.#offset;
    const start = ANCHOR_BYTES;
    const { cuts } = this.row;
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

  /** Puts the first bytes of the successor behind those of the file, which end at `end` with a whole line. */
  #append(format: EventFormat, buffer: Buffer, end: number): number {
    const { successor, row } = this;
    if (successor === null || end === ANCHOR_BYTES || !format.boundaryBefore(buffer, end)) return end;
    return end + successor.read(buffer, end, Math.min(buffer.length - end, row.tail?.to ?? buffer.length));
  }

  /** Remembers on disk that the last event ends in the successor; returns false where it can't. */
  async #join(dataEnd: number, end: number, { persist }: EventCutting): Promise<boolean> {
    const { successor, row } = this;
    const offset = this.#offset;
    const to = end - dataEnd;
    if (successor === null || !successor.claim(to)) {
      this.successor = null;
      return false;
    }
    row.tail = { key: successor.key, to, at: offset + dataEnd - ANCHOR_BYTES };
    this.#options.onChange();
    await persist();
    return offset === this.#offset;
  }

  /** Tells the format the file's first bytes, once; returns true where reading must begin behind them. */
  #beginFormat(format: EventFormat, buffer: Buffer, dataEnd: number): boolean {
    if (this.#begun || dataEnd <= ANCHOR_BYTES) return false;
    this.#begun = true;
    const head = Buffer.alloc(MARK.length);
    if (this.#offset > 0) readSync(this.#fd, head, 0, head.length, 0);
    else buffer.copy(head, 0, ANCHOR_BYTES, Math.min(dataEnd, ANCHOR_BYTES + head.length));
    this.#markedBytes = format.begin(head);
    return this.#offset === 0 && this.#beginBehind(this.#markedBytes);
  }

  /** Begins the generation behind a byte order mark: nobody needs it, so it is neither sent nor waited for. */
  #beginBehind(bytes: number): boolean {
    if (bytes === 0) return false;
    const { row } = this;
    row.sent = bytes;
    row.committed = bytes;
    this.#tracker = new AckTracker(bytes, row.anchor);
    this.#offset = bytes;
    this.#options.onChange();
    return true;
  }

  /** Remembers on disk that time ends an event: read again after a crash it must end there again. Returns false after a rewind. */
  async #rememberCuts(places: readonly number[], { persist }: EventCutting): Promise<boolean> {
    const { row } = this;
    const offset = this.#offset;
    const known = row.cuts.filter((cut) => cut > row.committed);
    row.cuts = [...known, ...places.map((place) => offset + place - ANCHOR_BYTES)].slice(-CUTS_MAX);
    this.#options.onChange();
    await persist();
    return offset === this.#offset;
  }

  /** Notes since when bytes `from` to `end` of what was read wait for the rest of their event. */
  #notePending(format: EventFormat, end: number, from: number): void {
    if (end === from || format.timeoutMs === 0) {
      this.#pending = null;
      return;
    }
    const fileEnd = this.#sizeAtEnd;
    if (this.#pending?.end === fileEnd) return;
    this.#pending = { end: fileEnd, sinceMs: this.#options.monotonicMs() };
  }

  /** Passes over NULs: they are sent as a range without content. */
  #passHole(slot: Slot, start: number, end: number, dataEnd: number, buffer = slot.buffer): ReadOutcome {
    this.#options.onHole(end - start);
    const body = { buffer: slot.buffer, start: slot.buffer.length, end: slot.buffer.length, events: true };
    this.#send(buffer, start, end, 0, { slot, body, open: false, continued: false });
    return end < dataEnd || this.#sizeAtEnd < 0 ? "more" : "end";
  }

  #sendBlock(slot: Slot, start: number, end: number, open: boolean): void {
    const { buffer } = slot;
    const from = this.#offset;
    const atStart = from === 0 || (from === MARK.length && markBytes(buffer, start - from, start) === from);
    this.#send(buffer, start, end, countLines(buffer, start, end), {
      slot,
      body: { buffer, start, end, events: false },
      open,
      continued: !atStart && buffer[start - 1] !== NEWLINE && buffer[start - 1] !== 0,
    });
  }

  /** Sends what stands for the file's bytes `start` to `end` of `buffer`. */
  #send(
    buffer: Buffer,
    start: number,
    end: number,
    lines: number,
    { slot, body, open, continued }: Pick<Batch, "slot" | "body"> & { open: boolean; continued: boolean },
  ): void {
    const from = this.#offset;
    const to = from + end - start;
    const anchor = anchorOf(buffer, Math.max(start - Math.min(ANCHOR_BYTES, from), end - ANCHOR_BYTES), end);
    this.#growHead(buffer, start, end);
    const flight = this.#tracker.begin(from, to, anchor);
    this.#anchor = anchor;
    this.#offset = to;
    this.#pending = null;
    this.sentMs = this.#options.monotonicMs();
    this.activeMs = this.sentMs;
    this.linesRead += lines;
    this.bytesRead += end - start;
    this.#channel!.send({
      slot,
      body,
      block: {
        from,
        to,
        readTimeMs: this.#options.nowMs(),
        lastLineOpen: open,
        firstLineContinued: continued,
        compression: 0,
        dataBytes: body.events ? 0 : end - start,
      },
      settle: this.#settler(this.#tracker, flight, this.row.generation),
    });
  }

  /** Returns what moves the row when the batch is acknowledged; its generation may have ended by then. */
  #settler(tracker: AckTracker, flight: Flight, generation: number): () => void {
    const { row } = this;
    return () => {
      if (!tracker.ack(flight)) return;
      if (row.generation === generation && this.#tracker === tracker) {
        row.sent = tracker.sent;
        row.anchor = tracker.anchor;
        if (!this.#options.output.confirmsCommits) row.committed = row.sent;
      } else if (row.previous?.generation === generation && tracker.sent > row.previous.offset) {
        row.previous = { ...row.previous, offset: tracker.sent, anchor: tracker.anchor };
      }
      this.#options.onChange();
    };
  }

  #beginGeneration(): void {
    const { row } = this;
    row.previous = {
      generation: row.generation,
      offset: this.#tracker.sent,
      anchor: this.#tracker.anchor,
      head: row.head,
    };
    this.#previousTracker = this.#tracker;
    row.generation++;
    row.sent = 0;
    row.committed = 0;
    row.anchor = { bytes: 0, hash: "" };
    row.head = row.anchor;
    row.cuts = [];
    row.tail = null;
    this.#pending = null;
    this.#begun = false;
    this.#options.events?.format.reset();
    this.#tracker = new AckTracker(0, row.anchor);
    this.#anchor = row.anchor;
    this.#channel = undefined;
    this.#offset = 0;
    this.#sizeAtEnd = -1;
    this.#options.onChange();
  }

  #contentIsKnown(): boolean {
    const { row } = this;
    const { size } = fstatSync(this.#fd);
    // What is sent beyond the file's end stands in its successor.
    if (row.tail !== null && row.sent > row.tail.at)
      return size >= row.tail.at && sameHead(this.#fd, row.head);
    return size >= row.sent && sameHead(this.#fd, row.head) && sameBefore(this.#fd, row.sent, row.anchor);
  }

  /** Extends the fingerprint of the file's first bytes until it covers all it should. */
  #growHead(buffer: Buffer, start: number, end: number): void {
    const { row } = this;
    if (row.head.bytes >= HEAD_BYTES) return;
    const to = this.#offset + end - start;
    const bytes = Math.min(HEAD_BYTES, to);
    row.head = this.#offset === 0 ? anchorOf(buffer, start, start + bytes) : readHead(this.#fd, bytes);
  }
}
