/**
 * Reads a column (see column-writer.ts). The block used last stays decoded. Blocks of packed numbers are unpacked and
 * compared by the kernel where there is one.
 */

import { COUNTED_VALUES, type SearchKernel, searchKernel } from "../kernel/search-kernel.ts";
import { COLUMN_BLOCK, type ValueBlock } from "../searcher.ts";
import { MAX_PACKED_BITS, unpackNumbers } from "./bit-packing.ts";
import { type Bitset, popcount } from "./bitset.ts";
import { grown } from "./byte-buffer.ts";
import {
  BLOCK_ENTRY_BYTES,
  type ColumnEntry,
  MODE_DECIMAL,
  MODE_EMPTY,
  MODE_LINEAR,
  MODE_PACKED,
} from "./column-writer.ts";
import { packedBounds } from "./packed-bounds.ts";
import type { SegmentFile } from "./segment-file.ts";

/** Words of a block's mask: one bit per document. */
const MASK_WORDS = COLUMN_BLOCK / 32;

/** Numbers by document; what they mean is the business of the columns made of it. */
export class BlockColumn {
  readonly entry: ColumnEntry;
  readonly presence: Bitset | null;
  readonly blockCount: number;
  readonly #docCount: number;
  readonly #file: SegmentFile;
  readonly #index: DataView;
  readonly #kernel: SearchKernel | null;
  #block = -1;
  /** Values of that block. */
  #length = 0;
  #values = new Float64Array(COLUMN_BLOCK);
  /** Values of slot s are #values[#starts[s]..#starts[s + 1]). */
  readonly #starts = new Uint32Array(COLUMN_BLOCK + 1);
  /** True where the block loaded has one value per document that has any: starts are counted in #present. */
  #hasRanks = false;
  /** Documents with a value before each word of #present. */
  readonly #ranks = new Uint32Array(MASK_WORDS + 1);
  #counts = new Float64Array(0);
  /** The words of the block loaded, where it has ranks. */
  readonly #present = new Uint32Array(MASK_WORDS);
  /** Those of the last block, which may be short. */
  readonly #last = new Uint32Array(MASK_WORDS);

  /** `presence`: documents with a value, null for all. `kernel`: null does everything here. */
  constructor(
    file: SegmentFile,
    entry: ColumnEntry,
    docCount: number,
    presence: Bitset | null,
    kernel: SearchKernel | null = searchKernel(),
  ) {
    this.entry = entry;
    this.presence = presence;
    this.blockCount = Math.ceil(docCount / COLUMN_BLOCK);
    this.#docCount = docCount;
    this.#file = file;
    this.#kernel = kernel;
    const index = file.read(entry.index);
    this.#index = new DataView(index.buffer, index.byteOffset, index.byteLength);
  }

  blockMin(block: number): number {
    return this.#index.getFloat64(block * BLOCK_ENTRY_BYTES + 8, true);
  }

  blockMax(block: number): number {
    return this.#index.getFloat64(block * BLOCK_ENTRY_BYTES + 16, true);
  }

  /** First value of a document; NaN without one. */
  first(doc: number): number {
    this.#load(doc >>> 10);
    const slot = doc & (COLUMN_BLOCK - 1);
    const start = this.#start(slot);
    return start < this.#start(slot + 1) ? this.#values[start]! : Number.NaN;
  }

  /** Writes the values of a document to `out` from 0; returns how many. */
  read(doc: number, out: number[]): number {
    this.#load(doc >>> 10);
    const slot = doc & (COLUMN_BLOCK - 1);
    const start = this.#start(slot);
    const count = this.#start(slot + 1) - start;
    for (let index = 0; index < count; index++) out[index] = this.#values[start + index]!;
    return count;
  }

  /** Like `read`, without rounding beyond 2^53. */
  readExact(doc: number, out: bigint[]): number {
    const block = doc >>> 10;
    this.#load(block);
    const slot = doc & (COLUMN_BLOCK - 1);
    const start = this.#start(slot);
    const count = this.#start(slot + 1) - start;
    for (let index = 0; index < count; index++) out[index] = this.#exact(block, start + index);
    return count;
  }

  /** First value of each document of a block, `missing` where there is none. Returns the block's documents. */
  decodeFirst(block: number, out: Float64Array | Int32Array, missing: number): number {
    this.#load(block);
    const docs = this.#docsOf(block);
    if (this.#isDense) {
      for (let slot = 0; slot < docs; slot++) out[slot] = this.#values[slot]!;
    } else if (this.#hasRanks) {
      out.fill(missing, 0, docs);
      this.#eachSlot((slot, at) => {
        out[slot] = this.#values[at]!;
      });
    } else {
      const starts = this.#starts;
      for (let slot = 0; slot < docs; slot++) {
        const start = starts[slot]!;
        out[slot] = start < starts[slot + 1]! ? this.#values[start]! : missing;
      }
    }
    return docs;
  }

  /** All values of a block with the slots of their documents; returns how many. */
  decodeValues(block: number, out: ValueBlock): number {
    this.#load(block);
    const count = this.#start(this.#docsOf(block));
    out.values = grown(out.values, count);
    out.slots = grown(out.slots, count);
    out.values.set(this.#values.subarray(0, count));
    for (let slot = 0; slot < this.#docsOf(block); slot++) {
      const end = this.#start(slot + 1);
      for (let at = this.#start(slot); at < end; at++) out.slots[at] = slot;
    }
    return count;
  }

  /**
   * Writes to `mask` (32 words) which documents of a block have a value in [from, to]. Values beyond 2^53 are compared
   * as they are rounded.
   */
  match(block: number, from: number, to: number, mask: Uint32Array): void {
    mask.fill(0);
    const min = this.blockMin(block);
    const max = this.blockMax(block);
    if (!(min <= to && max >= from)) return;
    const at = block * BLOCK_ENTRY_BYTES;
    if (min >= from && max <= to) this.#copyPresence(block, mask);
    else if (this.#kernel === null || !this.#isPacked(at)) this.#matchHere(block, from, to, mask);
    else this.#matchPacked(this.#kernel, block, [from, to], mask);
  }

  #matchPacked(
    kernel: SearchKernel,
    block: number,
    [from, to]: readonly [number, number],
    mask: Uint32Array,
  ): void {
    const at = block * BLOCK_ENTRY_BYTES;
    const step = this.#index.getFloat64(at + 32, true);
    const decimal = this.#index.getUint8(at + 40) === MODE_DECIMAL;
    const base = decimal ? this.#index.getFloat64(at + 24, true) : this.#base(at);
    const bounds = packedBounds(base, step, decimal, from, to);
    if (bounds === null) return;
    this.#unpack(kernel, block, at);
    kernel.range(
      this.#count(block),
      bounds[0],
      bounds[1],
      this.presence === null ? null : this.#presentIn(block),
      mask,
    );
  }

  /**
   * Adds one to counts[offset + value] for the first value of each document of a block: of all, or of those in `mask`
   * (32 words). Values are whole numbers from 0 that `counts` has room for; returns false where more than the first
   * value of a document counts, or a value is no place of `counts`, and nothing is done.
   */
  count(block: number, mask: Uint32Array | null, counts: Int32Array, offset: number): boolean {
    if (this.entry.multiValued) return false;
    const kernel = this.#kernel;
    const at = block * BLOCK_ENTRY_BYTES;
    const isPacked = this.#index.getUint8(at + 40) === MODE_PACKED && this.#isPacked(at);
    const numbers = kernel !== null && isPacked ? this.#unpack(kernel, block, at) : null;
    if (numbers !== null && (mask === null || this.presence === null)) {
      const base = this.#base(at);
      const step = this.#index.getFloat64(at + 32, true);
      const length = this.#count(block);
      const values = this.entry.max + 1;
      if (values <= COUNTED_VALUES) kernel!.count(length, base, step, values, mask, counts, offset);
      else countNumbers(numbers, length, mask, counts, base + offset, step);
      return true;
    }
    this.#load(block);
    const docs = this.#docsOf(block);
    for (let slot = 0; slot < docs; slot++) {
      if (mask !== null && ((mask[slot >>> 5]! >>> (slot & 31)) & 1) === 0) continue;
      const start = this.#start(slot);
      if (start < this.#start(slot + 1)) counts[offset + this.#values[start]!]!++;
    }
    return true;
  }

  /** One value per document, none missing: value number i is that of slot i. */
  get #isDense(): boolean {
    return this.presence === null && !this.entry.multiValued;
  }

  #start(slot: number): number {
    if (this.#isDense) return Math.min(slot, this.#length);
    if (!this.#hasRanks) return this.#starts[slot]!;
    if (slot === COLUMN_BLOCK) return this.#ranks[MASK_WORDS]!;
    const word = slot >>> 5;
    return this.#ranks[word]! + popcount(this.#present[word]! & ~(0xffff_ffff << (slot & 31)));
  }

  /** Calls `take` with the slots that have a value, ascending, and the places of their values; of a block with ranks. */
  #eachSlot(take: (slot: number, at: number) => void): void {
    let at = 0;
    for (let word = 0; word < MASK_WORDS; word++) {
      for (let bits = this.#present[word]!; bits !== 0 && at < this.#length; bits &= bits - 1) {
        take(32 * word + 31 - Math.clz32(bits & -bits), at++);
      }
    }
  }

  #docsOf(block: number): number {
    return Math.min(COLUMN_BLOCK, this.#docCount - block * COLUMN_BLOCK);
  }

  /** Number of values in a block. */
  #count(block: number): number {
    const at = block * BLOCK_ENTRY_BYTES;
    const from = this.#index.getUint32(at + 4, true);
    const to =
      block + 1 < this.blockCount
        ? this.#index.getUint32(at + BLOCK_ENTRY_BYTES + 4, true)
        : this.entry.valueCount;
    return Math.max(0, to - from);
  }

  get #data(): Uint8Array {
    return this.#file.cached(this.entry.data);
  }

  /** True for a block that the kernel can unpack: one number of at most 32 bits per value, one value per document. */
  #isPacked(at: number): boolean {
    const mode = this.#index.getUint8(at + 40);
    return (
      (mode === MODE_PACKED || mode === MODE_DECIMAL) &&
      this.#index.getFloat64(at + 32, true) > 0 &&
      this.#index.getUint8(at + 41) <= MAX_PACKED_BITS &&
      this.#index.getUint8(at + 42) === 0 &&
      this.#count(at / BLOCK_ENTRY_BYTES) <= COLUMN_BLOCK
    );
  }

  #unpack(kernel: SearchKernel, block: number, at: number): Uint32Array {
    const count = this.#count(block);
    const bits = this.#index.getUint8(at + 41);
    const from = this.#index.getUint32(at, true);
    const groups = Math.floor(count / 128);
    const sizeBytes = groups * 16 * bits + (count - 128 * groups) * ((bits + 7) >>> 3);
    return kernel.unpack(this.#data.subarray(from, from + sizeBytes), count, bits);
  }

  #copyPresence(block: number, mask: Uint32Array): void {
    if (this.presence !== null) {
      mask.set(this.#presentIn(block));
      return;
    }
    const docs = this.#docsOf(block);
    mask.fill(0xffff_ffff, 0, docs >>> 5);
    if ((docs & 31) !== 0) mask[docs >>> 5] = 2 ** (docs & 31) - 1;
  }

  /** The 32 words of the documents of a block that have a value. */
  #presentIn(block: number): Uint32Array {
    const { words } = this.presence!;
    const from = block * MASK_WORDS;
    if (from + MASK_WORDS <= words.length) return words.subarray(from, from + MASK_WORDS);
    this.#last.fill(0);
    this.#last.set(words.subarray(from));
    return this.#last;
  }

  #matchHere(block: number, from: number, to: number, mask: Uint32Array): void {
    this.#load(block);
    const docs = this.#docsOf(block);
    for (let slot = 0, at = 0; slot < docs; slot++) {
      const end = this.#start(slot + 1);
      for (; at < end; at++) {
        const value = this.#values[at]!;
        if (value >= from && value <= to) mask[slot >>> 5]! |= 1 << (slot & 31);
      }
    }
  }

  #load(block: number): void {
    if (block === this.#block) return;
    const index = this.#index;
    const at = block * BLOCK_ENTRY_BYTES;
    const count = this.#count(block);
    this.#values = grown(this.#values, count);
    let place = index.getUint32(at, true);
    const countBits = index.getUint8(at + 42);
    this.#hasRanks = countBits === 0 && this.presence !== null;
    if (this.#hasRanks) this.#loadRanks(block, count);
    else if (!this.#isDense) place = this.#loadStarts(block, count, place, countBits);
    if (this.#kernel !== null && this.#isPacked(at)) this.#loadPacked(this.#kernel, block, at, count);
    else this.#loadValues(at, place, count);
    this.#block = block;
    this.#length = count;
  }

  #loadRanks(block: number, count: number): void {
    const present = this.#presentIn(block);
    this.#present.set(present);
    let rank = 0;
    for (let word = 0; word < MASK_WORDS; word++) {
      this.#ranks[word] = Math.min(rank, count);
      rank += popcount(this.#present[word]!);
    }
    this.#ranks[MASK_WORDS] = Math.min(rank, count);
  }

  /** Reads the counts and fills #starts; returns where the values begin. */
  #loadStarts(block: number, count: number, place: number, countBits: number): number {
    const starts = this.#starts;
    const firstDoc = block * COLUMN_BLOCK;
    const docs = this.#docsOf(block);
    let behind = place;
    if (countBits > 0) {
      const owners = this.#owners(firstDoc, docs);
      this.#counts = grown(this.#counts, owners);
      behind = unpackNumbers(this.#data, place, owners, countBits, this.#counts);
    }
    let start = 0;
    let owner = 0;
    for (let slot = 0; slot < COLUMN_BLOCK; slot++) {
      starts[slot] = start;
      const has = slot < docs && (this.presence === null || this.presence.has(firstDoc + slot));
      if (!has || start >= count) continue;
      start = Math.min(count, start + 1 + (countBits > 0 ? this.#counts[owner++]! : 0));
    }
    starts[COLUMN_BLOCK] = start;
    return behind;
  }

  #owners(firstDoc: number, docs: number): number {
    if (this.presence === null) return docs;
    let owners = 0;
    for (let slot = 0; slot < docs; slot++) if (this.presence.has(firstDoc + slot)) owners++;
    return owners;
  }

  #loadPacked(kernel: SearchKernel, block: number, at: number, count: number): void {
    const step = this.#index.getFloat64(at + 32, true);
    const decimal = this.#index.getUint8(at + 40) === MODE_DECIMAL;
    const base = decimal ? this.#index.getFloat64(at + 24, true) : this.#base(at);
    this.#unpack(kernel, block, at);
    kernel.floats(count, base, step, decimal, this.#values);
  }

  #loadValues(at: number, place: number, count: number): void {
    const index = this.#index;
    const values = this.#values;
    const mode = index.getUint8(at + 40);
    if (mode === MODE_EMPTY) return;
    const step = index.getFloat64(at + 32, true);
    if (mode === MODE_LINEAR) {
      const base = this.#base(at);
      for (let slot = 0; slot < count; slot++) values[slot] = base + slot * step;
    } else if (mode === MODE_PACKED) {
      const base = this.#base(at);
      unpackNumbers(this.#data, place, count, index.getUint8(at + 41), values);
      for (let slot = 0; slot < count; slot++) values[slot] = base + values[slot]! * step;
    } else if (mode === MODE_DECIMAL) {
      const base = index.getFloat64(at + 24, true);
      unpackNumbers(this.#data, place, count, index.getUint8(at + 41), values);
      for (let slot = 0; slot < count; slot++) values[slot] = (base + values[slot]!) / step;
    } else {
      const raw = this.#view();
      for (let slot = 0; slot < count; slot++) {
        const byte = place + 8 * slot;
        values[slot] =
          this.entry.numbers === "float" ? raw.getFloat64(byte, true) : Number(this.#whole(raw, byte));
      }
    }
  }

  #base(at: number): number {
    return Number(this.#whole(this.#index, at + 24));
  }

  #whole(view: DataView, byte: number): bigint {
    return this.entry.numbers === "unsigned" ? view.getBigUint64(byte, true) : view.getBigInt64(byte, true);
  }

  #view(): DataView {
    const data = this.#data;
    return new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  /** Value number `slot` of the loaded block without rounding. */
  #exact(block: number, slot: number): bigint {
    const at = block * BLOCK_ENTRY_BYTES;
    const mode = this.#index.getUint8(at + 40);
    if (this.entry.safe || this.entry.numbers === "float") return BigInt(Math.trunc(this.#values[slot]!));
    const base = this.#whole(this.#index, at + 24);
    const step = this.#index.getFloat64(at + 32, true);
    if (mode === MODE_LINEAR) return base + BigInt(slot) * BigInt(step);
    const count = this.#count(block);
    const place = this.#valuesPlace(block, at);
    if (mode !== MODE_PACKED) return this.#whole(this.#view(), place + 8 * slot);
    const offsets = new Float64Array(count);
    unpackNumbers(this.#data, place, count, this.#index.getUint8(at + 41), offsets);
    return base + BigInt(offsets[slot]!) * BigInt(step);
  }

  #valuesPlace(block: number, at: number): number {
    const place = this.#index.getUint32(at, true);
    const countBits = this.#index.getUint8(at + 42);
    if (countBits === 0) return place;
    const firstDoc = block * COLUMN_BLOCK;
    const owners = this.#owners(firstDoc, this.#docsOf(block));
    return unpackNumbers(this.#data, place, owners, countBits, this.#counts);
  }
}

/** Counts base + n * step of the numbers whose bit is set in `mask`, of all without one. */
function countNumbers(
  numbers: Uint32Array,
  count: number,
  mask: Uint32Array | null,
  counts: Int32Array,
  base: number,
  step: number,
): void {
  if (mask === null) {
    if (step === 1) for (let at = 0; at < count; at++) counts[base + numbers[at]!]!++;
    else for (let at = 0; at < count; at++) counts[base + numbers[at]! * step]!++;
    return;
  }
  for (let from = 0, word = 0; from < count; from += 32, word++) {
    let bits = mask[word]!;
    while (bits !== 0) {
      const low = bits & -bits;
      counts[base + numbers[from + 31 - Math.clz32(low)]! * step]!++;
      bits ^= low;
    }
  }
}
