/**
 * Runs of blocks of columns, counted by value. All addresses come from the host; no state is kept between calls. The
 * twin is columns/block-column.ts.
 */

import { isEmpty, MODE_EMPTY, presenceOf, valuesOf } from "./column";
import {
  COLUMN_BASE,
  COLUMN_ENTRY_BYTES,
  COLUMN_MODE,
  COLUMN_STEP,
  MASK_BYTES,
  RUN_BLOCKS,
  RUN_INDEX,
  RUN_NUMBERS,
} from "./layout";
import { areOrdinals, unpackPlain } from "./ordinals";

/** Adds one to the u32 number base + n * step of a table. */
@inline
function addOne(numbers: usize, index: u32, base: u32, step: u32, table: usize): void {
  const at = table + ((base + load<u32>(numbers + (index << 2)) * step) << 2);
  store<u32>(at, load<u32>(at) + 1);
}

/** Counts `count` numbers into four tables in turn: neighbours of equal value don't wait for each other then. */
function countAll(numbers: usize, count: u32, base: u32, step: u32, table: usize, stride: usize): void {
  let index: u32 = 0;
  for (; index + 4 <= count; index += 4) {
    addOne(numbers, index, base, step, table);
    addOne(numbers, index + 1, base, step, table + stride);
    addOne(numbers, index + 2, base, step, table + 2 * stride);
    addOne(numbers, index + 3, base, step, table + 3 * stride);
  }
  for (; index < count; index++) addOne(numbers, index, base, step, table);
}

/** Counts the numbers of the documents in the 32 words at `mask`; `presence`: those that have one, 0 for all. */
function countSome(
  numbers: usize,
  base: u32,
  step: u32,
  mask: usize,
  presence: usize,
  table: usize,
  stride: usize,
): void {
  let rank: u32 = 0;
  let lane: usize = 0;
  for (let word: u32 = 0; word < 32; word++) {
    const present = presence === 0 ? 0xffffffff : load<u32>(presence + (word << 2));
    let bits = load<u32>(mask + (word << 2)) & present;
    while (bits !== 0) {
      const lowest = bits & -bits;
      addOne(numbers, rank + popcnt(present & (lowest - 1)), base, step, table + (lane & 3) * stride);
      lane++;
      bits ^= lowest;
    }
    rank += popcnt(present);
  }
}

/**
 * Adds one to number v of the u32 at `table` for each value v of the run's documents: of all, or of those in `words`
 * (32 words a block; 0: all). Values are whole numbers below `values`. `stride`: bytes from one of four tables to the
 * next, 0 if there is only one. Begins with block `first` and returns the first one that the twin has to do, or the
 * number of blocks.
 */
export function countBlocks(
  run: usize,
  first: u32,
  words: usize,
  values: u32,
  table: usize,
  stride: usize,
): u32 {
  const blocks = load<u32>(run, RUN_BLOCKS);
  const numbers = load<u32>(run, RUN_NUMBERS) as usize;
  for (let block = first; block < blocks; block++) {
    const entry = (load<u32>(run, RUN_INDEX) as usize) + block * COLUMN_ENTRY_BYTES;
    const mask: usize = words === 0 ? 0 : words + block * MASK_BYTES;
    if (<u32>load<u8>(entry, COLUMN_MODE) === MODE_EMPTY || (mask !== 0 && isEmpty(mask))) continue;
    if (!unpackPlain(run, block) || !areOrdinals(run, block, values)) return block;
    const count = valuesOf(entry);
    const base = <u32>load<i64>(entry, COLUMN_BASE);
    const width = <u32>(<i32>load<f64>(entry, COLUMN_STEP));
    if (mask === 0) countAll(numbers, count, base, width, table, stride);
    else countSome(numbers, base, width, mask, presenceOf(run, block), table, stride);
  }
  return blocks;
}
