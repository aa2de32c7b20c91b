/**
 * Assigns numbers to the parts of composite keys for batches of documents. Documents with equal numbers have equal keys,
 * so each key is made once.
 */

import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { COLUMN_BLOCK, type KeywordColumn, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { NumberKeys } from "#hub/search/aggregations/buckets/number-keys.ts";
import { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import { isNumeric, KeywordValues, NumericValues, numericColumn } from "#hub/search/columns/column-values.ts";
import type { CompositeSource, KeyPart, SourceValues } from "./composite-source.ts";

/** Marks a document without a value, and an ordinal without a number. */
const NONE = -1;

/** Maximum number of numbered parts; beyond it numbering restarts. */
const MAX_PARTS = 1_000_000;

/** Numbers the parts of one source. */
export class PartNumbers {
  /** Number of each document of the last batch; -1: it has no key. */
  numbers = new Int32Array(0);
  readonly #source: CompositeSource;
  readonly #field: Field | undefined;
  readonly #known = new Map<KeyPart, number>();
  readonly #parts: KeyPart[] = [];
  readonly #keywords = new KeywordValues();
  readonly #values = new NumericValues();
  /** Of the open segment, by ordinal; null if its field isn't of keywords. */
  #byOrdinal: Int32Array | null = null;
  #column: KeywordColumn | null = null;
  /** Ordinals of the open segment outside of which no key is wanted. */
  #least = 0;
  #most = Number.POSITIVE_INFINITY;
  #text: (ordinal: number) => string = () => "";
  #lastValue = Number.NaN;
  #lastNumber = NONE;

  constructor({ field, source }: Pick<SourceValues, "field" | "source">) {
    this.#field = field;
    this.#source = source;
  }

  /** Opens a segment; false if documents may have several parts, or if parts can't be identified by numbers. */
  open(segment: SegmentReader): boolean {
    const field = this.#field;
    this.#byOrdinal = null;
    this.#column = null;
    if (this.#source.zoom !== undefined || this.#source.script !== undefined || field?.type === "text")
      return false;
    if (field !== undefined && !isNumeric(field)) {
      const column = segment.keywordColumn(field.path);
      this.#column = column;
      this.#keywords.open(column);
      const reader = column?.reader();
      this.#text = (ordinal) => reader!.text(ordinal);
      this.#byOrdinal = new Int32Array(column?.cardinality ?? 0).fill(NONE);
      return column?.multiValued !== true;
    }
    const column = numericColumn(segment, field);
    this.#values.open(column);
    return column === null || (!column.multiValued && column.safe);
  }

  /** Leaves documents out whose part comes before `first` or after `last` in the source's order; others may come. */
  bound(first: KeyPart | undefined, last: KeyPart | undefined): void {
    const column = this.#column?.kind === "keyword" ? this.#column : null;
    const [low, high] = this.#source.descending ? [last, first] : [first, last];
    this.#least = column === null || typeof low !== "string" ? 0 : placeOf(column, low);
    this.#most = Number.POSITIVE_INFINITY;
    if (column !== null && typeof high === "string") this.#most = placeOf(column, high, -1);
  }

  /** Numbers the parts of a batch of at most COLUMN_BLOCK documents. */
  read(docs: Int32Array, length: number): void {
    if (this.numbers.length < length) this.numbers = new Int32Array(Math.max(length, COLUMN_BLOCK));
    const missing = this.#source.missingBucket ? this.#number(null) : NONE;
    if (this.#byOrdinal !== null) this.#readKeywords(docs, length, missing, this.#byOrdinal);
    else this.#readNumbers(docs, length, missing);
  }

  /** The part of a number. */
  part(number: number): KeyPart {
    return this.#parts[number]!;
  }

  /** True if there are this many parts that all numbers should be forgotten. */
  get isFull(): boolean {
    return this.#parts.length > MAX_PARTS;
  }

  /** Forgets all numbers. */
  clear(): void {
    this.#known.clear();
    this.#parts.length = 0;
    this.#byOrdinal?.fill(NONE);
    this.#lastValue = Number.NaN;
  }

  #readKeywords(docs: Int32Array, length: number, missing: number, byOrdinal: Int32Array): void {
    const { numbers } = this;
    this.#keywords.read(docs, length);
    const { ordinals } = this.#keywords;
    const [least, most] = [this.#least, this.#most];
    for (let at = 0; at < length; at++) {
      const ordinal = ordinals[at]!;
      if (ordinal < 0) numbers[at] = missing;
      else if (ordinal < least || ordinal > most) numbers[at] = NONE;
      else {
        if (byOrdinal[ordinal] === NONE) byOrdinal[ordinal] = this.#number(this.#text(ordinal));
        numbers[at] = byOrdinal[ordinal]!;
      }
    }
  }

  #readNumbers(docs: Int32Array, length: number, missing: number): void {
    const { numbers } = this;
    numbers.fill(missing, 0, length);
    const count = this.#values.read(docs, length);
    const { values, places } = this.#values;
    for (let at = 0; at < count; at++) {
      const value = values[at]!;
      // Consecutive values are often equal.
      if (value !== this.#lastValue) {
        this.#lastValue = value;
        this.#lastNumber = this.#number(this.#source.round(value));
      }
      numbers[places[at]!] = this.#lastNumber;
    }
  }

  #number(part: KeyPart): number {
    let number = this.#known.get(part);
    if (number === undefined) {
      number = this.#parts.push(part) - 1;
      this.#known.set(part, number);
    }
    return number;
  }
}

/** The ordinal of a value; of one that isn't there, that of the value after it, or with `before` -1 of the one before. */
function placeOf(column: KeywordColumn, value: string, before = 0): number {
  const ordinal = column.ordOf(value);
  return ordinal >= 0 ? ordinal : -ordinal - 1 + before;
}

/** Buckets that aren't known, as they are kept. */
const UNKNOWN = -2;

/** Maximum number of remembered combinations; beyond it all are dropped. */
const MAX_KNOWN = 1_000_000;

/** Remembers the buckets of keys by the numbers of their parts. */
export class KnownKeys {
  readonly #parts: readonly PartNumbers[];
  /** Numbers of the combinations of the first parts with one more, for each part after the first. */
  #pairs: readonly NumberKeys[];
  #buckets: Int32Array = new Int32Array(0);

  constructor(parts: readonly PartNumbers[]) {
    this.#parts = parts;
    this.#pairs = this.#makePairs();
  }

  /** Opens a segment; false if documents may have several keys. */
  open(segment: SegmentReader): boolean {
    return this.#parts.map((part) => part.open(segment)).every(Boolean);
  }

  /** Leaves documents out whose first part is outside of what is wanted, see PartNumbers.bound. */
  bound(first: readonly KeyPart[] | undefined, last: readonly KeyPart[] | undefined): void {
    this.#parts[0]!.bound(first?.[0], last?.[0]);
  }

  /** Reads a batch. */
  read(docs: Int32Array, length: number): void {
    if (this.#parts.some((part) => part.isFull) || this.#buckets.length > 2 * MAX_KNOWN) this.#clear();
    for (const part of this.#parts) part.read(docs, length);
  }

  /** Number of the key of a document of the batch; -1 if it has none. */
  number(at: number): number {
    let number = this.#parts[0]!.numbers[at]!;
    for (let next = 1; number >= 0 && next < this.#parts.length; next++) {
      const part = this.#parts[next]!.numbers[at]!;
      number = part < 0 ? part : this.#pairs[next - 1]!.bucket(number, part);
    }
    return number;
  }

  /** The key of a document of the batch, which has one. */
  key(at: number): KeyPart[] {
    return this.#parts.map((part) => part.part(part.numbers[at]!));
  }

  /** The bucket of a key; undefined if it isn't known. */
  bucket(number: number): number | undefined {
    const bucket = number < this.#buckets.length ? this.#buckets[number]! : UNKNOWN;
    return bucket === UNKNOWN ? undefined : bucket;
  }

  setBucket(number: number, bucket: number): void {
    const before = this.#buckets.length;
    if (number >= before) {
      this.#buckets = grown(this.#buckets, Math.max(64, number + 1));
      this.#buckets.fill(UNKNOWN, before);
    }
    this.#buckets[number] = bucket;
  }

  /** Forgets which buckets keys have. */
  forgetBuckets(): void {
    this.#buckets.fill(UNKNOWN);
  }

  #clear(): void {
    for (const part of this.#parts) part.clear();
    this.#pairs = this.#makePairs();
    this.#buckets = new Int32Array(0);
  }

  #makePairs(): NumberKeys[] {
    return this.#parts.slice(1).map(() => new NumberKeys(new CollectBudget(Number.POSITIVE_INFINITY)));
  }
}
