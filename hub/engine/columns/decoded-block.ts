/** One block of a column, decoded: its values and where those of each document begin. */

import { type Bitset, popcount } from "#hub/engine/bytes/bitset.ts";
import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import { unpackNumbers } from "#hub/engine/encoding/bit-packing.ts";
import type { SegmentFile } from "#hub/engine/files/segment-file.ts";
import type { ColumnFunctions } from "#hub/engine/kernel/column-kernel.ts";
import { COLUMN_BLOCK, type ValueBlock } from "#hub/engine/searcher/searcher.ts";
import type { ColumnIndex } from "./column-index.ts";
import {
  type ColumnEntry,
  MODE_DECIMAL,
  MODE_EMPTY,
  MODE_LINEAR,
  MODE_PACKED,
  MODE_RAW,
} from "./column-writer.ts";

/** Words of a block's mask: one bit per document. */
export const MASK_WORDS = COLUMN_BLOCK / 32;

/** What is read of. */
interface ColumnParts {
  readonly file: SegmentFile;
  readonly entry: ColumnEntry;
  readonly index: ColumnIndex;
  readonly docCount: number;
  /** Documents with a value, null for all. */
  readonly presence: Bitset | null;
  readonly kernel: () => ColumnFunctions;
}

/** The block used last stays decoded. Slots are indexes of documents within it. */
export class DecodedBlock {
  readonly #file: SegmentFile;
  readonly #entry: ColumnEntry;
  readonly #index: ColumnIndex;
  readonly #docCount: number;
  readonly #presence: Bitset | null;
  readonly #kernel: () => ColumnFunctions;
  #block = -1;
  #length = 0;
  /** Values of the block in the order of its documents; what follows them belongs to others. */
  values = new Float64Array(COLUMN_BLOCK);
  /** Values of slot s are values[#starts[s]..#starts[s + 1]). */
  readonly #starts = new Uint32Array(COLUMN_BLOCK + 1);
  /** True where the block loaded has one value per document that has any: starts are counted in #present. */
  #hasRanks = false;
  /** Documents with a value before each word of #present. */
  readonly #ranks = new Uint32Array(MASK_WORDS + 1);
  #counts = new Float64Array(0);
  /** Packed numbers of block #offsetsBlock, for values without rounding. */
  #offsets = new Float64Array(0);
  #offsetsBlock = -1;
  /** The words of the block loaded, where it has ranks. */
  readonly #present = new Uint32Array(MASK_WORDS);
  /** Those of the last block, which may be short. */
  readonly #last = new Uint32Array(MASK_WORDS);

  constructor({ file, entry, index, docCount, presence, kernel }: ColumnParts) {
    this.#file = file;
    this.#entry = entry;
    this.#index = index;
    this.#docCount = docCount;
    this.#presence = presence;
    this.#kernel = kernel;
  }

  /** First value of each document of a block, `missing` where there is none. Returns the block's documents. */
  decodeFirst(block: number, out: Float64Array | Int32Array, missing: number): number {
    this.load(block);
    const docs = this.docsOf(block);
    if (this.#isDense) {
      for (let slot = 0; slot < docs; slot++) out[slot] = this.values[slot]!;
    } else if (this.#hasRanks) {
      out.fill(missing, 0, docs);
      this.#spread(out);
    } else {
      const starts = this.#starts;
      for (let slot = 0; slot < docs; slot++) {
        const start = starts[slot]!;
        out[slot] = start < starts[slot + 1]! ? this.values[start]! : missing;
      }
    }
    return docs;
  }

  /** All values of a block with the slots of their documents; returns how many. */
  decodeValues(block: number, out: ValueBlock): number {
    this.load(block);
    const count = this.start(this.docsOf(block));
    out.values = grown(out.values, count);
    out.slots = grown(out.slots, count);
    out.values.set(this.values.subarray(0, count));
    for (let slot = 0; slot < this.docsOf(block); slot++) {
      const end = this.start(slot + 1);
      for (let at = this.start(slot); at < end; at++) out.slots[at] = slot;
    }
    return count;
  }

  /** One value per document, none missing: value number i is that of slot i. */
  get #isDense(): boolean {
    return this.#presence === null && !this.#entry.multiValued;
  }

  /** Index of the first value of a slot among `values`; of slot 1024: where they end. */
  start(slot: number): number {
    if (this.#isDense) return Math.min(slot, this.#length);
    if (!this.#hasRanks) return this.#starts[slot]!;
    if (slot === COLUMN_BLOCK) return this.#ranks[MASK_WORDS]!;
    const word = slot >>> 5;
    return this.#ranks[word]! + popcount(this.#present[word]! & ~(0xffff_ffff << (slot & 31)));
  }

  /** The first values of a block with ranks, by slot. */
  #spread(out: Float64Array | Int32Array): void {
    const values = this.values;
    let at = 0;
    for (let word = 0; word < MASK_WORDS; word++) {
      for (let bits = this.#present[word]!; bits !== 0 && at < this.#length; bits &= bits - 1)
        out[32 * word + 31 - Math.clz32(bits & -bits)] = values[at++]!;
    }
  }

  /** Documents of a block, with a value or not. */
  docsOf(block: number): number {
    return Math.min(COLUMN_BLOCK, this.#docCount - block * COLUMN_BLOCK);
  }

  /** Data of all blocks. */
  get data(): Uint8Array {
    return this.#file.cached(this.#entry.data);
  }

  /** The 32 words of the documents of a block that have a value. */
  presentIn(block: number): Uint32Array {
    const { words } = this.#presence!;
    const from = block * MASK_WORDS;
    if (from + MASK_WORDS <= words.length) return words.subarray(from, from + MASK_WORDS);
    this.#last.fill(0);
    this.#last.set(words.subarray(from));
    return this.#last;
  }

  /** Decodes a block, unless it was the last one. */
  load(block: number): void {
    if (block === this.#block) return;
    const index = this.#index;
    const count = index.count(block);
    this.values = grown(this.values, count);
    let offset = index.dataAt(block);
    const countBits = index.countBits(block);
    this.#hasRanks = countBits === 0 && this.#presence !== null;
    if (this.#hasRanks) this.#loadRanks(block, count);
    else if (!this.#isDense) offset = this.#loadStarts(block, count, offset, countBits);
    const isDecoded = index.isPacked(block) && this.#loadPacked(block, count);
    if (!isDecoded) this.#loadValues(block, offset, count);
    this.#block = block;
    this.#length = count;
  }

  #loadRanks(block: number, count: number): void {
    const present = this.presentIn(block);
    this.#present.set(present);
    let rank = 0;
    for (let word = 0; word < MASK_WORDS; word++) {
      this.#ranks[word] = Math.min(rank, count);
      rank += popcount(this.#present[word]!);
    }
    this.#ranks[MASK_WORDS] = Math.min(rank, count);
  }

  /** Reads the counts and fills #starts; returns where the values begin. */
  #loadStarts(block: number, count: number, offset: number, countBits: number): number {
    const starts = this.#starts;
    const firstDoc = block * COLUMN_BLOCK;
    const docs = this.docsOf(block);
    let behind = offset;
    if (countBits > 0) {
      const owners = this.#owners(firstDoc, docs);
      this.#counts = grown(this.#counts, owners);
      behind = unpackNumbers(this.data, offset, owners, countBits, this.#counts);
    }
    let start = 0;
    let owner = 0;
    for (let slot = 0; slot < COLUMN_BLOCK; slot++) {
      starts[slot] = start;
      const has = slot < docs && (this.#presence === null || this.#presence.has(firstDoc + slot));
      if (!has || start >= count) continue;
      start = Math.min(count, start + 1 + (countBits > 0 ? this.#counts[owner++]! : 0));
    }
    starts[COLUMN_BLOCK] = start;
    return behind;
  }

  #owners(firstDoc: number, docs: number): number {
    if (this.#presence === null) return docs;
    let owners = 0;
    for (let slot = 0; slot < docs; slot++) if (this.#presence.has(firstDoc + slot)) owners++;
    return owners;
  }

  /** Fast path, by the kernel; false if it leaves the block. */
  #loadPacked(block: number, count: number): boolean {
    const index = this.#index;
    const bits = index.bits(block);
    const from = index.dataAt(block);
    const groups = Math.floor(count / 128);
    const sizeBytes = groups * 16 * bits + (count - 128 * groups) * ((bits + 7) >>> 3);
    const isDecimal = index.mode(block) === MODE_DECIMAL;
    const value = { base: index.base(block), step: index.step(block), isDecimal };
    return this.#kernel().decode(
      this.data.subarray(from, from + sizeBytes),
      { count, bits },
      value,
      this.values,
    );
  }

  #loadValues(block: number, offset: number, count: number): void {
    const values = this.values;
    const mode = this.#index.mode(block);
    if (mode === MODE_EMPTY) return;
    if (mode === MODE_RAW) {
      const raw = this.#view();
      for (let slot = 0; slot < count; slot++) {
        const byte = offset + 8 * slot;
        values[slot] =
          this.#entry.numbers === "float" ? raw.getFloat64(byte, true) : Number(this.#whole(raw, byte));
      }
      return;
    }
    const base = this.#index.base(block);
    const step = this.#index.step(block);
    if (mode === MODE_LINEAR) {
      for (let slot = 0; slot < count; slot++) values[slot] = base + slot * step;
      return;
    }
    unpackNumbers(this.data, offset, count, this.#index.bits(block), values);
    if (mode === MODE_DECIMAL)
      for (let slot = 0; slot < count; slot++) values[slot] = (base + values[slot]!) / step;
    else for (let slot = 0; slot < count; slot++) values[slot] = base + values[slot]! * step;
  }

  #whole(view: DataView, byte: number): bigint {
    return this.#entry.numbers === "unsigned" ? view.getBigUint64(byte, true) : view.getBigInt64(byte, true);
  }

  #view(): DataView {
    const data = this.data;
    return new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  /** Value number `slot` of the loaded block without rounding. */
  exact(block: number, slot: number): bigint {
    if (this.#entry.safe || this.#entry.numbers === "float") return BigInt(Math.trunc(this.values[slot]!));
    const index = this.#index;
    const mode = index.mode(block);
    const base = index.exactBase(block);
    const step = index.step(block);
    if (mode === MODE_LINEAR) return base + BigInt(slot) * BigInt(step);
    const offset = this.#valuesOffset(block);
    if (mode !== MODE_PACKED) return this.#whole(this.#view(), offset + 8 * slot);
    if (this.#offsetsBlock !== block) {
      const count = index.count(block);
      this.#offsets = grown(this.#offsets, count);
      unpackNumbers(this.data, offset, count, index.bits(block), this.#offsets);
      this.#offsetsBlock = block;
    }
    return base + BigInt(this.#offsets[slot]!) * BigInt(step);
  }

  #valuesOffset(block: number): number {
    const offset = this.#index.dataAt(block);
    const countBits = this.#index.countBits(block);
    if (countBits === 0) return offset;
    const firstDoc = block * COLUMN_BLOCK;
    const owners = this.#owners(firstDoc, this.docsOf(block));
    return unpackNumbers(this.data, offset, owners, countBits, this.#counts);
  }
}
