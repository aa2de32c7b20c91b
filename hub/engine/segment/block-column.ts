/**
 * Reads a column (see column-writer.ts). The block used last stays decoded. Blocks of packed numbers are unpacked and
 * compared by the kernel where there is one.
 */

import type { ColumnRun } from "../kernel/column-kernel.ts";
import { type SearchKernel, searchKernel } from "../kernel/search-kernel.ts";
import { COLUMN_BLOCK, type DocRun, type ValueBlock } from "../searcher.ts";
import { unpackNumbers } from "./bit-packing.ts";
import { type Bitset, popcount } from "./bitset.ts";
import { grown } from "./byte-buffer.ts";
import { ColumnIndex } from "./column-index.ts";
import {
  type ColumnEntry,
  MODE_DECIMAL,
  MODE_EMPTY,
  MODE_LINEAR,
  MODE_PACKED,
  MODE_RAW,
} from "./column-writer.ts";
import type { SegmentFile } from "./segment-file.ts";

/** Words of a block's mask: one bit per document. */
const MASK_WORDS = COLUMN_BLOCK / 32;

/** Blocks that the kernel is given at a time: their bytes stay in the processor's cache. */
const RUN_BLOCKS = 64;

/** Both inclusive. */
type Bounds = readonly [from: number, to: number];

/** Numbers by document; what they mean is the business of the columns made of it. */
export class BlockColumn {
  readonly entry: ColumnEntry;
  readonly presence: Bitset | null;
  readonly #docCount: number;
  readonly #file: SegmentFile;
  readonly #index: ColumnIndex;
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
    this.#docCount = docCount;
    this.#file = file;
    this.#kernel = kernel;
    this.#index = new ColumnIndex(file, entry, docCount);
  }

  get blockCount(): number {
    return this.#index.blockCount;
  }

  blockMin(block: number): number {
    return this.#index.min(block);
  }

  blockMax(block: number): number {
    return this.#index.max(block);
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
    if (min >= from && max <= to) this.#copyPresence(block, mask);
    else this.#matchBlocks(block, block + 1, [from, to], false, mask);
  }

  /**
   * Like `match`, of blocks [fromBlock, toBlock), in `words`, which begin with the first document of these. `narrow`:
   * documents that aren't in it before stay out.
   */
  matchAll(fromBlock: number, toBlock: number, bounds: Bounds, words: Uint32Array, narrow: boolean): void {
    for (let block = fromBlock; block < toBlock; block += RUN_BLOCKS) {
      const end = Math.min(toBlock, block + RUN_BLOCKS);
      const [from, to] = [(block - fromBlock) * MASK_WORDS, (end - fromBlock) * MASK_WORDS];
      this.#matchBlocks(block, end, bounds, narrow, words.subarray(from, to));
    }
  }

  #matchBlocks(from: number, to: number, bounds: Bounds, narrow: boolean, words: Uint32Array): void {
    const columns = this.#kernel?.columns;
    const all = Array.from({ length: to - from }, (_, block) => block);
    const left = columns?.match(this.#run(from, to), bounds[0], bounds[1], narrow, words) ?? all;
    for (const block of left) {
      const mask = words.subarray(block * MASK_WORDS, (block + 1) * MASK_WORDS);
      const before = narrow ? mask.slice() : null;
      mask.fill(0);
      this.#matchHere(from + block, bounds[0], bounds[1], mask);
      if (before !== null) for (let word = 0; word < mask.length; word++) mask[word]! &= before[word]!;
    }
  }

  /**
   * Adds one to counts[offset + value] for the value of each document of a run. Values are whole numbers from 0 that
   * `counts` has room for. Returns false, having done nothing, where documents have several values.
   */
  count(run: DocRun, counts: Int32Array, offset: number): boolean {
    if (this.entry.multiValued) return false;
    const columns = this.#kernel?.columns;
    const values = this.entry.max + 1;
    columns?.startCount(values);
    for (let from = run.from; from < run.to; from += RUN_BLOCKS) {
      const to = Math.min(run.to, from + RUN_BLOCKS);
      const at = (from - run.wordsFrom) * MASK_WORDS;
      const words = run.words?.subarray(at, at + (to - from) * MASK_WORDS) ?? null;
      const left = columns?.count(this.#run(from, to), words, values);
      for (let block = from; block < to; block++) {
        if (left === undefined || left.includes(block - from)) this.#countHere(block, run, counts, offset);
      }
    }
    columns?.addCounts(values, counts, offset);
    return true;
  }

  #countHere(block: number, { words, wordsFrom }: DocRun, counts: Int32Array, offset: number): void {
    this.#load(block);
    const docs = this.#docsOf(block);
    for (let slot = 0; slot < docs; slot++) {
      const bit = (block - wordsFrom) * COLUMN_BLOCK + slot;
      if (words !== null && ((words[bit >>> 5]! >>> (bit & 31)) & 1) === 0) continue;
      const start = this.#start(slot);
      if (start < this.#start(slot + 1)) counts[offset + this.#values[start]!]!++;
    }
  }

  /** What the kernel has to know of blocks [from, to). */
  #run(from: number, to: number): ColumnRun {
    const dataFrom = this.#index.dataAt(from);
    return {
      index: this.#index.entries(from, to),
      blocks: to - from,
      data: this.#data.subarray(dataFrom, this.#index.dataAt(to)),
      dataFrom,
      docs: Math.min(to * COLUMN_BLOCK, this.#docCount) - from * COLUMN_BLOCK,
      isUnsigned: this.entry.numbers === "unsigned",
      presence: this.presence?.words.subarray(from * MASK_WORDS, to * MASK_WORDS) ?? null,
    };
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

  get #data(): Uint8Array {
    return this.#file.cached(this.entry.data);
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
    const count = index.count(block);
    this.#values = grown(this.#values, count);
    let place = index.dataAt(block);
    const countBits = index.countBits(block);
    this.#hasRanks = countBits === 0 && this.presence !== null;
    if (this.#hasRanks) this.#loadRanks(block, count);
    else if (!this.#isDense) place = this.#loadStarts(block, count, place, countBits);
    if (this.#kernel !== null && index.isPacked(block)) this.#loadPacked(this.#kernel, block, count);
    else this.#loadValues(block, place, count);
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

  #loadPacked({ columns }: SearchKernel, block: number, count: number): void {
    const index = this.#index;
    const bits = index.bits(block);
    const from = index.dataAt(block);
    const groups = Math.floor(count / 128);
    const sizeBytes = groups * 16 * bits + (count - 128 * groups) * ((bits + 7) >>> 3);
    columns.unpack(this.#data.subarray(from, from + sizeBytes), count, bits);
    const isDecimal = index.mode(block) === MODE_DECIMAL;
    columns.floats(count, index.base(block), index.step(block), isDecimal, this.#values);
  }

  #loadValues(block: number, place: number, count: number): void {
    const values = this.#values;
    const mode = this.#index.mode(block);
    if (mode === MODE_EMPTY) return;
    if (mode === MODE_RAW) {
      const raw = this.#view();
      for (let slot = 0; slot < count; slot++) {
        const byte = place + 8 * slot;
        values[slot] =
          this.entry.numbers === "float" ? raw.getFloat64(byte, true) : Number(this.#whole(raw, byte));
      }
      return;
    }
    const base = this.#index.base(block);
    const step = this.#index.step(block);
    if (mode === MODE_LINEAR) {
      for (let slot = 0; slot < count; slot++) values[slot] = base + slot * step;
      return;
    }
    unpackNumbers(this.#data, place, count, this.#index.bits(block), values);
    if (mode === MODE_DECIMAL)
      for (let slot = 0; slot < count; slot++) values[slot] = (base + values[slot]!) / step;
    else for (let slot = 0; slot < count; slot++) values[slot] = base + values[slot]! * step;
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
    if (this.entry.safe || this.entry.numbers === "float") return BigInt(Math.trunc(this.#values[slot]!));
    const index = this.#index;
    const mode = index.mode(block);
    const base = index.exactBase(block);
    const step = index.step(block);
    if (mode === MODE_LINEAR) return base + BigInt(slot) * BigInt(step);
    const place = this.#valuesPlace(block);
    if (mode !== MODE_PACKED) return this.#whole(this.#view(), place + 8 * slot);
    const count = index.count(block);
    const offsets = new Float64Array(count);
    unpackNumbers(this.#data, place, count, index.bits(block), offsets);
    return base + BigInt(offsets[slot]!) * BigInt(step);
  }

  #valuesPlace(block: number): number {
    const place = this.#index.dataAt(block);
    const countBits = this.#index.countBits(block);
    if (countBits === 0) return place;
    const firstDoc = block * COLUMN_BLOCK;
    const owners = this.#owners(firstDoc, this.#docsOf(block));
    return unpackNumbers(this.#data, place, owners, countBits, this.#counts);
  }
}
