/**
 * Writes the values of one column: blocks of 1024 documents, each as few bits as its values need, with its smallest and
 * largest value in an index. Grammar: README.md.
 */

import { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import { bitsOf, packNumbers } from "#hub/engine/encoding/bit-packing.ts";
import type { Extent, SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import { COLUMN_BLOCK } from "#hub/engine/searcher/searcher.ts";

/** Decimal places that are tried to make doubles whole. */
const DECIMAL_SCALES = [1, 10, 100, 1000, 10_000, 1e5, 1e6];

/** Bytes of a block in the index. */
export const BLOCK_ENTRY_BYTES = 48;

/** How the values of a block are written. */
export const MODE_EMPTY = 0;
/** base + index * step, no data. */
export const MODE_LINEAR = 1;
/** base + packed * step. */
export const MODE_PACKED = 2;
/** 8 bytes each: i64, u64 or f64 by the column's kind. */
export const MODE_RAW = 3;
/** (base + packed) / step, for doubles that are decimals. */
export const MODE_DECIMAL = 4;

/** What decides how 8 bytes are read. */
export type ColumnNumbers = "signed" | "unsigned" | "float";

export interface ColumnEntry {
  readonly numbers: ColumnNumbers;
  readonly valueCount: number;
  readonly multiValued: boolean;
  /** All values are exact as numbers. */
  readonly safe: boolean;
  readonly min: number;
  readonly max: number;
  readonly index: Extent;
  readonly data: Extent;
}

/** Values with their documents; `docs` ascending, a document's values next to each other in the order to be kept. */
export interface ColumnValues {
  readonly docs: Int32Array | Uint32Array;
  /** Numbers, or exact whole numbers where some are beyond 2^53. */
  readonly values: Float64Array | readonly bigint[];
  readonly count: number;
  /** No document has more than one value, as the caller knows. */
  readonly isSingle?: boolean;
}

/** Widest packed value. */
const MAX_BITS = 53;

const counts = new Float64Array(COLUMN_BLOCK);
const view = new DataView(new ArrayBuffer(8));

/** Writes a column over `docCount` documents and returns its entry for the directory. */
export function writeColumn(
  file: SegmentFileWriter,
  input: ColumnValues,
  docCount: number,
  numbers: ColumnNumbers,
): ColumnEntry {
  const { docs, values, count, isSingle = false } = input;
  const blocks = new ColumnBlocks(file, docCount, numbers);
  let from = 0;
  for (let firstDoc = 0; firstDoc < docCount; firstDoc += COLUMN_BLOCK) {
    let to = from;
    while (to < count && docs[to]! < firstDoc + COLUMN_BLOCK) to++;
    blocks.add(isSingle ? null : docs, values, from, to);
    from = to;
  }
  return blocks.finish();
}

/** Bytes of blocks that are written together. */
const WRITTEN_BYTES = 64 * 1024;

/**
 * Writes the blocks of a column, each of the next 1024 documents, as they come. Nothing else may be written to the file from
 * the first block until `finish`.
 */
export class ColumnBlocks {
  readonly #file: SegmentFileWriter;
  readonly #numbers: ColumnNumbers;
  /** Length of the file at the start. */
  readonly #start: number;
  /** Blocks that aren't written yet. */
  readonly #data = new ByteBuffer(WRITTEN_BYTES / 16);
  readonly #index: ByteBuffer;
  #valueCount = 0;
  #multiValued = false;
  #isSafe = true;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  constructor(file: SegmentFileWriter, docCount: number, numbers: ColumnNumbers) {
    this.#file = file;
    this.#start = file.length;
    this.#numbers = numbers;
    this.#index = new ByteBuffer(Math.ceil(docCount / COLUMN_BLOCK) * BLOCK_ENTRY_BYTES);
  }

  /** Values so far. */
  get valueCount(): number {
    return this.#valueCount;
  }

  /** Adds the block of values[from..to), whose documents are `docs`; null if none of these has several values. */
  add(docs: ColumnValues["docs"] | null, values: ColumnValues["values"], from: number, to: number): void {
    const data = this.#data;
    const block = {
      dataAt: this.#file.length - this.#start + data.length,
      firstValue: this.#valueCount,
      min: 0,
      max: 0,
      mode: MODE_EMPTY,
      bits: 0,
      countBits: 0,
      base: 0n,
      step: 1,
    };
    block.countBits = docs === null ? 0 : writeCounts(docs, from, to, data);
    this.#multiValued ||= block.countBits > 0;
    if (to > from) {
      const isSafe = writeValues(values, from, to, block, this.#numbers, data);
      this.#isSafe &&= isSafe;
      this.#min = Math.min(this.#min, block.min);
      this.#max = Math.max(this.#max, block.max);
    }
    writeEntry(this.#index, block, to > from, this.#numbers);
    this.#valueCount += to - from;
    if (data.length >= WRITTEN_BYTES) this.#write();
  }

  /** Writes the rest and returns the column's entry. */
  finish(): ColumnEntry {
    this.#write();
    const data: Extent = [this.#start, this.#file.length - this.#start];
    const isEmpty = this.#valueCount === 0;
    return {
      numbers: this.#numbers,
      valueCount: this.#valueCount,
      multiValued: this.#multiValued,
      safe: this.#isSafe,
      min: isEmpty ? 0 : this.#min,
      max: isEmpty ? 0 : this.#max,
      index: this.#file.write(this.#index.view()),
      data,
    };
  }

  #write(): void {
    this.#file.write(this.#data.view());
    this.#data.clear();
  }
}

interface Block {
  readonly dataAt: number;
  /** Values of the column before it. */
  readonly firstValue: number;
  min: number;
  max: number;
  mode: number;
  bits: number;
  countBits: number;
  /** For doubles: the number's bits are written. */
  base: bigint | number;
  step: number;
}

/** Values per document less one, where some document has more than one; returns the bits of each, 0 for none. */
function writeCounts(docs: Int32Array | Uint32Array, from: number, to: number, data: ByteBuffer): number {
  let owners = 0;
  let most = 0;
  for (let at = from; at < to; ) {
    let next = at + 1;
    while (next < to && docs[next] === docs[at]) next++;
    counts[owners++] = next - at - 1;
    if (next - at - 1 > most) most = next - at - 1;
    at = next;
  }
  const bits = bitsOf(most);
  if (bits > 0) packNumbers(counts, owners, bits, data);
  return bits;
}

/** Returns whether all values are exact as numbers. */
function writeValues(
  values: Float64Array | readonly bigint[],
  from: number,
  to: number,
  block: Block,
  numbers: ColumnNumbers,
  data: ByteBuffer,
): boolean {
  if (!(values instanceof Float64Array)) {
    const exact = values.slice(from, to);
    writeExact(exact, block, numbers, data);
    return exact.every((value) => Number.isSafeInteger(Number(value)));
  }
  const slice = values.subarray(from, to);
  findBounds(slice, block);
  const scale = numbers === "float" ? decimalScale(slice) : 0;
  if (numbers !== "float") writeWhole(slice, block, data);
  else if (scale === 0) writeRaw(slice, block, data);
  else writeDecimal(slice, block, scale, data);
  return true;
}

function findBounds(values: Float64Array, block: Block): void {
  let min = values[0]!;
  let max = min;
  for (let index = 1; index < values.length; index++) {
    const value = values[index]!;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  block.min = min;
  block.max = max;
}

function writeWhole(values: Float64Array, block: Block, data: ByteBuffer): void {
  const first = values[0]!;
  const step = values.length > 1 ? values[1]! - first : 0;
  block.base = BigInt(first);
  block.step = step;
  block.mode = MODE_LINEAR;
  if (isLinear(values, step)) return;
  const range = block.max - block.min;
  if (bitsOf(range) > MAX_BITS || !Number.isSafeInteger(range)) {
    writeExact(Array.from(values, BigInt), block, "signed", data);
    return;
  }
  const divisor = commonStep(values, block.min);
  const packed = packedScratch(values.length);
  for (let index = 0; index < values.length; index++) packed[index] = (values[index]! - block.min) / divisor;
  block.mode = MODE_PACKED;
  block.base = BigInt(block.min);
  block.step = divisor;
  block.bits = bitsOf(range / divisor);
  packNumbers(packed, values.length, block.bits, data);
}

/** Whole numbers of any size: packed where their range allows, else raw. */
function writeExact(values: readonly bigint[], block: Block, numbers: ColumnNumbers, data: ByteBuffer): void {
  let min = values[0]!;
  let max = min;
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  block.min = roundedBelow(min);
  block.max = -roundedBelow(-max);
  const range = Number(max - min);
  if (range <= Number.MAX_SAFE_INTEGER) {
    const packed = packedScratch(values.length);
    values.forEach((value, index) => {
      packed[index] = Number(value - min);
    });
    block.mode = MODE_PACKED;
    block.base = min;
    block.step = 1;
    block.bits = bitsOf(range);
    packNumbers(packed, values.length, block.bits, data);
    return;
  }
  block.mode = MODE_RAW;
  for (const value of values) {
    if (numbers === "unsigned") view.setBigUint64(0, value, true);
    else view.setBigInt64(0, value, true);
    data.append(new Uint8Array(view.buffer));
  }
}

/** The number at or next below a whole number that may have more than 53 bits. */
function roundedBelow(value: bigint): number {
  const number = Number(value);
  return BigInt(number) > value ? number - Math.abs(number) * Number.EPSILON : number;
}

function writeRaw(values: Float64Array, block: Block, data: ByteBuffer): void {
  block.mode = MODE_RAW;
  data.append(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
}

function writeDecimal(values: Float64Array, block: Block, scale: number, data: ByteBuffer): void {
  const base = Math.round(block.min * scale);
  const packed = packedScratch(values.length);
  for (let index = 0; index < values.length; index++)
    packed[index] = Math.round(values[index]! * scale) - base;
  block.mode = MODE_DECIMAL;
  block.base = base;
  block.step = scale;
  block.bits = bitsOf(Math.round(block.max * scale) - base);
  packNumbers(packed, values.length, block.bits, data);
}

let scratch = new Float64Array(COLUMN_BLOCK);

/** Memory for the packed values of a block; blocks of arrays can be longer than 1024. */
function packedScratch(length: number): Float64Array {
  if (scratch.length < length) scratch = new Float64Array(length * 2);
  return scratch;
}

function writeEntry(index: ByteBuffer, block: Block, hasValues: boolean, numbers: ColumnNumbers): void {
  index.u32(block.dataAt);
  index.u32(block.firstValue);
  appendFloat(index, hasValues ? block.min : Number.POSITIVE_INFINITY);
  appendFloat(index, hasValues ? block.max : Number.NEGATIVE_INFINITY);
  if (typeof block.base === "number") view.setFloat64(0, block.base, true);
  else if (numbers === "unsigned") view.setBigUint64(0, block.base, true);
  else view.setBigInt64(0, block.base, true);
  index.append(new Uint8Array(view.buffer));
  appendFloat(index, block.step);
  for (const byte of [block.mode, block.bits, block.countBits, 0, 0, 0, 0, 0]) index.u8(byte);
}

function appendFloat(out: ByteBuffer, value: number): void {
  view.setFloat64(0, value, true);
  out.append(new Uint8Array(view.buffer));
}

/** Whether the values are at equal steps from the first. */
function isLinear(values: Float64Array, step: number): boolean {
  const first = values[0]!;
  for (let index = 1; index < values.length; index++)
    if (values[index] !== first + index * step) return false;
  return true;
}

/** Largest number that all distances from `min` are multiples of. */
function commonStep(values: Float64Array, min: number): number {
  let step = 0;
  // Once it is 1 it stays.
  for (let index = 0; index < values.length && step !== 1; index++) step = gcd(step, values[index]! - min);
  return step;
}

/** Smallest power of ten that makes all values whole and gives them back exactly; 0 if none does. */
function decimalScale(values: Float64Array): number {
  for (const scale of DECIMAL_SCALES) if (areExactAt(values, scale)) return scale;
  return 0;
}

function areExactAt(values: Float64Array, scale: number): boolean {
  for (let index = 0; index < values.length; index++) if (!isExactAt(values[index]!, scale)) return false;
  return true;
}

function isExactAt(value: number, scale: number): boolean {
  const whole = Math.round(value * scale);
  return Math.abs(whole) < 2 ** 51 && whole / scale === value && !Object.is(value, -0);
}

function gcd(a: number, b: number): number {
  let x = a;
  let y = b;
  while (y !== 0) {
    const rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}
