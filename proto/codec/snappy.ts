/**
 * Snappy's block format (github.com/google/snappy/blob/main/format_description.txt), and blocks in a row by its framing
 * format (framing_format.txt there).
 */

import { AppError } from "#proto/kit/errors.ts";

/** Kinds of elements, the low two bits of their tag. */
const LITERAL = 0;
const COPY_1 = 1;
const COPY_2 = 2;

/** Lengths of literals from here on are written after the tag, in 1 to 4 bytes. */
const LONG_LITERAL = 60;

/** Literals up to this length are copied byte by byte: a view of them would cost more than they do. */
const SHORT_LITERAL = 32;

/** Returns `packed` unpacked. Throws parsing for what isn't a block, request_too_large for more than `maxBytes`. */
export function unpackSnappy(packed: Uint8Array, maxBytes: number): Buffer {
  const { length, start } = lengthOf(packed, 0, packed.length);
  if (length > maxBytes) throw tooLarge(maxBytes);
  const out = Buffer.alloc(length);
  unpackElements(packed, start, packed.length, out, 0, length);
  return out;
}

/** Unpacks the elements between `at` and `last` of `packed` to the bytes between `first` and `limit` of `out`. */
function unpackElements(
  packed: Uint8Array,
  at: number,
  last: number,
  out: Buffer,
  first: number,
  limit: number,
): void {
  let end = first;
  while (at < last) {
    const tag = packed[at++]!;
    if ((tag & 3) === LITERAL) {
      let size = tag >> 2;
      if (size >= LONG_LITERAL) {
        const bytes = size - LONG_LITERAL + 1;
        size = littleEndian(packed, at, bytes, last);
        at += bytes;
      }
      size++;
      if (at + size > last || end + size > limit) throw damaged();
      copyLiteral(packed, at, size, out, end);
      at += size;
      end += size;
      continue;
    }
    const kind = tag & 3;
    const size = kind === COPY_1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    const bytes = kind === COPY_1 ? 1 : kind === COPY_2 ? 2 : 4;
    const distance = littleEndian(packed, at, bytes, last) + (kind === COPY_1 ? (tag >> 5) * 256 : 0);
    at += bytes;
    if (distance === 0 || distance > end - first || end + size > limit) throw damaged();
    // Byte by byte: a copy may overlap what it makes.
    for (let copied = 0; copied < size; copied++) out[end + copied] = out[end + copied - distance]!;
    end += size;
  }
  if (end !== limit) throw damaged();
}

function copyLiteral(packed: Uint8Array, at: number, size: number, out: Buffer, end: number): void {
  if (size > SHORT_LITERAL) out.set(packed.subarray(at, at + size), end);
  else for (let index = 0; index < size; index++) out[end + index] = packed[at + index]!;
}

/** The chunk that a stream begins with. */
const STREAM_HEAD = Buffer.from("\xff\x06\0\0sNaPpY", "latin1");

/** Kinds of chunks: 0 is packed, 1 plain; those from 0x80 on are skipped. */
const PLAIN_CHUNK = 1;
const FIRST_SKIPPED = 0x80;

/** The chunk that a stream begins with may come again. */
const HEAD_CHUNK = 0xff;

/** Bytes that an element of one byte can make at most: a copy of 64 bytes takes three. */
const MAX_EXPANSION = 22;

/** Before a chunk's data: one byte for its kind, three for its length; then a checksum, which isn't checked. */
const CHUNK_HEAD_BYTES = 4;
const CHECKSUM_BYTES = 4;

export function isFramedSnappy(packed: Uint8Array): boolean {
  return STREAM_HEAD.equals(packed.subarray(0, STREAM_HEAD.length));
}

/** Returns the chunks of a stream unpacked. Throws parsing for what is none, request_too_large for more than `maxBytes`. */
export function unpackFramedSnappy(packed: Uint8Array, maxBytes: number): Buffer {
  if (!isFramedSnappy(packed)) throw damaged();
  const out = Buffer.alloc(framedLength(packed, maxBytes));
  let end = 0;
  for (let at = 0; at < packed.length; ) {
    const next = chunkEnd(packed, at);
    if (packed[at]! < FIRST_SKIPPED) {
      const data = at + CHUNK_HEAD_BYTES + CHECKSUM_BYTES;
      const size = dataLength(packed, at, next);
      if (packed[at] === PLAIN_CHUNK) copyLiteral(packed, data, size, out, end);
      else unpackElements(packed, lengthOf(packed, data, next).start, next, out, end, end + size);
      end += size;
    }
    at = next;
  }
  return out;
}

/**
 * Returns the bytes that all chunks become. They are counted before they are unpacked: a stream may have a chunk for each
 * byte, and pieces to be joined would take many times what they hold.
 */
function framedLength(packed: Uint8Array, maxBytes: number): number {
  let length = 0;
  for (let at = 0; at < packed.length; ) {
    const next = chunkEnd(packed, at);
    if (packed[at]! < FIRST_SKIPPED) length += dataLength(packed, at, next);
    if (length > maxBytes) throw tooLarge(maxBytes);
    at = next;
  }
  return length;
}

/** Returns where the chunk at `at` ends. */
function chunkEnd(packed: Uint8Array, at: number): number {
  const end = at + CHUNK_HEAD_BYTES + littleEndian(packed, at + 1, 3, packed.length);
  if (end > packed.length) throw damaged();
  if (packed[at] === HEAD_CHUNK && !isFramedSnappy(packed.subarray(at, end))) throw damaged();
  return end;
}

/** Returns the bytes that the chunk between `at` and `end` becomes. */
function dataLength(packed: Uint8Array, at: number, end: number): number {
  const data = at + CHUNK_HEAD_BYTES + CHECKSUM_BYTES;
  if (packed[at]! > PLAIN_CHUNK || data > end) throw damaged();
  return packed[at] === PLAIN_CHUNK ? end - data : lengthOf(packed, data, end).length;
}

/** Reads the length before the elements, a varint of 32 bits, between `from` and `end`. */
function lengthOf(packed: Uint8Array, from: number, end: number): { length: number; start: number } {
  let length = 0;
  for (let at = 0; at < 5 && from + at < end; at++) {
    const byte = packed[from + at]!;
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte >= 0x80) continue;
    const start = from + at + 1;
    // Before memory is taken for what can't come.
    if (length > MAX_EXPANSION * (end - start)) break;
    return { length, start };
  }
  throw damaged();
}

function littleEndian(bytes: Uint8Array, at: number, count: number, end: number): number {
  if (at + count > end) throw damaged();
  let value = 0;
  for (let index = 0; index < count; index++) value += bytes[at + index]! * 256 ** index;
  return value;
}

function tooLarge(maxBytes: number): AppError {
  return new AppError("request_too_large", `a body may have ${maxBytes} bytes at most`);
}

function damaged(): AppError {
  return new AppError("parsing", "the body isn't a block of snappy");
}
