/** Reads a column (see column-writer.ts). The block used last stays decoded. */

import { COLUMN_BLOCK, type ValueBlock } from "../searcher.ts";
import { unpackNumbers } from "./bit-packing.ts";
import type { Bitset } from "./bitset.ts";
import { grown } from "./byte-buffer.ts";
import {
  BLOCK_ENTRY_BYTES,
  type ColumnEntry,
  MODE_DECIMAL,
  MODE_EMPTY,
  MODE_LINEAR,
  MODE_PACKED,
} from "./column-writer.ts";
import type { SegmentFile } from "./segment-file.ts";

/** Numbers by document; what they mean is the business of the columns made of it. */
export class BlockColumn {
  readonly entry: ColumnEntry;
  readonly presence: Bitset | null;
  readonly blockCount: number;
  readonly #docCount: number;
  readonly #index: DataView;
  readonly #data: Uint8Array;
  #block = -1;
  #values = new Float64Array(COLUMN_BLOCK);
  /** Values of slot s are #values[#starts[s]..#starts[s + 1]). */
  readonly #starts = new Uint32Array(COLUMN_BLOCK + 1);
  #counts = new Float64Array(0);

  /** `presence`: documents with a value, null for all. */
  constructor(file: SegmentFile, entry: ColumnEntry, docCount: number, presence: Bitset | null) {
    this.entry = entry;
    this.presence = presence;
    this.blockCount = Math.ceil(docCount / COLUMN_BLOCK);
    this.#docCount = docCount;
    const index = file.read(entry.index);
    this.#index = new DataView(index.buffer, index.byteOffset, index.byteLength);
    this.#data = file.read(entry.data);
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
    const start = this.#starts[slot]!;
    return start < this.#starts[slot + 1]! ? this.#values[start]! : Number.NaN;
  }

  /** Writes the values of a document to `out` from 0; returns how many. */
  read(doc: number, out: number[]): number {
    this.#load(doc >>> 10);
    const slot = doc & (COLUMN_BLOCK - 1);
    const start = this.#starts[slot]!;
    const count = this.#starts[slot + 1]! - start;
    for (let index = 0; index < count; index++) out[index] = this.#values[start + index]!;
    return count;
  }

  /** Like `read`, without rounding beyond 2^53. */
  readExact(doc: number, out: bigint[]): number {
    const block = doc >>> 10;
    this.#load(block);
    const slot = doc & (COLUMN_BLOCK - 1);
    const start = this.#starts[slot]!;
    const count = this.#starts[slot + 1]! - start;
    for (let index = 0; index < count; index++) out[index] = this.#exact(block, start + index);
    return count;
  }

  /** First value of each document of a block, `missing` where there is none. Returns the block's documents. */
  decodeFirst(block: number, out: Float64Array | Int32Array, missing: number): number {
    this.#load(block);
    const docs = Math.min(COLUMN_BLOCK, this.#docCount - block * COLUMN_BLOCK);
    if (this.presence === null && !this.entry.multiValued) {
      for (let slot = 0; slot < docs; slot++) out[slot] = this.#values[slot]!;
      return docs;
    }
    const starts = this.#starts;
    for (let slot = 0; slot < docs; slot++) {
      const start = starts[slot]!;
      out[slot] = start < starts[slot + 1]! ? this.#values[start]! : missing;
    }
    return docs;
  }

  /** All values of a block with the slots of their documents; returns how many. */
  decodeValues(block: number, out: ValueBlock): number {
    this.#load(block);
    const count = this.#starts[COLUMN_BLOCK]!;
    out.values = grown(out.values, count);
    out.slots = grown(out.slots, count);
    out.values.set(this.#values.subarray(0, count));
    const starts = this.#starts;
    for (let slot = 0; slot < COLUMN_BLOCK; slot++) {
      for (let at = starts[slot]!; at < starts[slot + 1]!; at++) out.slots[at] = slot;
    }
    return count;
  }

  #load(block: number): void {
    if (block === this.#block) return;
    const index = this.#index;
    const at = block * BLOCK_ENTRY_BYTES;
    const from = index.getUint32(at + 4, true);
    const to =
      block + 1 < this.blockCount ? index.getUint32(at + BLOCK_ENTRY_BYTES + 4, true) : this.entry.valueCount;
    const count = Math.max(0, to - from);
    this.#values = grown(this.#values, count);
    const place = this.#loadStarts(block, count, index.getUint32(at, true), index.getUint8(at + 42));
    this.#loadValues(at, place, count);
    this.#block = block;
  }

  /** Reads the counts and fills #starts; returns where the values begin. */
  #loadStarts(block: number, count: number, place: number, countBits: number): number {
    const starts = this.#starts;
    const firstDoc = block * COLUMN_BLOCK;
    const docs = Math.min(COLUMN_BLOCK, this.#docCount - firstDoc);
    let owners = count;
    let behind = place;
    if (countBits > 0) {
      owners = this.#owners(firstDoc, docs);
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
    return new DataView(this.#data.buffer, this.#data.byteOffset, this.#data.byteLength);
  }

  /** Value number `slot` of the loaded block without rounding. */
  #exact(block: number, slot: number): bigint {
    const at = block * BLOCK_ENTRY_BYTES;
    const mode = this.#index.getUint8(at + 40);
    if (this.entry.safe || this.entry.numbers === "float") return BigInt(Math.trunc(this.#values[slot]!));
    const base = this.#whole(this.#index, at + 24);
    const step = this.#index.getFloat64(at + 32, true);
    if (mode === MODE_LINEAR) return base + BigInt(slot) * BigInt(step);
    const from = this.#index.getUint32(at + 4, true);
    const to =
      block + 1 < this.blockCount
        ? this.#index.getUint32(at + BLOCK_ENTRY_BYTES + 4, true)
        : this.entry.valueCount;
    const place = this.#valuesPlace(block, at);
    if (mode !== MODE_PACKED) return this.#whole(this.#view(), place + 8 * slot);
    const offsets = new Float64Array(to - from);
    unpackNumbers(this.#data, place, to - from, this.#index.getUint8(at + 41), offsets);
    return base + BigInt(offsets[slot]!) * BigInt(step);
  }

  #valuesPlace(block: number, at: number): number {
    const place = this.#index.getUint32(at, true);
    const countBits = this.#index.getUint8(at + 42);
    if (countBits === 0) return place;
    const firstDoc = block * COLUMN_BLOCK;
    const owners = this.#owners(firstDoc, Math.min(COLUMN_BLOCK, this.#docCount - firstDoc));
    return unpackNumbers(this.#data, place, owners, countBits, this.#counts);
  }
}
