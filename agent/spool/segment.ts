/** Files of a spool; the format is described in README.md beside this file. */

import { closeSync, fsyncSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { StreamEvent } from "#agent/contract/batcher.ts";
import { AppError } from "#proto/kit/errors.ts";

export const SEGMENT_MAGIC = Buffer.from("TRSPOOL1");
const RECORD_HEADER_BYTES = 8;
const PAYLOAD_HEADER_BYTES = 12;
/** No event is longer; more is damage. */
const PAYLOAD_BYTES_MAX = 8 * 1_024 * 1_024;

/** A record with its position. */
export interface SpooledEvent extends StreamEvent {
  readonly offset: number;
  /** Bytes it takes in the segment. */
  readonly length: number;
}

/** Appends events to a new segment. */
export class SegmentWriter {
  readonly #fd: number;
  #size = SEGMENT_MAGIC.length;

  /** Throws the system's error, and leaves no file then. */
  constructor(path: string) {
    this.#fd = openSync(path, "wx", 0o640);
    try {
      writeSync(this.#fd, SEGMENT_MAGIC, 0, SEGMENT_MAGIC.length, 0);
    } catch (error) {
      closeSync(this.#fd);
      rmSync(path, { force: true });
      throw error;
    }
  }

  /** Bytes written. */
  get size(): number {
    return this.#size;
  }

  /** Throws the system's error; what was written of the event is overwritten by the next. */
  append(event: StreamEvent): void {
    const bytes = encodeRecord(event);
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#fd, bytes, done, bytes.length - done, this.#size + done);
    this.#size += bytes.length;
  }

  /** Throws the system's error where the events may not be on disk; the file is closed anyway. */
  close(): void {
    try {
      fsyncSync(this.#fd);
    } finally {
      closeSync(this.#fd);
    }
  }
}

/** Returns the bytes that `event` takes in a segment. */
export function recordBytes(event: StreamEvent): number {
  return RECORD_HEADER_BYTES + PAYLOAD_HEADER_BYTES + event.fieldsJson.length + event.message.length;
}

/** Reads a segment in order. */
export class SegmentReader {
  readonly #path: string;
  readonly #fd: number;
  #at = SEGMENT_MAGIC.length;

  /** Throws data_corrupt, or the system's error. */
  constructor(path: string) {
    this.#path = path;
    this.#fd = openSync(path, "r");
    const magic = this.#read(0, SEGMENT_MAGIC.length);
    if (magic?.equals(SEGMENT_MAGIC)) return;
    closeSync(this.#fd);
    throw new AppError("data_corrupt", `${path} isn't a spool of this agent`);
  }

  /** Where the next record begins, bytes. */
  get offset(): number {
    return this.#at;
  }

  /** Moves back to a record that was read. */
  seek(offset: number): void {
    this.#at = offset;
  }

  /** Returns the next event, or null after the last whole one. Throws data_corrupt. */
  next(): SpooledEvent | null {
    const header = this.#read(this.#at, RECORD_HEADER_BYTES);
    if (header === null) return null;
    const length = header.readUInt32LE(0);
    if (length < PAYLOAD_HEADER_BYTES || length > PAYLOAD_BYTES_MAX) throw this.#damaged();
    const payload = this.#read(this.#at + RECORD_HEADER_BYTES, length);
    if (payload === null) return null;
    if (crc32(payload) !== header.readUInt32LE(4)) throw this.#damaged();
    const fieldsEnd = PAYLOAD_HEADER_BYTES + payload.readUInt32LE(8);
    const event = {
      offset: this.#at,
      length: RECORD_HEADER_BYTES + length,
      timeMs: payload.readDoubleLE(0),
      fieldsJson: payload.subarray(PAYLOAD_HEADER_BYTES, fieldsEnd),
      message: payload.subarray(fieldsEnd),
    };
    this.#at += event.length;
    return event;
  }

  close(): void {
    closeSync(this.#fd);
  }

  #read(position: number, length: number): Buffer | null {
    const bytes = Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      const read = readSync(this.#fd, bytes, done, length - done, position + done);
      if (read === 0) return null;
      done += read;
    }
    return bytes;
  }

  #damaged(): AppError {
    return new AppError("data_corrupt", `${this.#path}: the record at byte ${this.#at} is damaged`);
  }
}

function encodeRecord({ timeMs, fieldsJson, message }: StreamEvent): Buffer {
  const payload = PAYLOAD_HEADER_BYTES + fieldsJson.length + message.length;
  const bytes = Buffer.allocUnsafe(RECORD_HEADER_BYTES + payload);
  bytes.writeUInt32LE(payload, 0);
  bytes.writeDoubleLE(timeMs, RECORD_HEADER_BYTES);
  bytes.writeUInt32LE(fieldsJson.length, RECORD_HEADER_BYTES + 8);
  bytes.set(fieldsJson, RECORD_HEADER_BYTES + PAYLOAD_HEADER_BYTES);
  bytes.set(message, RECORD_HEADER_BYTES + PAYLOAD_HEADER_BYTES + fieldsJson.length);
  bytes.writeUInt32LE(crc32(bytes.subarray(RECORD_HEADER_BYTES)), 4);
  return bytes;
}
