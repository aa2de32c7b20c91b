/** The judge of the kernel's unpackDocs. */

import { GROUP, unpackGroup } from "#hub/engine/encoding/bit-packing.ts";

/** Unpacks 128 gaps less one to numbers that ascend from `before`, in out[0..128). */
export function unpackAscending(
  bytes: Uint8Array,
  at: number,
  bits: number,
  before: number,
  out: Int32Array,
): void {
  unpackGroup(bytes, at, bits, out, 0);
  let value = before;
  for (let index = 0; index < GROUP; index++) {
    value = (value + out[index]! + 1) | 0;
    out[index] = value;
  }
}
