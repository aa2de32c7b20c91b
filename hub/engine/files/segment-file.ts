/**
 * The container of a segment: sections one after another, a CRC for each 64 KiB of them, a directory, a trailer.
 * Bytes of a file are checked when they are read for the first time. Grammar: hub/engine/README.md.
 */

import { closeSync, fstatSync, fsyncSync, openSync, readSync } from "node:fs";
import { ByteBuffer, readU32 } from "#hub/engine/bytes/byte-buffer.ts";
import { crc32c } from "#hub/engine/encoding/crc32c.ts";
import { AppError } from "#proto/kit/errors.ts";
import { writeFully } from "#proto/kit/files/files.ts";
import { extentCache } from "./extent-cache.ts";

/** Bytes under one CRC. Small enough that a first read of a few bytes stays cheap. */
export const CHUNK_BYTES = 64 * 1024;

/** Version of the format; readers refuse a higher one. */
const FORMAT_VERSION = 3;
/** Stored bytes: version 1 has zstd frames only, version 2 LZ4 as well, version 3 columnar blocks too. */
const OLDEST_VERSION = 1;

const MAGIC = new TextEncoder().encode("TRAILSEG");

/** directory bytes u32, CRC of table and directory u32, data bytes u64, version u32, magic 8. */
const TRAILER_BYTES = 28;

/** Location of a section: offset and length in bytes. */
export type Extent = readonly [offset: number, length: number];

/** Takes the bytes of a segment in order. */
export interface ByteSink {
  write(bytes: Uint8Array): void;
}

/** Keeps a segment in memory. */
export class MemorySink implements ByteSink {
  readonly buffer: ByteBuffer;

  /** `sizeBytes`: about what will be written. */
  constructor(sizeBytes = 64 * 1024) {
    this.buffer = new ByteBuffer(sizeBytes);
  }

  write(bytes: Uint8Array): void {
    this.buffer.append(bytes);
  }
}

/** Writes a segment to a new file. */
export class FileSink implements ByteSink {
  /** Bytes written so far. */
  length = 0;
  readonly #fd: number;
  #open = true;

  /** Throws where the file exists. */
  constructor(path: string) {
    this.#fd = openSync(path, "wx", 0o640);
  }

  write(bytes: Uint8Array): void {
    writeFully(this.#fd, bytes);
    this.length += bytes.length;
  }

  /** Makes the file durable and closes it. */
  finish(): void {
    fsyncSync(this.#fd);
    this.abandon();
  }

  /** Closes without making durable, to give up; nothing when it is closed. */
  abandon(): void {
    if (this.#open) closeSync(this.#fd);
    this.#open = false;
  }
}

/** Writes sections and the directory that names them. */
export class SegmentFileWriter {
  readonly #sink: ByteSink;
  readonly #crcs: number[] = [];
  #crc = 0;
  #length = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Appends bytes and returns their location. */
  write(bytes: Uint8Array): Extent {
    const offset = this.#length;
    for (let at = 0; at < bytes.length; ) {
      const count = Math.min(bytes.length - at, CHUNK_BYTES - (this.#length % CHUNK_BYTES));
      this.#crc = crc32c(bytes, at, at + count, this.#crc);
      at += count;
      this.#length += count;
      if (this.#length % CHUNK_BYTES === 0) this.#closeChunk();
    }
    this.#sink.write(bytes);
    return [offset, bytes.length];
  }

  /** Writes CRCs, directory and trailer. */
  finish(directory: unknown): void {
    if (this.#length % CHUNK_BYTES !== 0) this.#closeChunk();
    const json = new TextEncoder().encode(JSON.stringify(directory));
    const end = new ByteBuffer(json.length + 4 * this.#crcs.length + TRAILER_BYTES);
    for (const crc of this.#crcs) end.u32(crc);
    end.append(json);
    const crc = crc32c(end.view());
    end.u32(json.length);
    end.u32(crc);
    end.u32(this.#length % 2 ** 32);
    end.u32(Math.floor(this.#length / 2 ** 32));
    end.u32(FORMAT_VERSION);
    end.append(MAGIC);
    this.#sink.write(end.view());
  }

  #closeChunk(): void {
    this.#crcs.push(this.#crc);
    this.#crc = 0;
  }
}

/** Where the bytes of a segment come from. */
interface Bytes {
  readonly size: number;
  /** Bytes [offset, offset + length), fewer where the file ends before; in `into` where they have to be copied and it is given. */
  read(offset: number, length: number, into?: Uint8Array): Uint8Array;
  close(): void;
}

/** Where chunks are checked, one after the other. */
const chunkBuffer = new Uint8Array(CHUNK_BYTES);

/** An open segment: its directory, its bytes on demand. */
export class SegmentFile {
  /** Name for messages. */
  readonly name: string;
  readonly directory: unknown;
  /** CRC-32C of the directory and of the checksums of all data: tells segments of one size apart. */
  readonly checksum: number;
  readonly #bytes: Bytes;
  readonly #dataBytes: number;
  readonly #crcs: Uint32Array | null;
  readonly #verified: Uint8Array;

  private constructor(name: string, bytes: Bytes, trusted: boolean) {
    this.name = name;
    this.#bytes = bytes;
    if (bytes.size < TRAILER_BYTES) throw this.corrupt("it is too short");
    const trailer = bytes.read(bytes.size - TRAILER_BYTES, TRAILER_BYTES);
    if (MAGIC.some((byte, index) => trailer[20 + index] !== byte)) throw this.corrupt("its end is missing");
    const version = readU32(trailer, 16);
    if (version < OLDEST_VERSION || version > FORMAT_VERSION)
      throw this.corrupt(`its format version ${version} isn't known`);
    this.#dataBytes = readU32(trailer, 8) + readU32(trailer, 12) * 2 ** 32;
    const chunkCount = Math.ceil(this.#dataBytes / CHUNK_BYTES);
    const jsonBytes = readU32(trailer, 0);
    const tailBytes = 4 * chunkCount + jsonBytes;
    if (this.#dataBytes + tailBytes + TRAILER_BYTES !== bytes.size) throw this.corrupt("its length is wrong");
    const tail = bytes.read(this.#dataBytes, tailBytes);
    this.checksum = readU32(trailer, 4);
    if (crc32c(tail) !== this.checksum) throw this.corrupt("the checksum of its directory is wrong");
    this.#crcs = trusted
      ? null
      : Uint32Array.from({ length: chunkCount }, (_, chunk) => readU32(tail, 4 * chunk));
    this.#verified = new Uint8Array(trusted ? 0 : chunkCount);
    this.directory = JSON.parse(new TextDecoder().decode(tail.subarray(4 * chunkCount)));
  }

  /** Opens a segment that was just made in memory; it isn't checked. */
  static ofMemory(name: string, image: Uint8Array): SegmentFile {
    return new SegmentFile(name, memoryBytes(image), true);
  }

  /** Opens a file. Throws data_corrupt for a damaged one, file_unreadable. */
  static open(name: string, path: string): SegmentFile {
    const bytes = fileBytes(path);
    try {
      return new SegmentFile(name, bytes, false);
    } catch (error) {
      bytes.close();
      throw error;
    }
  }

  /** Size of the whole, bytes. */
  get sizeBytes(): number {
    return this.#bytes.size;
  }

  /**
   * Bytes [from, from + length) of a section, not to be changed. `into`: memory for as many, which the caller uses again for
   * the next. Throws data_corrupt.
   */
  read(section: Extent, from = 0, length = section[1] - from, into?: Uint8Array): Uint8Array {
    const offset = section[0] + from;
    if (from < 0 || length < 0 || from + length > section[1] || offset + length > this.#dataBytes) {
      throw this.corrupt("an offset in it leads outside");
    }
    if (this.#crcs !== null && length > 0) this.#verify(offset, length);
    return this.#bytes.read(offset, length, into);
  }

  /** Like `read`, of bytes that will be read again: they stay cached within the cache's limit. */
  cached(section: Extent, from = 0, length = section[1] - from): Uint8Array {
    if (this.#crcs === null || length === 0) return this.read(section, from, length);
    return extentCache().get(this, section[0] + from, length, () => this.read(section, from, length));
  }

  /** Checks all bytes. Throws data_corrupt. */
  verify(): void {
    if (this.#crcs !== null && this.#dataBytes > 0) this.#verify(0, this.#dataBytes);
  }

  close(): void {
    extentCache().drop(this);
    this.#bytes.close();
  }

  #verify(offset: number, length: number): void {
    const last = Math.floor((offset + length - 1) / CHUNK_BYTES);
    for (let chunk = Math.floor(offset / CHUNK_BYTES); chunk <= last; chunk++) {
      if (this.#verified[chunk] === 1) continue;
      const from = chunk * CHUNK_BYTES;
      const bytes = this.#bytes.read(from, Math.min(CHUNK_BYTES, this.#dataBytes - from), chunkBuffer);
      if (crc32c(bytes) !== this.#crcs![chunk]) throw this.corrupt(`the checksum at byte ${from} is wrong`);
      this.#verified[chunk] = 1;
    }
  }

  /** The error of bytes that can't be right though their checksum is. */
  corrupt(why: string): AppError {
    return new AppError(
      "data_corrupt",
      `segment ${this.name} is damaged: ${why}; restore it from a snapshot or let its documents be sent again`,
    );
  }
}

function memoryBytes(image: Uint8Array): Bytes {
  return {
    size: image.length,
    read: (offset, length) => image.subarray(offset, offset + length),
    close: () => {},
  };
}

function fileBytes(path: string): Bytes {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    throw new AppError("file_unreadable", `segment file ${path} can't be opened`, { cause: error });
  }
  let open = true;
  return {
    size: fstatSync(fd).size,
    read(offset, length, into) {
      if (!open) throw new AppError("closed", "a closed segment was read");
      const bytes = into?.subarray(0, length) ?? new Uint8Array(length);
      let done = 0;
      while (done < length) {
        const count = readSync(fd, bytes, done, length - done, offset + done);
        if (count === 0) break;
        done += count;
      }
      return done === length ? bytes : bytes.subarray(0, done);
    },
    close() {
      if (open) closeSync(fd);
      open = false;
    },
  };
}
