/**
 * Numbers in as few bits as the largest needs. Groups of 128 have the vertical layout of SIMD-BP128 (Lemire and Boytsov,
 * "Decoding billions of integers per second through vectorization"): value i is in lane i & 3, each lane a stream of
 * 32-bit words, words of the four lanes interleaved. A group of `bits` takes 16 * bits bytes.
 */

import type { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";

/** Values per group. */
export const GROUP = 128;

/** Widest group. */
export const MAX_PACKED_BITS = 32;

const words = new Uint32Array(4 * MAX_PACKED_BITS);
const wordBytes = new Uint8Array(words.buffer);

/** Number of bits that `value` (0..2^53 - 1) needs. */
export function bitsOf(value: number): number {
  return value < 2 ** 32 ? 32 - Math.clz32(value) : 32 + bitsOf(Math.floor(value / 2 ** 32));
}

type Numbers = Int32Array | Uint32Array | Float64Array;

/** Appends 128 values from `values[from]`, each below 2^bits, 0 <= bits <= 32. */
export function packGroup(values: Numbers, from: number, bits: number, out: ByteBuffer): void {
  if (bits === 0) return;
  words.fill(0, 0, 4 * bits);
  for (let row = 0; row < 32; row++) {
    const bit = row * bits;
    const shift = bit & 31;
    const base = (bit >>> 5) << 2;
    for (let lane = 0; lane < 4; lane++) {
      const value = values[from + (row << 2) + lane]!;
      words[base + lane]! |= value << shift;
      if (shift + bits > 32) words[base + 4 + lane] = value >>> (32 - shift);
    }
  }
  out.append(wordBytes, 0, 16 * bits);
}

/** Writes 128 values of `bits` bits, packed at `bytes[at]`, to `out[outAt..]`. Unsigned where `out` can hold it. */
export function unpackGroup(bytes: Uint8Array, at: number, bits: number, out: Numbers, outAt: number): void {
  if (bits === 0) {
    out.fill(0, outAt, outAt + GROUP);
    return;
  }
  wordBytes.set(bytes.subarray(at, at + 16 * bits));
  const mask = bits === 32 ? 0xffff_ffff : (1 << bits) - 1;
  let to = outAt;
  for (let row = 0; row < 32; row++) {
    const bit = row * bits;
    const shift = bit & 31;
    const base = (bit >>> 5) << 2;
    if (shift + bits <= 32) {
      out[to++] = ((words[base]! >>> shift) & mask) >>> 0;
      out[to++] = ((words[base + 1]! >>> shift) & mask) >>> 0;
      out[to++] = ((words[base + 2]! >>> shift) & mask) >>> 0;
      out[to++] = ((words[base + 3]! >>> shift) & mask) >>> 0;
    } else {
      const rest = 32 - shift;
      out[to++] = (((words[base]! >>> shift) | (words[base + 4]! << rest)) & mask) >>> 0;
      out[to++] = (((words[base + 1]! >>> shift) | (words[base + 5]! << rest)) & mask) >>> 0;
      out[to++] = (((words[base + 2]! >>> shift) | (words[base + 6]! << rest)) & mask) >>> 0;
      out[to++] = (((words[base + 3]! >>> shift) | (words[base + 7]! << rest)) & mask) >>> 0;
    }
  }
}

/** Like `unpackGroup`, into whole numbers of 32 bits, by the kernel. */
export function unpackWords(
  bytes: Uint8Array,
  at: number,
  bits: number,
  out: Int32Array,
  outAt: number,
): void {
  if (bits === 0) out.fill(0, outAt, outAt + GROUP);
  else threadKernel().unpackGroup(bytes, at, bits, out, outAt);
}

/** Unpacks 128 gaps less one to numbers that ascend from `before`, in out[0..128), by the kernel. */
export function unpackAscending(
  bytes: Uint8Array,
  at: number,
  bits: number,
  before: number,
  out: Int32Array,
): void {
  threadKernel().unpackDocs(bytes, at, bits, before, out);
}

/** Appends `count` values below 2^bits (bits <= 53): whole groups packed, the rest in whole bytes. */
export function packNumbers(values: Float64Array, count: number, bits: number, out: ByteBuffer): void {
  let at = 0;
  if (bits <= MAX_PACKED_BITS) for (; at + GROUP <= count; at += GROUP) packGroup(values, at, bits, out);
  const width = (bits + 7) >>> 3;
  out.reserve((count - at) * width);
  for (; at < count; at++) {
    let value = values[at]!;
    for (let byte = 0; byte < width; byte++) {
      out.u8(value & 0xff);
      value = Math.floor(value / 256);
    }
  }
}

/** Reads what packNumbers wrote at `bytes[from]` to `out[0..count)`; returns the offset after it. */
export function unpackNumbers(
  bytes: Uint8Array,
  from: number,
  count: number,
  bits: number,
  out: Float64Array,
): number {
  let at = 0;
  let offset = from;
  if (bits <= MAX_PACKED_BITS) {
    for (; at + GROUP <= count; at += GROUP) {
      unpackGroup(bytes, offset, bits, out, at);
      offset += 16 * bits;
    }
  }
  const width = (bits + 7) >>> 3;
  for (; at < count; at++) {
    let value = 0;
    let factor = 1;
    for (let byte = 0; byte < width; byte++) {
      value += (bytes[offset++] ?? 0) * factor;
      factor *= 256;
    }
    out[at] = value;
  }
  return offset;
}
