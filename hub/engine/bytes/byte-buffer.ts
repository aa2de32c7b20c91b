/** Bytes that grow, and the numbers of the segment format in them: little-endian, varints of 7 bits a byte. */

import { copyBytes } from "./bytes.ts";

/** Shorter runs are copied faster byte by byte than by a call. */
const SHORT_COPY_BYTES = 48;

/** A growing run of bytes. */
export class ByteBuffer {
  bytes: Uint8Array;
  length = 0;

  constructor(capacity = 256) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Reserves capacity for `count` more bytes. */
  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.length + count, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  u8(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  u32(value: number): void {
    this.reserve(4);
    writeU32(this.bytes, this.length, value);
    this.length += 4;
  }

  /** A whole number 0..2^53 - 1. */
  varint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      // Above 2^31 the bit operators would cut the number.
      this.bytes[this.length++] = rest >= 0x8000_0000 ? (rest % 0x80) | 0x80 : (rest & 0x7f) | 0x80;
      rest = rest >= 0x8000_0000 ? Math.floor(rest / 0x80) : rest >>> 7;
    }
    this.bytes[this.length++] = rest;
  }

  append(source: Uint8Array, from = 0, to = source.length): void {
    const count = to - from;
    this.reserve(count);
    if (count <= SHORT_COPY_BYTES) {
      const { bytes, length } = this;
      for (let index = 0; index < count; index++) bytes[length + index] = source[from + index]!;
    } else {
      copyBytes(source, from, to, this.bytes, this.length);
    }
    this.length += count;
  }

  /** The bytes written; valid until the next write. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}

export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

export function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** Reads what ByteBuffer writes. After the end it reads zeros, so that a damaged length ends a loop. */
export class ByteReader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  varint(): number {
    const byte = this.bytes[this.at++] ?? 0;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let factor = 0x80; factor < 2 ** 53; factor *= 0x80) {
      const next = this.bytes[this.at++] ?? 0;
      value += (next & 0x7f) * factor;
      if (next < 0x80) break;
    }
    return value;
  }

  take(length: number): Uint8Array {
    const taken = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return taken;
  }
}

/** Returns `array` or a larger copy of it with capacity for at least `length` numbers. */
export function grown<
  T extends Int32Array | Uint32Array | Float64Array | Uint16Array | Uint8Array | BigInt64Array,
>(array: T, length: number): T {
  if (length <= array.length) return array;
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, array.length * 2));
  larger.set(array as never);
  return larger;
}

/** Whole numbers of 32 bits. */
export class IntList {
  values: Int32Array;
  length = 0;

  constructor(capacity = 16) {
    this.values = new Int32Array(capacity);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.values = grown(this.values, this.length + 1);
    this.values[this.length++] = value;
  }

  /** Appends `values`, each with `added` added to it. */
  append(values: Uint32Array, added: number): void {
    this.values = grown(this.values, this.length + values.length);
    const own = this.values;
    const { length } = this;
    for (let index = 0; index < values.length; index++) own[length + index] = added + values[index]!;
    this.length += values.length;
  }

  view(): Int32Array {
    return this.values.subarray(0, this.length);
  }
}

/** Numbers of 64 bits. */
export class FloatList {
  values = new Float64Array(16);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) this.values = grown(this.values, this.length + 1);
    this.values[this.length++] = value;
  }

  view(): Float64Array {
    return this.values.subarray(0, this.length);
  }
}
