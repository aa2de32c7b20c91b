/**
 * Reads one file and keeps it open. Each read begins a little before the place where the last one ended, so
 * one system call brings new data and the proof that the old is still there: too few bytes or other ones
 * mean that the content was replaced, and reading begins a new generation at 0.
 */

import { closeSync, fstatSync, read as readCallback, type Stats } from "node:fs";
import type { Channel, Output } from "#agent/outputs/output.ts";
import { AckTracker, type Flight } from "#agent/registry/ack-tracker.ts";
import type { FileRow } from "#agent/registry/row.ts";
import type { Slot } from "#agent/slot-pool.ts";
import { countLines, cut } from "./cut.ts";
import { ANCHOR_BYTES, anchorOf, fits, HEAD_BYTES, readHead, sameBefore, sameHead } from "./identity.ts";

export interface HarvesterOptions {
  readonly key: string;
  readonly path: string;
  readonly fd: number;
  readonly row: FileRow;
  /** `max_bytes`: longest line that is kept whole. */
  readonly maxLineBytes: number;
  readonly output: Pick<Output, "maxBodyBytes" | "confirmsCommits">;
  /** Opens the way for a generation of the file. */
  readonly openChannel: (generation: number) => Channel;
  /** Told of each change of `row`. */
  readonly onChange: () => void;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

/**
 * `more`: a block was sent and more may follow at once. `end`: a block was sent, the file has no more.
 * `nothing`: no complete line. `rewritten`: the content was replaced, reading goes on at 0.
 */
export type ReadOutcome = "more" | "end" | "nothing" | "rewritten";

export class Harvester {
  readonly key: string;
  readonly path: string;
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

  /** Takes over `fd`. A row whose content isn't in the file any more gets a new generation. */
  constructor(options: HarvesterOptions) {
    this.#options = options;
    this.key = options.key;
    this.path = options.path;
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

  /** True where the last read found the end of the file. */
  get atEnd(): boolean {
    return this.#sizeAtEnd >= 0 && this.#sizeAtEnd >= this.#seen.size;
  }

  /** True where no byte before the end of the file is unread, not even of an unfinished line. */
  get complete(): boolean {
    return this.#sizeAtEnd === this.#offset;
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
      return await this.#read(slot, final);
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
    this.#options.onChange();
  }

  /** Closes the file; what was sent is settled all the same. The row tells a later scan whether there is more to read. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const stat = fstatSync(this.#fd);
    if (stat.size === this.#sizeAtEnd && this.#tracker.idle) {
      this.row.size = stat.size;
      this.row.mtimeMs = stat.mtimeMs;
    }
    this.row.seenMs = this.#options.nowMs();
    this.#options.onChange();
    if (!this.#reading) closeSync(this.#fd);
  }

  async #read(slot: Slot, final: boolean): Promise<ReadOutcome> {
    const { row } = this;
    this.#channel ??= this.#options.openChannel(row.generation);
    const before = Math.min(ANCHOR_BYTES, this.#offset);
    const start = Math.max(this.#channel.headroom, ANCHOR_BYTES);
    const { tailroom } = this.#channel;
    const { maxBodyBytes } = this.#options.output;
    const maxLineBytes = Math.min(this.#options.maxLineBytes, maxBodyBytes);
    for (;;) {
      const offset = this.#offset;
      const room = Math.min(slot.buffer.length - start - tailroom, maxBodyBytes);
      const length = await readFully(this.#fd, slot.buffer, start - before, before + room, offset - before);
      if (offset !== this.#offset) return "nothing"; // a rewind came in between, and wakes the file
      if (length < before || !fits(this.#anchor, slot.buffer, start)) {
        this.#beginGeneration();
        return "rewritten";
      }
      const dataEnd = start - before + length;
      const full = dataEnd - start === room;
      this.#sizeAtEnd = full ? -1 : offset + dataEnd - start;
      const decision = cut(slot.buffer, start, dataEnd, { maxLineBytes, full, final });
      if (decision.kind === "wait") return "nothing";
      if (decision.kind === "block") {
        this.#send(slot, start, decision.end, decision.open);
        const rest = decision.end < dataEnd && dataEnd - start > maxLineBytes;
        return full || rest ? "more" : "end";
      }
      slot.grow(start + maxLineBytes + tailroom);
    }
  }

  #send(slot: Slot, start: number, end: number, open: boolean): void {
    const { row } = this;
    const { buffer } = slot;
    const from = this.#offset;
    const to = from + end - start;
    const continued = from > 0 && buffer[start - 1] !== 0x0a;
    const anchor = anchorOf(buffer, Math.max(start - Math.min(ANCHOR_BYTES, from), end - ANCHOR_BYTES), end);
    this.#growHead(buffer, start, end);
    const flight = this.#tracker.begin(from, to, anchor);
    this.#anchor = anchor;
    this.#offset = to;
    this.sentMs = this.#options.monotonicMs();
    this.activeMs = this.sentMs;
    this.linesRead += countLines(buffer, start, end);
    this.bytesRead += end - start;
    const settle = this.#settler(this.#tracker, flight, row.generation);
    this.#channel!.send({
      slot,
      body: { buffer, start, end, events: false },
      block: {
        from,
        to,
        readTimeMs: this.#options.nowMs(),
        lastLineOpen: open,
        firstLineContinued: continued,
        compression: 0,
        dataBytes: end - start,
      },
      settle,
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
    this.#tracker = new AckTracker(0, row.anchor);
    this.#anchor = row.anchor;
    this.#channel = undefined;
    this.#offset = 0;
    this.#sizeAtEnd = -1;
    this.#options.onChange();
  }

  #contentIsKnown(): boolean {
    const { row } = this;
    return (
      fstatSync(this.#fd).size >= row.sent &&
      sameHead(this.#fd, row.head) &&
      sameBefore(this.#fd, row.sent, row.anchor)
    );
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

/** Reads `length` bytes at `position`; fewer only at the file's end. */
async function readFully(
  fd: number,
  buffer: Buffer,
  at: number,
  length: number,
  position: number,
): Promise<number> {
  let done = 0;
  while (done < length) {
    const bytes = await readOnce(fd, buffer, at + done, length - done, position + done);
    if (bytes === 0) break;
    done += bytes;
  }
  return done;
}

function readOnce(fd: number, buffer: Buffer, at: number, length: number, position: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  readCallback(fd, buffer, at, length, position, (error, bytes) =>
    error === null ? resolve(bytes) : reject(error),
  );
  return promise;
}
