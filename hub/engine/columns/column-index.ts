/** The index of a column (see column-writer.ts): the properties of each block, without its data. */

import { MAX_PACKED_BITS } from "#hub/engine/encoding/bit-packing.ts";
import type { SegmentFile } from "#hub/engine/files/segment-file.ts";
import { COLUMN_BLOCK } from "#hub/engine/searcher/searcher.ts";
import { BLOCK_ENTRY_BYTES, type ColumnEntry, MODE_DECIMAL, MODE_PACKED } from "./column-writer.ts";

/** Numbers are those of README.md, "Column". */
export class ColumnIndex {
  readonly blockCount: number;
  /** Entries of all blocks and one more, at which the values and the data end. */
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #isUnsigned: boolean;

  /** Throws data_corrupt. */
  constructor(file: SegmentFile, { index, data, valueCount, numbers }: ColumnEntry, docCount: number) {
    this.blockCount = Math.ceil(docCount / COLUMN_BLOCK);
    this.#isUnsigned = numbers === "unsigned";
    const end = this.blockCount * BLOCK_ENTRY_BYTES;
    if (index[1] !== end) throw file.corrupt("the index of a column is too short or too long");
    this.#bytes = new Uint8Array(end + BLOCK_ENTRY_BYTES);
    this.#bytes.set(file.read(index));
    this.#view = new DataView(this.#bytes.buffer);
    this.#view.setUint32(end, data[1], true);
    this.#view.setUint32(end + 4, valueCount, true);
  }

  min(block: number): number {
    return this.#view.getFloat64(block * BLOCK_ENTRY_BYTES + 8, true);
  }

  max(block: number): number {
    return this.#view.getFloat64(block * BLOCK_ENTRY_BYTES + 16, true);
  }

  /** Where the data of a block begins; of the one after the last: where it ends. */
  dataAt(block: number): number {
    return this.#view.getUint32(block * BLOCK_ENTRY_BYTES, true);
  }

  /** Number of values in a block. */
  count(block: number): number {
    const at = block * BLOCK_ENTRY_BYTES + 4;
    const values = this.#view.getUint32(at + BLOCK_ENTRY_BYTES, true) - this.#view.getUint32(at, true);
    return Math.max(0, values);
  }

  mode(block: number): number {
    return this.#view.getUint8(block * BLOCK_ENTRY_BYTES + 40);
  }

  bits(block: number): number {
    return this.#view.getUint8(block * BLOCK_ENTRY_BYTES + 41);
  }

  countBits(block: number): number {
    return this.#view.getUint8(block * BLOCK_ENTRY_BYTES + 42);
  }

  step(block: number): number {
    return this.#view.getFloat64(block * BLOCK_ENTRY_BYTES + 32, true);
  }

  /** The base as a number: rounded beyond 2^53. */
  base(block: number): number {
    if (this.mode(block) === MODE_DECIMAL) {
      return this.#view.getFloat64(block * BLOCK_ENTRY_BYTES + 24, true);
    }
    return Number(this.exactBase(block));
  }

  /** The base of whole numbers. */
  exactBase(block: number): bigint {
    const at = block * BLOCK_ENTRY_BYTES + 24;
    return this.#isUnsigned ? this.#view.getBigUint64(at, true) : this.#view.getBigInt64(at, true);
  }

  /** True for a block that the kernel can unpack: one number of at most 32 bits per value, one value per document. */
  isPacked(block: number): boolean {
    const mode = this.mode(block);
    return (
      (mode === MODE_PACKED || mode === MODE_DECIMAL) &&
      this.step(block) > 0 &&
      this.bits(block) <= MAX_PACKED_BITS &&
      this.countBits(block) === 0 &&
      this.count(block) <= COLUMN_BLOCK
    );
  }

  /** The entries of blocks [from, to) and the one after them. */
  entries(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(from * BLOCK_ENTRY_BYTES, (to + 1) * BLOCK_ENTRY_BYTES);
  }
}
