/**
 * Snappy's block format (github.com/google/snappy/blob/main/format_description.txt), and blocks in a row by its framing
 * format (framing_format.txt there).
 */

import { addPart } from "#proto/kit/byte-parts.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Kinds of elements, the low two bits of their tag. */
const LITERAL = 0;
const COPY_1 = 1;
const COPY_2 = 2;

/** Lengths of literals from here on stand after the tag, in 1 to 4 bytes. */
const LONG_LITERAL = 60;

/** Returns `packed` unpacked. Throws parsing for what is no block, request_too_large for more than `maxBytes`. */
export function unpackSnappy(packed: Uint8Array, maxBytes: number): Buffer {
  const { length, start } = lengthOf(packed);
  if (length > maxBytes) throw new AppError("request_too_large", `a body may have ${maxBytes} bytes at most`);
  const out = Buffer.alloc(length);
  let [at, end] = [start, 0];
  while (at < packed.length) {
    const tag = packed[at++]!;
    if ((tag & 3) === LITERAL) {
      let size = tag >> 2;
      if (size >= LONG_LITERAL) {
        const bytes = size - LONG_LITERAL + 1;
        size = littleEndian(packed, at, bytes);
        at += bytes;
      }
      size++;
      if (at + size > packed.length || end + size > length) throw damaged();
      out.set(packed.subarray(at, at + size), end);
      at += size;
      end += size;
      continue;
    }
    const kind = tag & 3;
    const size = kind === COPY_1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    const bytes = kind === COPY_1 ? 1 : kind === COPY_2 ? 2 : 4;
    const distance = littleEndian(packed, at, bytes) + (kind === COPY_1 ? (tag >> 5) * 256 : 0);
    at += bytes;
    if (distance === 0 || distance > end || end + size > length) throw damaged();
    // Byte by byte: a copy may overlap what it makes.
    for (let copied = 0; copied < size; copied++) out[end + copied] = out[end + copied - distance]!;
    end += size;
  }
  if (end !== length) throw damaged();
  return out;
}

/** The chunk that a stream begins with. */
const STREAM_HEAD = Buffer.from("\xff\x06\0\0sNaPpY", "latin1");

/** Kinds of chunks; those from 0x80 on are skipped. */
const PACKED_CHUNK = 0;
const PLAIN_CHUNK = 1;
const FIRST_SKIPPED = 0x80;

/** Before a chunk's data: one byte for its kind, three for its length; then a checksum, which isn't checked. */
const CHUNK_HEAD_BYTES = 4;
const CHECKSUM_BYTES = 4;

export function isFramedSnappy(packed: Uint8Array): boolean {
  return STREAM_HEAD.equals(packed.subarray(0, STREAM_HEAD.length));
}

/** Returns the chunks of a stream unpacked. Throws parsing for what is none, request_too_large for more than `maxBytes`. */
export function unpackFramedSnappy(packed: Uint8Array, maxBytes: number): Buffer {
  if (!isFramedSnappy(packed)) throw damaged();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (let at = 0; at < packed.length; ) {
    const kind = packed[at]!;
    const start = at + CHUNK_HEAD_BYTES;
    const end = start + littleEndian(packed, at + 1, 3);
    if (end > packed.length) throw damaged();
    at = end;
    if (kind >= FIRST_SKIPPED) continue;
    if (kind > PLAIN_CHUNK || end - start < CHECKSUM_BYTES) throw damaged();
    const data = packed.subarray(start + CHECKSUM_BYTES, end);
    const part = kind === PACKED_CHUNK ? unpackSnappy(data, maxBytes - bytes) : data;
    bytes += part.length;
    if (bytes > maxBytes)
      throw new AppError("request_too_large", `a body may have ${maxBytes} bytes at most`);
    addPart(parts, part);
  }
  return Buffer.concat(parts);
}

/** Reads the length before the elements, a varint of 32 bits. */
function lengthOf(packed: Uint8Array): { length: number; start: number } {
  let length = 0;
  for (let at = 0; at < 5 && at < packed.length; at++) {
    length += (packed[at]! & 0x7f) * 2 ** (7 * at);
    if (packed[at]! < 0x80 && length < 2 ** 32) return { length, start: at + 1 };
  }
  throw damaged();
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  if (at + count > bytes.length) throw damaged();
  let value = 0;
  for (let index = 0; index < count; index++) value += bytes[at + index]! * 256 ** index;
  return value;
}

function damaged(): AppError {
  return new AppError("parsing", "the body is no block of snappy");
}
