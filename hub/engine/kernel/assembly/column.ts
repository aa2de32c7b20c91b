/**
 * Blocks of columns: unpacked, compared with bounds. Runs of blocks are done by one call. All addresses come from the
 * host; no state is kept between calls. The twin is columns/block-column.ts.
 */

import {
  COLUMN_DOCS,
  COLUMN_BASE,
  COLUMN_BITS,
  COLUMN_COUNT_BITS,
  COLUMN_DATA_AT,
  COLUMN_FIRST_VALUE,
  COLUMN_MAX,
  COLUMN_MIN,
  COLUMN_MODE,
  COLUMN_STEP,
  GROUP,
  COLUMN_ENTRY_BYTES,
  MASK_BYTES,
  RUN_BLOCKS,
  RUN_DATA,
  RUN_DATA_BYTES,
  RUN_DATA_FROM,
  RUN_DOCS,
  RUN_INDEX,
  RUN_IS_UNSIGNED,
  RUN_NUMBERS,
  RUN_PRESENCE,
  RUN_ROOM,
} from "./layout";
import { unpackGroup } from "./packing";

export const MODE_EMPTY: u32 = 0;
export const MODE_LINEAR: u32 = 1;
export const MODE_PACKED: u32 = 2;
const MODE_DECIMAL: u32 = 4;

/** Largest packed number. */
const MAX_NUMBER: f64 = 4294967295;

/** Unpacks `count` numbers of at most 32 bits as `packNumbers` wrote them to the u32 at `out`. */
export function unpackNumbers(data: usize, count: u32, bits: u32, out: usize): void {
  let at = data;
  let done: u32 = 0;
  for (; done + GROUP <= count; done += GROUP) {
    unpackGroup(at, bits, out + (done << 2));
    at += 16 * bits;
  }
  const width = (bits + 7) >>> 3;
  const mask: u32 = width === 4 ? 0xffffffff : (1 << (8 * width)) - 1;
  for (; done < count; done++) {
    store<u32>(out + (done << 2), width === 0 ? 0 : load<u32>(at) & mask);
    at += width;
  }
}

/** Writes base + n * step of the u32 at `numbers` to the f64 at `out`. */
export function toFloats(numbers: usize, count: u32, base: f64, step: f64, out: usize): void {
  const bases = f64x2.splat(base);
  const steps = f64x2.splat(step);
  for (let index: u32 = 0; index < count; index += 2) {
    const pair = f64x2.convert_low_i32x4_u(v128.load64_zero(numbers + (index << 2)));
    v128.store(out + (index << 3), f64x2.add(bases, f64x2.mul(pair, steps)));
  }
}

/** Writes (base + n) / step of the u32 at `numbers` to the f64 at `out`. */
export function toDecimals(numbers: usize, count: u32, base: f64, step: f64, out: usize): void {
  const bases = f64x2.splat(base);
  const steps = f64x2.splat(step);
  for (let index: u32 = 0; index < count; index += 2) {
    const pair = f64x2.convert_low_i32x4_u(v128.load64_zero(numbers + (index << 2)));
    v128.store(out + (index << 3), f64x2.div(f64x2.add(bases, pair), steps));
  }
}

/** Documents of a block of a run. */
export function docsOf(run: usize, block: u32): u32 {
  return min(COLUMN_DOCS as u32, load<u32>(run, RUN_DOCS) - block * COLUMN_DOCS);
}

/** Values of a block. */
export function valuesOf(entry: usize): u32 {
  return load<u32>(entry, COLUMN_ENTRY_BYTES + COLUMN_FIRST_VALUE) - load<u32>(entry, COLUMN_FIRST_VALUE);
}

/** The words of the documents of a block that have a value, 0 if all have. */
export function presenceOf(run: usize, block: u32): usize {
  const presence = load<u32>(run, RUN_PRESENCE) as usize;
  return presence === 0 ? 0 : presence + block * MASK_BYTES;
}

function baseOf(run: usize, entry: usize): f64 {
  if (load<u8>(entry, COLUMN_MODE) === MODE_DECIMAL) return load<f64>(entry, COLUMN_BASE);
  return load<u32>(run, RUN_IS_UNSIGNED) !== 0
    ? (load<u64>(entry, COLUMN_BASE) as f64)
    : (load<i64>(entry, COLUMN_BASE) as f64);
}

/** True where a block has at most one value per document, as many as documents that have one. */
export function isPlain(run: usize, entry: usize, block: u32): bool {
  const values = valuesOf(entry);
  if (load<u8>(entry, COLUMN_COUNT_BITS) !== 0 || values > (COLUMN_DOCS as u32)) return false;
  return load<u32>(run, RUN_PRESENCE) !== 0 || values === docsOf(run, block);
}

/** Unpacks a block of packed numbers; false if the twin has to read it, or its bytes lead outside. */
export function unpackBlock(run: usize, entry: usize): bool {
  const bits = <u32>load<u8>(entry, COLUMN_BITS);
  const count = valuesOf(entry);
  if (bits > 32 || !(load<f64>(entry, COLUMN_STEP) > 0)) return false;
  const groups = count / GROUP;
  const sizeBytes = groups * 16 * bits + (count - groups * GROUP) * ((bits + 7) >>> 3);
  const dataFrom = load<u32>(run, RUN_DATA_FROM);
  const from = load<u32>(entry, COLUMN_DATA_AT);
  if (from < dataFrom || <u64>from - dataFrom + sizeBytes > <u64>load<u32>(run, RUN_DATA_BYTES)) return false;
  unpackNumbers(
    (load<u32>(run, RUN_DATA) as usize) + (from - dataFrom),
    count,
    bits,
    load<u32>(run, RUN_NUMBERS),
  );
  return true;
}

/** Value that number `n` of a block stands for. */
@inline
function valueOf(base: f64, step: f64, decimal: bool, n: f64): f64 {
  return decimal ? (base + n) / step : base + n * step;
}

/** Number, with a fraction, that stands for a value. */
@inline
function numberOf(base: f64, step: f64, decimal: bool, value: f64): f64 {
  return decimal ? value * step - base : (value - base) / step;
}

/** Smallest n with value(n) >= bound; beyond MAX_NUMBER where there is none. The result may be off by rounding. */
function lowestNumber(base: f64, step: f64, decimal: bool, bound: f64): f64 {
  let n = min(max(ceil(numberOf(base, step, decimal, bound)), 0), MAX_NUMBER + 1);
  while (n > 0 && valueOf(base, step, decimal, n - 1) >= bound) n--;
  while (n <= MAX_NUMBER && valueOf(base, step, decimal, n) < bound) n++;
  return n;
}

/** Largest n with value(n) <= bound; -1 if there is none. */
function highestNumber(base: f64, step: f64, decimal: bool, bound: f64): f64 {
  let n = min(max(floor(numberOf(base, step, decimal, bound)), -1), MAX_NUMBER);
  while (n < MAX_NUMBER && valueOf(base, step, decimal, n + 1) <= bound) n++;
  while (n >= 0 && valueOf(base, step, decimal, n) > bound) n--;
  return n;
}

/** Sets bit i of `mask` where low <= number i <= high; all 32 words are written, bits from `count` on are 0. */
function rangeMask(numbers: usize, count: u32, low: u32, high: u32, mask: usize): void {
  const lows = i32x4.splat(low);
  const spans = i32x4.splat(high - low);
  memory.fill(mask, 0, MASK_BYTES);
  for (let from: u32 = 0; from < count; from += 32) {
    let word: u32 = 0;
    for (let part: u32 = 0; part < 32; part += 4) {
      const values = v128.load(numbers + ((from + part) << 2));
      word |= i32x4.bitmask(i32x4.le_u(i32x4.sub(values, lows), spans)) << part;
    }
    if (count - from < 32) word &= (1 << (count - from)) - 1;
    store<u32>(mask + (from >>> 3), word);
  }
}

/**
 * Moves bit i of the 32 words at `mask` to the position of the i-th bit set of those at `presence`. `workspace` has 32 words
 * and two more.
 */
function spreadMask(mask: usize, presence: usize, workspace: usize): void {
  memory.copy(workspace, mask, MASK_BYTES);
  let index: u32 = 0;
  for (let at: usize = 0; at < (MASK_BYTES as usize); at += 4) {
    let present = load<u32>(presence + at);
    const count = <u32>popcnt(present);
    let bits = (load<u64>(workspace + ((index >>> 5) << 2)) >>> (index & 31)) & (((<u64>1) << count) - 1);
    index += count;
    let word: u32 = 0;
    // Mostly a few documents are requested, and whole words have none.
    while (bits !== 0) {
      const lowest = present & -present;
      if ((bits & 1) !== 0) word |= lowest;
      present ^= lowest;
      bits >>>= 1;
    }
    store<u32>(mask + at, word);
  }
}

/** Sets the bits of all documents of a block that have a value. */
function presentMask(run: usize, block: u32, mask: usize): void {
  const presence = presenceOf(run, block);
  if (presence !== 0) {
    memory.copy(mask, presence, MASK_BYTES);
    return;
  }
  const docs = docsOf(run, block);
  memory.fill(mask, 0, MASK_BYTES);
  memory.fill(mask, 0xff, docs >>> 3);
  if ((docs & 7) !== 0) store<u8>(mask + (docs >>> 3), <u8>((<u32>1 << (docs & 7)) - 1));
}

/** Writes to the 32 words at `mask` which documents of a block have a value in [from, to]; false: the twin has to. */
function matchBlock(run: usize, block: u32, from: f64, to: f64, mask: usize): bool {
  const entry = (load<u32>(run, RUN_INDEX) as usize) + block * COLUMN_ENTRY_BYTES;
  const lowest = load<f64>(entry, COLUMN_MIN);
  const highest = load<f64>(entry, COLUMN_MAX);
  if (!(lowest <= to && highest >= from)) {
    memory.fill(mask, 0, MASK_BYTES);
    return true;
  }
  if (lowest >= from && highest <= to) {
    presentMask(run, block, mask);
    return true;
  }
  const mode = <u32>load<u8>(entry, COLUMN_MODE);
  if ((mode !== MODE_PACKED && mode !== MODE_DECIMAL) || !isPlain(run, entry, block)) return false;
  if (!unpackBlock(run, entry)) return false;
  const base = baseOf(run, entry);
  const step = load<f64>(entry, COLUMN_STEP);
  const low = lowestNumber(base, step, mode === MODE_DECIMAL, from);
  const high = highestNumber(base, step, mode === MODE_DECIMAL, to);
  if (low > high) {
    memory.fill(mask, 0, MASK_BYTES);
    return true;
  }
  rangeMask(load<u32>(run, RUN_NUMBERS), valuesOf(entry), <u32>low, <u32>high, mask);
  const presence = presenceOf(run, block);
  if (presence !== 0) spreadMask(mask, presence, (load<u32>(run, RUN_ROOM) as usize) + MASK_BYTES);
  return true;
}

export function isEmpty(mask: usize): bool {
  let any: u64 = 0;
  for (let at: usize = 0; at < (MASK_BYTES as usize); at += 8) any |= load<u64>(mask + at);
  return any === 0;
}

/**
 * Writes to `words` (32 words a block) which documents have a value in [from, to]; `narrow`: those not in `words` before
 * aren't looked at and stay out. Begins with block `first` of the run and returns the first one that the twin has to do,
 * or the number of blocks.
 */
export function matchBlocks(run: usize, first: u32, from: f64, to: f64, narrow: u32, words: usize): u32 {
  const blocks = load<u32>(run, RUN_BLOCKS);
  const workspace = load<u32>(run, RUN_ROOM) as usize;
  for (let block = first; block < blocks; block++) {
    const out = words + block * MASK_BYTES;
    if (narrow === 0) {
      if (!matchBlock(run, block, from, to, out)) return block;
      continue;
    }
    if (isEmpty(out)) continue;
    if (!matchBlock(run, block, from, to, workspace)) return block;
    for (let at: usize = 0; at < (MASK_BYTES as usize); at += 16)
      v128.store(out + at, v128.and(v128.load(out + at), v128.load(workspace + at)));
  }
  return blocks;
}
