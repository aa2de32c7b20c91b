/**
 * Runs of blocks of columns, counted by value, the values of one column summed by those of another, and documents chosen by
 * their value. All places are the host's; nothing outlives a call. The twins are columns/block-column.ts
 * and columns/column-sums.ts.
 */

import {
  docsOf,
  isEmpty,
  isPlain,
  MODE_EMPTY,
  MODE_LINEAR,
  MODE_PACKED,
  presenceOf,
  unpackBlock,
  valuesOf,
} from "./column";
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

/** Largest of `count` numbers. What lies after them is overwritten. */
function largest(numbers: usize, count: u32): u32 {
  for (let at = count; (at & 3) !== 0; at++) store<u32>(numbers + (at << 2), 0);
  let most = i32x4.splat(0);
  for (let at: u32 = 0; at < count; at += 4) most = i32x4.max_u(most, v128.load(numbers + (at << 2)));
  const pairs = max(<u32>i32x4.extract_lane(most, 0), <u32>i32x4.extract_lane(most, 1));
  return max(pairs, max(<u32>i32x4.extract_lane(most, 2), <u32>i32x4.extract_lane(most, 3)));
}

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
    const mode = <u32>load<u8>(entry, COLUMN_MODE);
    const mask: usize = words === 0 ? 0 : words + block * MASK_BYTES;
    if (mode === MODE_EMPTY || (mask !== 0 && isEmpty(mask))) continue;
    if (!isPlain(run, entry, block) || (mode !== MODE_PACKED && mode !== MODE_LINEAR)) return block;
    const count = valuesOf(entry);
    if (mode === MODE_LINEAR) for (let n: u32 = 0; n < count; n++) store<u32>(numbers + (n << 2), n);
    else if (!unpackBlock(run, entry)) return block;
    const lowest = load<i64>(entry, COLUMN_BASE);
    const step = load<f64>(entry, COLUMN_STEP);
    const highest = <f64>lowest + <f64>largest(numbers, count) * step;
    if (!(lowest >= 0 && <f64>lowest < <f64>values && highest >= 0 && highest < <f64>values)) return block;
    const base = <u32>lowest;
    const width = <u32>(<i32>step);
    if (mask === 0) countAll(numbers, count, base, width, table, stride);
    else countSome(numbers, base, width, mask, presenceOf(run, block), table, stride);
  }
  return blocks;
}

/**
 * Unpacks a block of at most one value a document to the run's room, as numbers n of which base + n * step is the
 * value; false if the twin has to read it.
 */
function unpackPlain(run: usize, block: u32): bool {
  const entry = (load<u32>(run, RUN_INDEX) as usize) + block * COLUMN_ENTRY_BYTES;
  const mode = <u32>load<u8>(entry, COLUMN_MODE);
  if (!isPlain(run, entry, block)) return false;
  if (mode === MODE_PACKED) return unpackBlock(run, entry);
  if (mode !== MODE_LINEAR) return false;
  const numbers = load<u32>(run, RUN_NUMBERS) as usize;
  for (let n: u32 = 0, count = valuesOf(entry); n < count; n++) store<u32>(numbers + (n << 2), n);
  return true;
}

/** Adds a value to a sum. */
@inline
function addValue(sum: usize, value: f64): void {
  store<f64>(sum, load<f64>(sum, SUM_COUNT) + 1, SUM_COUNT);
  store<f64>(sum, load<f64>(sum, SUM_TOTAL) + value, SUM_TOTAL);
  store<f64>(sum, load<f64>(sum, SUM_SQUARES) + value * value, SUM_SQUARES);
  if (value < load<f64>(sum, SUM_MIN)) store<f64>(sum, value, SUM_MIN);
  if (value > load<f64>(sum, SUM_MAX)) store<f64>(sum, value, SUM_MAX);
}

/** True if the numbers of a block, which are unpacked, stand for ordinals below `ordinals`. */
function areOrdinals(by: usize, block: u32, ordinals: u32): bool {
  const entry = (load<u32>(by, RUN_INDEX) as usize) + block * COLUMN_ENTRY_BYTES;
  const first = load<i64>(entry, COLUMN_BASE);
  const most = largest(load<u32>(by, RUN_NUMBERS) as usize, valuesOf(entry));
  const highest = <f64>first + <f64>most * load<f64>(entry, COLUMN_STEP);
  return first >= 0 && <f64>first < <f64>ordinals && highest >= 0 && highest < <f64>ordinals;
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
      // What stands after the block's numbers is of others; only damage leads there.
      if (group < ordinals) addValue(sums + <usize>group * SUM_BYTES, base + <f64>number * step);
      bits ^= lowest;
    }
    groupRank += popcnt(haveGroup);
    rank += popcnt(have);
  }
}

/**
 * Writes to the bits at `marks`, of whole words, which of the `ordinals` i32 at `slots` are 0 or more. Those after the last
 * one, up to a whole word, are read too.
 */
export function markSlots(slots: usize, ordinals: u32, marks: usize): void {
  for (let from: u32 = 0; from < ordinals; from += 32) {
    let negative: u32 = 0;
    for (let lane: u32 = 0; lane < 32; lane += 4)
      negative |= <u32>i32x4.bitmask(v128.load(slots + (<usize>(from + lane) << 2))) << lane;
    store<u32>(marks + (<usize>from >>> 3), ~negative);
  }
}

/** 1 for an ordinal that is marked, else 0. */
@inline
function isMarked(marks: usize, ordinal: u32): usize {
  return <usize>((load<u32>(marks + (<usize>(ordinal >>> 5) << 2)) >>> (ordinal & 31)) & 1);
}

/**
 * Writes the documents of one block whose ordinal is marked to `docs`, as numbers from `base` on, and their ordinals to
 * `chosen`; returns how many. Written without branches on the marks, which can't be predicted: a document that isn't wanted
 * is overwritten by the next one.
 */
function chooseInBlock(
  run: usize,
  block: u32,
  mask: usize,
  ordinals: u32,
  marks: usize,
  base: u32,
  docs: usize,
  chosen: usize,
): u32 {
  const entry = (load<u32>(run, RUN_INDEX) as usize) + block * COLUMN_ENTRY_BYTES;
  const first = <u32>load<i64>(entry, COLUMN_BASE);
  const stride = <u32>(<i32>load<f64>(entry, COLUMN_STEP));
  const numbers = load<u32>(run, RUN_NUMBERS) as usize;
  const present = presenceOf(run, block);
  const length = docsOf(run, block);
  let at: usize = 0;
  let rank: u32 = 0;
  for (let from: u32 = 0; from < length; from += 32) {
    const all: u32 = length - from < 32 ? (1 << (length - from)) - 1 : 0xffffffff;
    const have = present === 0 ? all : load<u32>(present + <usize>(from >>> 3));
    let bits = have & (mask === 0 ? all : load<u32>(mask + <usize>(from >>> 3)));
    if (bits === 0xffffffff) {
      // Fast path: all have a value and are wanted.
      for (let each: u32 = 0; each < 32; each++) {
        const ordinal = min(first + load<u32>(numbers + ((rank + each) << 2)) * stride, ordinals - 1);
        store<u32>(docs + at, base + from + each);
        store<u32>(chosen + at, ordinal);
        at += isMarked(marks, ordinal) << 2;
      }
      bits = 0;
    }
    while (bits !== 0) {
      const lowest = bits & -bits;
      // What stands after the block's numbers is of others; only damage leads there.
      const ordinal = min(first + load<u32>(numbers + ((rank + popcnt(have & (lowest - 1))) << 2)) * stride, ordinals - 1);
      store<u32>(docs + at, base + from + ctz(lowest));
      store<u32>(chosen + at, ordinal);
      at += isMarked(marks, ordinal) << 2;
      bits ^= lowest;
    }
    rank += popcnt(have);
  }
  return <u32>at >>> 2;
}

/**
 * Like `sumBlock`, by the slots of ordinals. The documents are chosen first, in `room` for twice as many numbers as
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
  room: usize,
  sums: usize,
): void {
  const chosen = room + 4 * (COLUMN_DOCS + 1);
  const count = chooseInBlock(by, block, mask, ordinals, marks, 0, room, chosen);
  const entry = (load<u32>(run, RUN_INDEX) as usize) + block * COLUMN_ENTRY_BYTES;
  const base = baseOf(run, entry);
  const step = load<f64>(entry, COLUMN_STEP);
  const numbers = load<u32>(run, RUN_NUMBERS) as usize;
  const present = presenceOf(run, block);
  let word: u32 = 0;
  let rank: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    let place = load<u32>(room + (index << 2));
    if (present !== 0) {
      for (; word < place >>> 5; word++) rank += popcnt(load<u32>(present + (word << 2)));
      const have = load<u32>(present + (word << 2));
      const bit: u32 = 1 << (place & 31);
      if ((have & bit) === 0) continue;
      place = rank + popcnt(have & (bit - 1));
    }
    const slot = load<u32>(slots + (<usize>load<u32>(chosen + (index << 2)) << 2)) as usize;
    addValue(sums + slot * SUM_BYTES, base + <f64>load<u32>(numbers + (place << 2)) * step);
  }
}

/**
 * Adds the values of a run's documents, whole numbers, to the sums at `sums` (see SUM_… in layout.ts) by their ordinals, which
 * are those of `by`, the same blocks of another column, and below `ordinals`: of all documents, or of those in `words` (32
 * words a block; 0: all). `slots`: which sum each ordinal has, i32, below 0 for none, and `marks` those that have
 * one; 0: each has its own, and `room` (see sumChosen) isn't needed. Begins with block `first` and returns the first one that the twin has to do, or the
 * number of blocks.
 */
export function sumBlocks(
  by: usize,
  run: usize,
  first: u32,
  words: usize,
  ordinals: u32,
  slots: usize,
  marks: usize,
  room: usize,
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
    else sumChosen(by, run, block, mask, ordinals, slots, marks, room, sums);
  }
  return blocks;
}

/**
 * Writes the documents of a run whose ordinal is marked (see markSlots) to `docs`, as numbers from the first document of the run
 * on, and their slots to `chosen`: u32 and i32, with memory for one document more than the run has. Ordinals are below
 * `ordinals`, which isn't 0. `words`: see countBlocks. Returns how many there are, or -1 if the twin has to do the run.
 */
export function chooseBlocks(
  run: usize,
  words: usize,
  ordinals: u32,
  slots: usize,
  marks: usize,
  docs: usize,
  chosen: usize,
): i32 {
  const blocks = load<u32>(run, RUN_BLOCKS);
  let count: u32 = 0;
  for (let block: u32 = 0; block < blocks; block++) {
    const mask: usize = words === 0 ? 0 : words + block * MASK_BYTES;
    if (mask !== 0 && isEmpty(mask)) continue;
    const offset = COLUMN_MODE + block * COLUMN_ENTRY_BYTES;
    if (<u32>load<u8>((load<u32>(run, RUN_INDEX) as usize) + offset) === MODE_EMPTY) continue;
    if (!unpackPlain(run, block) || !areOrdinals(run, block, ordinals)) return -1;
    const at = <usize>count << 2;
    count += chooseInBlock(run, block, mask, ordinals, marks, block * COLUMN_DOCS, docs + at, chosen + at);
  }
  for (let index: u32 = 0; index < count; index++) {
    const at = chosen + (<usize>index << 2);
    store<u32>(at, load<u32>(slots + (<usize>load<u32>(at) << 2)));
  }
  return <i32>count;
}
