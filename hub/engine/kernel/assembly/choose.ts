/**
 * Documents of runs of blocks, chosen by their ordinals. All addresses come from the host; no state is kept between
 * calls. The twin is columns/block-column.ts.
 */

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
  RUN_NUMBERS,
} from "./layout";
import { areOrdinals, unpackPlain } from "./ordinals";

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
export function chooseInBlock(
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
      // What is after the block's numbers belongs to others; only damage leads there.
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
