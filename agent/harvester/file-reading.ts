/**
 * Reads an open file and sends what it read. Each read (`fetch`) starts with bytes that were read before, and compares
 * them with their fingerprint: this is how a truncated or rewritten file is detected.
 */

import { readSync } from "node:fs";
import type { Batch, Channel } from "#agent/contract/output.ts";
import { BYTE_ORDER_MARKS } from "#agent/lines/encoding.ts";
import type { SourceId } from "#agent/registry/row.ts";
import { DescriptorReader } from "./descriptor-reader.ts";
import type { HarvesterOptions } from "./harvester-options.ts";
import { ANCHOR_BYTES, anchorOf, fits, HEAD_BYTES, readHead, sameHead } from "./identity.ts";
import type { Progress } from "./progress.ts";

/** Why read bytes can't be used. */
export type Obstacle = "nothing" | "rewritten" | "unrecorded";

/** The body that is sent for a range of the file. */
export interface Outgoing extends Pick<Batch, "slot" | "body"> {
  readonly lines: number;
  readonly open: boolean;
  readonly continued: boolean;
}

/** Bytes of a new file that usually hold a line end beyond its fingerprint. */
const FIRST_BYTES = 4_096;
/** A smaller file is read at once: that takes as long as its first bytes. */
const PEEKED_BYTES_MIN = 65_536;
const NEWLINE = 0x0a;

export class FileReading {
  readonly options: HarvesterOptions;
  readonly progress: Progress;
  linesRead = 0;
  bytesRead = 0;
  /** Size of the file when its end was reached; -1: it wasn't. */
  sizeAtEnd = -1;
  /** When a block was sent last, on the monotonic clock. */
  sentMs = Number.NEGATIVE_INFINITY;
  readonly #reader: DescriptorReader;
  #channel: Channel | undefined;
  #channelOf: SourceId | undefined;

  constructor(options: HarvesterOptions, progress: Progress) {
    this.options = options;
    this.#reader = new DescriptorReader(options.fd, options.near);
    this.progress = progress;
  }

  /** The channel on which the current content is sent. */
  get channel(): Channel {
    const { source } = this.progress;
    const isSame =
      source.generation === this.#channelOf?.generation && source.fileKey === this.#channelOf.fileKey;
    if (this.#channel === undefined || !isSame) {
      this.#channel = this.options.openChannel(source);
      this.#channelOf = source;
    }
    return this.#channel;
  }

  /**
   * Continues reading at `start` of `buffer`, with the bytes before it in front; returns where the data ends, or why it
   * can't be used. Throws the system's error.
   */
  async fetch(buffer: Buffer, start: number, capacity: number): Promise<number | Obstacle> {
    const { progress } = this;
    const { offset } = progress;
    const before = Math.min(ANCHOR_BYTES, offset);
    const length = await this.#reader.read(buffer, start - before, before + capacity, offset - before);
    if (offset !== progress.offset) return "nothing"; // a rewind came in between, which wakes the file
    const isKnown = length >= before && this.#fits(buffer, start);
    if (!isKnown || !this.#hasHead(buffer, start - before, start - before + length)) {
      progress.beginGeneration();
      this.sizeAtEnd = -1;
      return "rewritten";
    }
    const dataEnd = start - before + length;
    this.sizeAtEnd = dataEnd - start === capacity ? -1 : offset + dataEnd - start;
    return dataEnd;
  }

  /**
   * True for a new file whose block would be read in vain, as it can't be sent before the fingerprint is on disk. `capacity`: of
   * the block and of a line.
   */
  startsUnrecorded(capacity: number): boolean {
    const { progress } = this;
    const { row } = progress;
    const isNew = progress.offset === 0 && row.head.bytes === 0 && !progress.isRecorded(HEAD_BYTES);
    return isNew && row.known >= PEEKED_BYTES_MIN && capacity >= FIRST_BYTES;
  }

  /**
   * Takes the fingerprint of such a file from its first bytes alone, and returns true: `record` must come next. Returns false
   * where no line end in them shows that the block will cover the fingerprint.
   */
  async peeks(buffer: Buffer, start: number): Promise<boolean> {
    const { row } = this.progress;
    const { generation } = row;
    const length = await this.#reader.read(buffer, start, FIRST_BYTES, 0);
    if (length < FIRST_BYTES || row.generation !== generation) return false;
    const end = buffer.lastIndexOf(NEWLINE, start + FIRST_BYTES - 1) + 1;
    return end >= start + HEAD_BYTES && !this.isRecorded(buffer, start, end);
  }

  /**
   * Makes sure that the fingerprint of the file's first bytes is on disk before bytes up to `end` of `buffer` are sent.
   * Returns false if it must be written first; then reading begins again.
   */
  isRecorded(buffer: Buffer, start: number, end: number): boolean {
    const { progress } = this;
    const to = progress.offset + end - start;
    if (progress.isRecorded(to)) return true;
    this.#growHead(buffer, start, end);
    this.sizeAtEnd = -1; // the bytes that were read aren't sent
    return false;
  }

  /** Writes it. Thousands of files may wait for the same write, so that none keeps a buffer meanwhile. */
  record(): Promise<void> {
    const first = Buffer.allocUnsafe(ANCHOR_BYTES);
    const length = readSync(this.options.fd, first, 0, first.length, 0);
    return this.progress.record(first.subarray(0, length));
  }

  /** Sends a body for the file's bytes `start` to `end` of `buffer`. */
  send(buffer: Buffer, start: number, end: number, { slot, body, lines, open, continued }: Outgoing): void {
    const { progress, channel } = this;
    const from = progress.offset;
    const to = from + end - start;
    const anchorStart = Math.max(start - Math.min(ANCHOR_BYTES, from), end - ANCHOR_BYTES);
    this.#growHead(buffer, start, end);
    const settle = progress.begin(to, anchorOf(buffer, anchorStart, end));
    this.sentMs = this.options.monotonicMs();
    this.linesRead += lines;
    this.bytesRead += end - start;
    channel.send({
      slot,
      body,
      block: {
        from,
        to,
        readTimeMs: this.options.nowMs(),
        lastLineOpen: open,
        firstLineContinued: continued,
        compression: 0,
        dataBytes: body.events ? 0 : end - start,
      },
      settle,
    });
  }

  /** Skips NULs: they are sent as a range without content. Returns true if more may follow at once. */
  passHole(slot: Batch["slot"], buffer: Buffer, start: number, end: number, dataEnd: number): boolean {
    this.options.onHole(end - start);
    const body = { buffer: slot.buffer, start: slot.buffer.length, end: slot.buffer.length, events: true };
    this.send(buffer, start, end, { slot, body, lines: 0, open: false, continued: false });
    return end < dataEnd || this.sizeAtEnd < 0;
  }

  /** The bytes before an offset that was rewound to are unknown; the file's first bytes show later whether it was replaced. */
  #fits(buffer: Buffer, start: number): boolean {
    const { anchor, offset, row } = this.progress;
    if (anchor.bytes === 0 && offset > 0) return sameHead(this.options.fd, row.head);
    return fits(anchor, buffer, start);
  }

  /** No bytes precede the start of the file; there its fingerprint shows whether it was replaced. */
  #hasHead(buffer: Buffer, from: number, end: number): boolean {
    const { row, offset } = this.progress;
    const { bytes, hash } = row.head;
    if (bytes === 0 || offset > ANCHOR_BYTES) return true;
    return end - from >= bytes && anchorOf(buffer, from, from + bytes).hash === hash;
  }

  /** Extends the fingerprint of the file's first bytes until it covers all it should. */
  #growHead(buffer: Buffer, start: number, end: number): void {
    const { row, offset } = this.progress;
    const bytes = Math.min(HEAD_BYTES, offset + end - start);
    if (row.head.bytes >= bytes) return;
    row.head = offset === 0 ? anchorOf(buffer, start, start + bytes) : readHead(this.options.fd, bytes);
    this.options.onChange();
  }
}

/** The byte order mark of UTF-8. */
export const MARK = BYTE_ORDER_MARKS["utf-8"]!;
/** Shorter runs of NULs are sent unchanged; longer ones are holes, maybe of gigabytes. */
const HOLE_BYTES_MIN = 4_096;
const ZEROS = Buffer.alloc(HOLE_BYTES_MIN);

/** Returns the length of the byte order mark of UTF-8 at `start`, 0 without one. */
export function markBytes(buffer: Buffer, start: number, end: number): number {
  if (end - start < MARK.length || buffer[start] !== MARK[0]) return 0;
  return MARK.compare(buffer, start, start + MARK.length) === 0 ? MARK.length : 0;
}

/** Returns the length of a long run of NULs at `start`, 0 if there is none. */
export function holeBytes(buffer: Buffer, start: number, end: number): number {
  if (buffer[start] !== 0 || end - start < HOLE_BYTES_MIN) return 0;
  let at = start;
  while (at + HOLE_BYTES_MIN <= end && ZEROS.compare(buffer, at, at + HOLE_BYTES_MIN) === 0)
    at += HOLE_BYTES_MIN;
  // Whole pieces only: the rest of the run is sent with the line after it.
  return at - start;
}
