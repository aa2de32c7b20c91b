/** LZ4 blocks (github.com/lz4/lz4, doc/lz4_Block_format.md), by the kernel: quick to pack, quicker to unpack. */

import { threadKernel } from "#hub/engine/kernel/kernel.ts";

/** A block of documents as a segment stores it: packed bytes of documents `first` to `first + count`. */
export interface PackedBlock {
  readonly first: number;
  readonly count: number;
  readonly packed: Uint8Array;
}

/** Larger inputs would grow the kernel's scratch memory permanently; callers pack them otherwise. */
export const MAX_LZ4_BYTES = 1024 * 1024;

/** Returns `bytes` (at most MAX_LZ4_BYTES) packed; valid until the next call. */
export function packLz4(bytes: Uint8Array): Uint8Array {
  return threadKernel().packLz4(bytes);
}

/** Writes the `size` bytes that were packed to `out` from `at` on; false where `packed` is damaged. */
export function unpackLz4To(packed: Uint8Array, size: number, out: Uint8Array, at: number): boolean {
  if (packed.length > 2 * MAX_LZ4_BYTES || size > MAX_LZ4_BYTES) return false;
  return threadKernel().unpackLz4To(packed, size, out, at);
}
