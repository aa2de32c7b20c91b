/** Whole numbers as planes of bytes. The twin is test/oracles/engine/columnar/number-writer.ts. */

import { end, length, reserve, setLength } from "../buffer";
import { putByte, putNumber } from "./output";

/** The distances from the smallest; those from number to number. */
const PLAIN: u32 = 0;
const DELTAS: u32 = 1;

/** Appends `count` numbers (i64) within ±2^52 in the form of fewer bits. */
export function writeNumbers(values: usize, count: u32, out: usize): void {
  const last = values + 8 * count;
  let least: i64 = count === 0 ? 0 : load<i64>(values);
  for (let value = values; value < last; value += 8) least = min(least, load<i64>(value));
  let plainBits: u64 = 0;
  let deltaBits: u64 = 0;
  let all: u64 = 0;
  let allDeltas: u64 = 0;
  let before = least;
  for (let value = values; value < last; value += 8) {
    const number = load<i64>(value);
    const distance = (number - least) as u64;
    const delta = zigzag(number - before);
    before = number;
    all |= distance;
    allDeltas |= delta;
    plainBits += 64 - clz(distance);
    deltaBits += 64 - clz(delta);
  }
  const isSummed = deltaBits < plainBits;
  const width = ((71 - clz(isSummed ? allDeltas : all)) >>> 3) as u32;
  putByte(out, isSummed ? DELTAS : PLAIN);
  putByte(out, width);
  putNumber(out, zigzag(least));
  reserve(out, width * count);
  let to = end(out);
  setLength(out, length(out) + width * count);
  before = least;
  for (let value = values; value < last; value += 8) {
    const number = load<i64>(value);
    let rest: u64 = isSummed ? zigzag(number - before) : ((number - least) as u64);
    before = number;
    let plane = to++;
    for (let left = width; left > 0; left--) {
      store<u8>(plane, rest as u8);
      rest >>>= 8;
      plane += count;
    }
  }
}

@inline
function zigzag(value: i64): u64 {
  return ((value << 1) ^ (value >> 63)) as u64;
}
