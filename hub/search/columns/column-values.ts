/** Values of a field for batches of documents, read from whatever column the segment has. */

import type { Field } from "#hub/engine/mapping/field.ts";
import {
  COLUMN_BLOCK,
  type KeywordColumn,
  type NumericColumn,
  type SegmentReader,
} from "#hub/engine/searcher/searcher.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { NanosColumn } from "./nanos-column.ts";
import { docsOfBlock, loadBlock, type SegmentRun } from "./set-blocks.ts";

/** Documents of a block from which on decoding the whole block is cheaper than reading one by one. */
const DENSE = 24;

/**
 * Returns the field to sort or aggregate by; undefined if it isn't mapped. Throws request_invalid for text and fields
 * without columns.
 */
export function columnField(shard: ShardContext, name: string): Field | undefined {
  const field = shard.mapping.resolve(name);
  if (field === undefined) return undefined;
  const data = { index: shard.index, index_uuid: shard.indexUuid };
  if (field.type === "text") {
    throw new AppError(
      "request_invalid",
      `Fielddata is disabled on text fields by default. Set fielddata=true on [${name}] in order to load fielddata in memory by uninverting the inverted index. Note that this can however use significant memory. Alternatively use a keyword field instead.`,
      { data },
    );
  }
  if (!field.docValues || field.type === "binary") {
    throw new AppError(
      "request_invalid",
      `Can't load fielddata on [${name}] because fielddata is unsupported on fields of type [${field.type}]. Use doc values instead.`,
      { data },
    );
  }
  return field;
}

/**
 * Returns the field to sort by, to take terms of or to read in a script, as `columnField`; text with `fielddata` will do as
 * well. Throws request_invalid.
 */
export function termsField(shard: ShardContext, name: string): Field | undefined {
  const field = shard.mapping.resolve(name);
  return field?.type === "text" && field.fielddata ? field : columnField(shard, name);
}

/**
 * True if a field's column can be opened after the search has left a segment. Keys of `flattened` fields are opened in steps
 * before a segment is searched, and closed afterwards.
 */
export function opensLate(shard: ShardContext, path: string): boolean {
  return shard.mapping.field(path) !== undefined;
}

/** True for fields whose values are numbers: numbers, dates, booleans. */
export function isNumeric(field: Pick<Field, "type">): boolean {
  return (
    field.type !== "keyword" && field.type !== "ip" && field.type !== "text" && field.type !== "geo_point"
  );
}

const NO_NUMBERS = new Float64Array(0);
const NO_PLACES = new Int32Array(0);

/** Reads a numeric column for batches of ascending documents. */
export class NumericValues {
  /** Values of the last `read`. */
  values: Float64Array = NO_NUMBERS;
  /** For each value the index of its document in the batch. */
  places: Int32Array = NO_PLACES;
  readonly #missing: number | undefined;
  /** Made when a block is decoded. */
  #block: Float64Array = NO_NUMBERS;
  #mask = new Uint32Array(0);
  readonly #many: number[] = [];
  #column: NumericColumn | null = null;
  #loaded = -1;

  /** `missing`: value of documents without one; undefined leaves them out. */
  constructor(missing?: number) {
    this.#missing = missing;
  }

  /** Points to a segment's column; null if no document has the field. */
  open(column: NumericColumn | null): void {
    this.#column = column;
    this.#loaded = -1;
  }

  /**
   * Returns bounds of all values of a batch that lies within a few blocks, from what the column says of these; null if
   * that isn't known or a document may have no value.
   */
  bounds(docs: Int32Array, length: number): readonly [min: number, max: number] | null {
    const column = this.#column;
    if (column === null || column.presence !== null || !column.safe || length === 0) return null;
    const first = Math.floor(docs[0]! / COLUMN_BLOCK);
    const last = Math.floor(docs[length - 1]! / COLUMN_BLOCK);
    if (last - first > 1) return null;
    return [
      Math.min(column.blockMin(first), column.blockMin(last)),
      Math.max(column.blockMax(first), column.blockMax(last)),
    ];
  }

  /** The column, if what it says of blocks is all there is to know: exact numbers, one a document, no replacement. */
  get wholeColumn(): NumericColumn | null {
    const column = this.#column;
    if (column === null || !column.safe || column.multiValued) return null;
    return this.#missing === undefined || column.presence === null ? column : null;
  }

  /** True if the values are those of a column. */
  get areStored(): boolean {
    return true;
  }

  /** True if no document of the segment gives a value. */
  get isNothing(): boolean {
    return this.#column === null && this.#missing === undefined;
  }

  /** Reads all values of a batch and returns how many there are. */
  read(docs: Int32Array, length: number): number {
    const column = this.#column;
    this.#ensure(length);
    if (column === null) return this.#fillMissing(length);
    return column.multiValued ? this.#readMany(column, docs, length) : this.#readSingle(column, docs, length);
  }

  /**
   * Reads the values of a run's documents in one block and returns how many there are, without saying whose they are.
   * Only for a `wholeColumn`.
   */
  readBlock(run: SegmentRun, block: number): number {
    const column = this.#column!;
    if (!(column.blockMin(block) <= column.blockMax(block))) return 0;
    this.#ensure(COLUMN_BLOCK);
    if (this.#mask.length === 0) this.#mask = new Uint32Array(COLUMN_BLOCK / 32);
    const isWhole = loadBlock(run, block, this.#mask) === docsOfBlock(run, block);
    if (isWhole && column.presence === null) return column.decodeBlock(block, this.values);
    const docs = this.#decode(column, block);
    let count = 0;
    for (let slot = 0; slot < docs; slot++) {
      const value = this.#block[slot]!;
      if (Number.isNaN(value) || ((this.#mask[slot >>> 5]! >>> (slot & 31)) & 1) === 0) continue;
      this.values[count++] = value;
    }
    return count;
  }

  #readSingle(column: NumericColumn, docs: Int32Array, length: number): number {
    const missing = this.#missing;
    let count = 0;
    for (let at = 0; at < length; ) {
      const block = Math.floor(docs[at]! / COLUMN_BLOCK);
      const base = block * COLUMN_BLOCK;
      let end = at + 1;
      while (end < length && docs[end]! < base + COLUMN_BLOCK && docs[end]! >= base) end++;
      const dense = block === this.#loaded || end - at >= DENSE;
      if (dense && block !== this.#loaded) this.#decode(column, block);
      for (; at < end; at++) {
        let value = dense ? this.#block[docs[at]! - base]! : column.first(docs[at]!);
        if (Number.isNaN(value)) {
          if (missing === undefined) continue;
          value = missing;
        }
        this.values[count] = value;
        this.places[count++] = at;
      }
    }
    return count;
  }

  #decode(column: NumericColumn, block: number): number {
    if (this.#block.length === 0) this.#block = new Float64Array(COLUMN_BLOCK);
    this.#loaded = block;
    return column.decodeBlock(block, this.#block);
  }

  #readMany(column: NumericColumn, docs: Int32Array, length: number): number {
    let count = 0;
    for (let at = 0; at < length; at++) {
      const found = column.read(docs[at]!, this.#many);
      this.#ensure(count + Math.max(1, found) + length - at);
      for (let each = 0; each < found; each++) {
        this.values[count] = this.#many[each]!;
        this.places[count++] = at;
      }
      if (found === 0 && this.#missing !== undefined) {
        this.values[count] = this.#missing;
        this.places[count++] = at;
      }
    }
    return count;
  }

  #fillMissing(length: number): number {
    if (this.#missing === undefined) return 0;
    for (let at = 0; at < length; at++) {
      this.values[at] = this.#missing;
      this.places[at] = at;
    }
    return length;
  }

  #ensure(length: number): void {
    if (length <= this.values.length) return;
    const size = Math.max(length, this.values.length * 2);
    const values = new Float64Array(size);
    const places = new Int32Array(size);
    values.set(this.values);
    places.set(this.places);
    this.values = values;
    this.places = places;
  }
}

/** Reads ordinals of a keyword column for batches of ascending documents. */
export class KeywordValues {
  /** Ordinals of the last `read`; -1 for a document without a value. */
  ordinals: Int32Array = NO_PLACES;
  /** For each ordinal the index of its document in the batch. */
  places: Int32Array = NO_PLACES;
  /** Made when a block is decoded. */
  #block: Int32Array = NO_PLACES;
  readonly #many: number[] = [];
  #column: KeywordColumn | null = null;
  #loaded = -1;

  open(column: KeywordColumn | null): void {
    this.#column = column;
    this.#loaded = -1;
  }

  /** Reads all ordinals of a batch and returns how many there are; each document gives at least one, -1 for none. */
  read(docs: Int32Array, length: number): number {
    const column = this.#column;
    this.#ensure(length);
    if (column !== null) {
      return column.multiValued
        ? this.#readMany(column, docs, length)
        : this.#readSingle(column, docs, length);
    }
    for (let at = 0; at < length; at++) {
      this.ordinals[at] = -1;
      this.places[at] = at;
    }
    return length;
  }

  #readSingle(column: KeywordColumn, docs: Int32Array, length: number): number {
    for (let at = 0; at < length; ) {
      const block = Math.floor(docs[at]! / COLUMN_BLOCK);
      const base = block * COLUMN_BLOCK;
      let end = at + 1;
      while (end < length && docs[end]! < base + COLUMN_BLOCK && docs[end]! >= base) end++;
      const dense = block === this.#loaded || end - at >= DENSE;
      if (dense && block !== this.#loaded) {
        if (this.#block.length === 0) this.#block = new Int32Array(COLUMN_BLOCK);
        column.decodeBlock(block, this.#block);
        this.#loaded = block;
      }
      for (; at < end; at++) {
        this.ordinals[at] = dense ? this.#block[docs[at]! - base]! : column.first(docs[at]!);
        this.places[at] = at;
      }
    }
    return length;
  }

  #readMany(column: KeywordColumn, docs: Int32Array, length: number): number {
    let count = 0;
    for (let at = 0; at < length; at++) {
      const found = column.read(docs[at]!, this.#many);
      this.#ensure(count + Math.max(1, found) + length - at);
      if (found === 0) {
        this.ordinals[count] = -1;
        this.places[count++] = at;
      }
      for (let each = 0; each < found; each++) {
        this.ordinals[count] = this.#many[each]!;
        this.places[count++] = at;
      }
    }
    return count;
  }

  #ensure(length: number): void {
    if (length <= this.ordinals.length) return;
    const size = Math.max(length, this.ordinals.length * 2);
    const ordinals = new Int32Array(size);
    const places = new Int32Array(size);
    ordinals.set(this.ordinals);
    places.set(this.places);
    this.ordinals = ordinals;
    this.places = places;
  }
}

/** Returns a field's numeric column of a segment, times in ms. */
export function numericColumn(segment: SegmentReader, field: Field | undefined): NumericColumn | null {
  const column = field === undefined ? null : segment.numericColumn(field.path);
  return column !== null && field?.type === "date_nanos" ? new NanosColumn(column) : column;
}
