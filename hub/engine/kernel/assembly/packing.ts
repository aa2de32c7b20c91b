/**
 * Groups of 128 numbers in as few bits as the largest needs (layout of SIMD-BP128).
 * The twin is encoding/bit-packing.ts.
 */

/** Bits that `value` needs. */
export function bitsOf(value: u32): u32 {
  return 32 - clz(value);
}

/** Packs the 128 u32 at `values`, each below 2^bits, to `out`; returns the address after the 16 * bits bytes. */
export function packGroup(values: usize, bits: u32, out: usize): usize {
  if (bits === 0) return out;
  let word = i32x4.splat(0);
  let filled: i32 = 0;
  let address = out;
  for (let row: usize = 0; row < 512; row += 16) {
    const value = v128.load(values + row);
    word = v128.or(word, i32x4.shl(value, filled));
    filled += bits as i32;
    if (filled >= 32) {
      v128.store(address, word);
      address += 16;
      filled -= 32;
      // A shift by 32 would be one by 0.
      word = filled === 0 ? i32x4.splat(0) : i32x4.shr_u(value, (bits as i32) - filled);
    }
  }
  return address;
}

/** Unpacks 128 numbers of `bits` bits at `packed` to the u32 at `out`. Reads 16 bytes after the last one at most. */
export function unpackGroup(packed: usize, bits: u32, out: usize): void {
  if (bits === 0) {
    memory.fill(out, 0, 512);
    return;
  }
  const mask = i32x4.splat(bits === 32 ? -1 : (1 << bits) - 1);
  let address = packed;
  let word = v128.load(address);
  let used: i32 = 0;
  for (let row: usize = 0; row < 512; row += 16) {
    let value = i32x4.shr_u(word, used);
    used += bits as i32;
    if (used >= 32) {
      used -= 32;
      address += 16;
      if (row < 496) {
        word = v128.load(address);
        if (used > 0) value = v128.or(value, i32x4.shl(word, (bits as i32) - used));
      }
    }
    v128.store(out + row, v128.and(value, mask));
  }
}

/** Unpacks the documents of a postings block: the gaps become numbers that ascend from `before`. */
export function unpackDocs(packed: usize, bits: u32, before: i32, out: usize): void {
  unpackGroup(packed, bits, out);
  let doc = i32x4.splat(before);
  const one = i32x4.splat(1);
  for (let row: usize = 0; row < 512; row += 16) {
    let sums = i32x4.add(v128.load(out + row), one);
    sums = i32x4.add(
      sums,
      i8x16.shuffle(i32x4.splat(0), sums, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27),
    );
    sums = i32x4.add(
      sums,
      i8x16.shuffle(i32x4.splat(0), sums, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
    );
    sums = i32x4.add(sums, doc);
    v128.store(out + row, sums);
    doc = i8x16.shuffle(sums, sums, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15);
  }
}
