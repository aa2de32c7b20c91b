/**
 * Blocks of columns of at most one value a document, whose values are ordinals: whole numbers from 0 to below a limit.
 * All addresses come from the host; no state is kept between calls.
 */

import { isPlain, MODE_LINEAR, MODE_PACKED, unpackBlock, valuesOf } from "./column";
import { COLUMN_BASE, COLUMN_ENTRY_BYTES, COLUMN_MODE, COLUMN_STEP, RUN_INDEX, RUN_NUMBERS } from "./layout";

/** Largest of `count` numbers. What follows them is overwritten. */
function largest(numbers: usize, count: u32): u32 {
  for (let at = count; (at & 3) !== 0; at++) store<u32>(numbers + (at << 2), 0);
  let most = i32x4.splat(0);
  for (let at: u32 = 0; at < count; at += 4) most = i32x4.max_u(most, v128.load(numbers + (at << 2)));
  const pairs = max(<u32>i32x4.extract_lane(most, 0), <u32>i32x4.extract_lane(most, 1));
  return max(pairs, max(<u32>i32x4.extract_lane(most, 2), <u32>i32x4.extract_lane(most, 3)));
}

/**
 * Unpacks a block of at most one value a document to the run's scratch memory, as numbers n of which base + n * step is
 * the value; false if the twin has to read it.
 */
export function unpackPlain(run: usize, block: u32): bool {
  const entry = (load<u32>(run, RUN_INDEX) as usize) + block * COLUMN_ENTRY_BYTES;
  const mode = <u32>load<u8>(entry, COLUMN_MODE);
  if (!isPlain(run, entry, block)) return false;
  if (mode === MODE_PACKED) return unpackBlock(run, entry);
  if (mode !== MODE_LINEAR) return false;
  const numbers = load<u32>(run, RUN_NUMBERS) as usize;
  for (let n: u32 = 0, count = valuesOf(entry); n < count; n++) store<u32>(numbers + (n << 2), n);
  return true;
}

/** True if the numbers of a block, which are unpacked, stand for ordinals below `ordinals`. */
export function areOrdinals(run: usize, block: u32, ordinals: u32): bool {
  const entry = (load<u32>(run, RUN_INDEX) as usize) + block * COLUMN_ENTRY_BYTES;
  const first = load<i64>(entry, COLUMN_BASE);
  const most = largest(load<u32>(run, RUN_NUMBERS) as usize, valuesOf(entry));
  const highest = <f64>first + <f64>most * load<f64>(entry, COLUMN_STEP);
  return first >= 0 && <f64>first < <f64>ordinals && highest >= 0 && highest < <f64>ordinals;
}
