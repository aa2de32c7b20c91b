/** CRC-32C (Castagnoli, RFC 3720 appendix B.4) over bytes: long runs by the kernel, short ones here, eight at a time. */

import { threadKernel } from "#hub/engine/kernel/kernel.ts";

const POLYNOMIAL = 0x82f6_3b78;

/** Table k gives the effect of a byte k positions before the end of a group of eight. */
const TABLES = makeTables();
const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as [
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
];

/** Below it a call of the kernel costs more than it saves; above it the kernel's scratch would grow. */
const KERNEL_MIN_BYTES = 2048;
const KERNEL_MAX_BYTES = 256 * 1024;

/** Returns the CRC of bytes[from..to), continuing from `crc` (0 at the start), as an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array, from = 0, to = bytes.length, crc = 0): number {
  const isKernels = to - from >= KERNEL_MIN_BYTES && to - from <= KERNEL_MAX_BYTES;
  return isKernels ? threadKernel().crc32c(bytes, from, to, crc) : crc32cHere(bytes, from, to, crc);
}

/** Like `crc32c`, without the kernel. */
export function crc32cHere(bytes: Uint8Array, from: number, to: number, crc: number): number {
  let c = ~crc;
  let at = from;
  for (; at + 8 <= to; at += 8) {
    c ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    c =
      T7[c & 255]! ^
      T6[(c >>> 8) & 255]! ^
      T5[(c >>> 16) & 255]! ^
      T4[c >>> 24]! ^
      T3[bytes[at + 4]!]! ^
      T2[bytes[at + 5]!]! ^
      T1[bytes[at + 6]!]! ^
      T0[bytes[at + 7]!]!;
  }
  for (; at < to; at++) c = T0[(c ^ bytes[at]!) & 255]! ^ (c >>> 8);
  return ~c >>> 0;
}

function makeTables(): Uint32Array[] {
  const first = Uint32Array.from({ length: 256 }, (_, byte) => {
    let c = byte;
    for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ POLYNOMIAL : c >>> 1;
    return c;
  });
  const tables = [first];
  for (let k = 1; k < 8; k++) {
    const previous = tables[k - 1]!;
    tables.push(previous.map((c) => first[c & 255]! ^ (c >>> 8)));
  }
  return tables;
}
