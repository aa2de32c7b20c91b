/**
 * Values of one column, summed by the ordinals of another. All addresses come from the host; no state is kept between
 * calls. The twin is columns/column-sums.ts.
 */

import { chooseInBlock } from "./choose";
import { docsOf, isEmpty, MODE_EMPTY, presenceOf } from "./column";
import {
  COLUMN_BASE,
  COLUMN_DOCS,
  COLUMN_ENTRY_BYTES,
  COLUMN_MODE,
  COLUMN_STEP,
  MASK_BYTES,
  RUN_BLOCKS,
  RUN_INDEX,
  RUN_IS_UNSIGNED,
  RUN_NUMBERS,
  SUM_BYTES,
  SUM_COUNT,
  SUM_MAX,
  SUM_MIN,
  SUM_SQUARES,
  SUM_TOTAL,
} from "./layout";
import { areOrdinals, unpackPlain } from "./ordinals";

/** Adds a value to a sum. */
@inline
function addValue(sum: usize, value: f64): void {
  store<f64>(sum, load<f64>(sum, SUM_COUNT) + 1, SUM_COUNT);
  store<f64>(sum, load<f64>(sum, SUM_TOTAL) + value, SUM_TOTAL);
  store<f64>(sum, load<f64>(sum, SUM_SQUARES) + value * value, SUM_SQUARES);
  if (value < load<f64>(sum, SUM_MIN)) store<f64>(sum, value, SUM_MIN);
  if (value > load<f64>(sum, SUM_MAX)) store<f64>(sum, value, SUM_MAX);
}

/** The number that each value of a block adds its steps to. */
@inline
function baseOf(run: usize, entry: usize): f64 {
  return load<u32>(run, RUN_IS_UNSIGNED) !== 0
    ? <f64>load<u64>(entry, COLUMN_BASE)
    : <f64>load<i64>(entry, COLUMN_BASE);
}

/** Adds the values of one block's documents to the sums of their ordinals. */
function sumBlock(by: usize, run: usize, block: u32, mask: usize, ordinals: u32, sums: usize): void {
  const byEntry = (load<u32>(by, RUN_INDEX) as usize) + block * COLUMN_ENTRY_BYTES;
  const entry = (load<u32>(run, RUN_INDEX) as usize) + block * COLUMN_ENTRY_BYTES;
  const first = <u32>load<i64>(byEntry, COLUMN_BASE);
  const groups = load<u32>(by, RUN_NUMBERS) as usize;
  const stride = <u32>(<i32>load<f64>(byEntry, COLUMN_STEP));
  const base = baseOf(run, entry);
  const step = load<f64>(entry, COLUMN_STEP);
  const numbers = load<u32>(run, RUN_NUMBERS) as usize;
  const grouped = presenceOf(by, block);
  const present = presenceOf(run, block);
  const docs = docsOf(run, block);
  let groupRank: u32 = 0;
  let rank: u32 = 0;
  for (let from: u32 = 0; from < docs; from += 32) {
    const at = <usize>(from >>> 3);
    const all: u32 = docs - from < 32 ? (1 << (docs - from)) - 1 : 0xffffffff;
    const haveGroup = grouped === 0 ? all : load<u32>(grouped + at);
    const have = present === 0 ? all : load<u32>(present + at);
    let bits = haveGroup & have & (mask === 0 ? all : load<u32>(mask + at));
    while (bits !== 0) {
      const lowest = bits & -bits;
      const group = first + load<u32>(groups + ((groupRank + popcnt(haveGroup & (lowest - 1))) << 2)) * stride;
      const number = load<u32>(numbers + ((rank + popcnt(have & (lowest - 1))) << 2));
      // What is after the block's numbers belongs to others; only damage leads there.
      if (group < ordinals) addValue(sums + <usize>group * SUM_BYTES, base + <f64>number * step);
      bits ^= lowest;
    }
    groupRank += popcnt(haveGroup);
    rank += popcnt(have);
  }
}

/**
 * Like `sumBlock`, by the slots of ordinals. The documents are chosen first, in `workspace` for twice as many numbers as
 * a block has documents, and two more.
 */
function sumChosen(
  by: usize,
  run: usize,
  block: u32,
  mask: usize,
  ordinals: u32,
  slots: usize,
  marks: usize,
  workspace: usize,
  sums: usize,
): void {
  const chosen = workspace + 4 * (COLUMN_DOCS + 1);
  const count = chooseInBlock(by, block, mask, ordinals, marks, 0, workspace, chosen);
  const entry = (load<u32>(run, RUN_INDEX) as usize) + block * COLUMN_ENTRY_BYTES;
  const base = baseOf(run, entry);
  const step = load<f64>(entry, COLUMN_STEP);
  const numbers = load<u32>(run, RUN_NUMBERS) as usize;
  const present = presenceOf(run, block);
  let word: u32 = 0;
  let rank: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    let position = load<u32>(workspace + (index << 2));
    if (present !== 0) {
      for (; word < position >>> 5; word++) rank += popcnt(load<u32>(present + (word << 2)));
      const have = load<u32>(present + (word << 2));
      const bit: u32 = 1 << (position & 31);
      if ((have & bit) === 0) continue;
      position = rank + popcnt(have & (bit - 1));
    }
    const slot = load<u32>(slots + (<usize>load<u32>(chosen + (index << 2)) << 2)) as usize;
    addValue(sums + slot * SUM_BYTES, base + <f64>load<u32>(numbers + (position << 2)) * step);
  }
}

/**
 * Adds the values of a run's documents, whole numbers, to the sums at `sums` (see SUM_… in layout.ts) by their ordinals, which
 * are those of `by`, the same blocks of another column, and below `ordinals`: of all documents, or of those in `words` (32
 * words a block; 0: all). `slots`: which sum each ordinal has, i32, below 0 for none, and `marks` those that have one; 0: each
 * has its own, and `workspace` (see sumChosen) isn't needed. Begins with block `first` and returns the first one that the twin has to
 * do, or the number of blocks.
 */
export function sumBlocks(
  by: usize,
  run: usize,
  first: u32,
  words: usize,
  ordinals: u32,
  slots: usize,
  marks: usize,
  workspace: usize,
  sums: usize,
): u32 {
  const blocks = load<u32>(run, RUN_BLOCKS);
  for (let block = first; block < blocks; block++) {
    const mask: usize = words === 0 ? 0 : words + block * MASK_BYTES;
    if (mask !== 0 && isEmpty(mask)) continue;
    const offset = COLUMN_MODE + block * COLUMN_ENTRY_BYTES;
    if (<u32>load<u8>((load<u32>(by, RUN_INDEX) as usize) + offset) === MODE_EMPTY) continue;
    if (<u32>load<u8>((load<u32>(run, RUN_INDEX) as usize) + offset) === MODE_EMPTY) continue;
    if (!unpackPlain(by, block) || !areOrdinals(by, block, ordinals)) return block;
    if (!unpackPlain(run, block)) return block;
    if (slots === 0) sumBlock(by, run, block, mask, ordinals, sums);
    else sumChosen(by, run, block, mask, ordinals, slots, marks, workspace, sums);
  }
  return blocks;
}
