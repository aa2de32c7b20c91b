/** Collects `terms` of keywords and addresses, by ordinal within a segment and by text over segments. */

import {
  COLUMN_BLOCK,
  type KeywordColumn,
  type SegmentReader,
  type TermReader,
} from "#hub/engine/searcher.ts";
import { grown } from "#hub/engine/segment/byte-buffer.ts";
import type { SegmentRun } from "../collect/set-blocks.ts";
import { KeywordValues } from "../columns.ts";
import { RAW, type ValueFormat } from "../value-format.ts";
import type { Collector } from "./aggregation.ts";
import { BucketCollector, KeyTable, onlyOwner } from "./buckets.ts";
import { cutTerms, type TermsContext, type TermsState } from "./terms-state.ts";

/** Marks an ordinal whose bucket isn't known yet, and one that the filter leaves out. */
const UNKNOWN = -1;
const LEFT_OUT = -2;

/** Counts by ordinal that are kept at most, of all owners. */
const MAX_COUNTS = 4_000_000;

/** Buckets by owner and ordinal that are found at once; others are looked up. */
const MAX_DIRECT = 1_000_000;

/** Values of a segment up to which documents are passed on by ordinal: there is a sum for each. */
const MAX_PASSED = 16_384;

/** Documents that are handed on at a time. */
const PAIRS = 2048;

export class KeywordTermsCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #path: string;
  readonly #missing: string | undefined;
  readonly #values = new KeywordValues();
  /** Texts of all segments, by the numbers that stand for them here. */
  readonly #texts: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #keys: KeyTable<number>;
  readonly #buckets: BucketCollector;
  #column: KeywordColumn | null = null;
  #docCount = 0;
  /** Of the open segment. */
  #reader: TermReader | undefined;
  /** Number of each ordinal of the segment. */
  #byOrdinal: Int32Array = new Int32Array(0);
  /** Buckets by owner and ordinal: number owner * cardinality + ordinal. */
  #direct: Int32Array = new Int32Array(0);
  readonly #pairDocs = new Int32Array(PAIRS);
  readonly #pairBuckets = new Int32Array(PAIRS);
  /** Documents by owner and ordinal that aren't in buckets yet: number owner * cardinality + ordinal. */
  #counts: Int32Array = new Int32Array(0);

  constructor(context: TermsContext, path: string, missing: string | undefined) {
    this.#context = context;
    this.#path = path;
    this.#missing = missing;
    this.#keys = new KeyTable(context.budget);
    this.#buckets = new BucketCollector(context.shape.below, context.shard, context.budget);
  }

  segment(segment: SegmentReader): void {
    this.#settle();
    this.#reader = undefined;
    this.#column = segment.keywordColumn(this.#path);
    this.#docCount = segment.docCount;
    this.#values.open(this.#column);
    const cardinality = this.#column?.cardinality ?? 0;
    this.#byOrdinal = new Int32Array(cardinality).fill(UNKNOWN);
    this.#direct = new Int32Array(0);
    this.#counts = new Int32Array(cardinality);
    this.#buckets.segment(segment);
  }

  /** Adds documents of the first owner by the ordinals of the open segment. */
  addCounts(counts: Int32Array): void {
    for (let ordinal = 0; ordinal < counts.length; ordinal++) this.#counts[ordinal]! += counts[ordinal]!;
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    const count = this.#values.read(docs, length);
    const { ordinals, places } = this.#values;
    if (this.#buckets.onlyCounts && this.#missing === undefined && onlyOwner(owners, length) === 0) {
      // Fast path: nothing below, so documents are counted by ordinal and looked up once per segment.
      for (let at = 0; at < count; at++) if (ordinals[at]! >= 0) this.#counts[ordinals[at]!]!++;
      return;
    }
    this.#pair(docs, owners, ordinals, places, count);
  }

  /** Finds the bucket of each ordinal and adds the documents, many at a time. */
  #pair(docs: Int32Array, owners: Int32Array, ordinals: Int32Array, places: Int32Array, count: number): void {
    const cardinality = this.#column?.cardinality ?? 0;
    let length = 0;
    for (let at = 0; at < count; at++) {
      const place = places[at]!;
      const ordinal = ordinals[at]!;
      const slot = owners[place]! * cardinality + ordinal;
      const known = ordinal >= 0 && slot < this.#direct.length ? this.#direct[slot]! : UNKNOWN;
      const bucket = known === UNKNOWN ? this.#bucket(owners[place]!, ordinal) : known;
      if (bucket < 0) continue;
      this.#pairDocs[length] = docs[place]!;
      this.#pairBuckets[length++] = bucket;
      if (length < PAIRS) continue;
      this.#buckets.addEach(this.#pairDocs, this.#pairBuckets, length);
      length = 0;
    }
    this.#buckets.addEach(this.#pairDocs, this.#pairBuckets, length);
  }

  collectBlock(block: number, mask: Uint32Array | null, _count: number, owner: number): boolean {
    const run = { from: block, to: block + 1, words: mask, wordsFrom: block, docCount: this.#docCount };
    return this.collectRun(run, owner);
  }

  collectRun(run: SegmentRun, owner: number): boolean {
    const column = this.#column;
    if (column === null || column.multiValued || this.#missing !== undefined) return false;
    if (!this.#buckets.onlyCounts && !this.#canPassBy(run, column)) return false;
    const end = (owner + 1) * column.cardinality;
    if (end > MAX_COUNTS) return false;
    if (end > this.#counts.length) this.#counts = grown(this.#counts, Math.min(MAX_COUNTS, 2 * end));
    column.count(run, this.#counts, owner * column.cardinality);
    if (!this.#buckets.onlyCounts)
      this.#buckets.passBy(run, { column, bucketOf: (ordinal) => this.#lookUp(owner, ordinal) });
    return true;
  }

  /** Whether what is below takes the documents of a run by their ordinals, and there are few of these for the run. */
  #canPassBy({ from, to }: SegmentRun, column: KeywordColumn): boolean {
    const fewest = Math.min((to - from) * COLUMN_BLOCK, MAX_PASSED);
    return column.cardinality <= fewest && this.#buckets.takesBy(column);
  }

  state(owner: number): TermsState {
    const { shape, shardSize } = this.#context;
    this.#settle();
    if (shape.minDocCount === 0) this.#addAll(owner);
    const buckets = [...this.#keys.of(owner)].map(([number, bucket]) => ({
      key: this.#texts[number]!,
      count: this.#buckets.count(bucket),
      below: this.#buckets.below(bucket),
    }));
    return { ...cutTerms(buckets, shape, shardSize), kind: "text", format: RAW };
  }

  /** Moves the counts by ordinal of the open segment to the buckets of their owners. */
  #settle(): void {
    const cardinality = this.#column?.cardinality ?? 0;
    for (let at = 0; at < this.#counts.length; at++) {
      const count = this.#counts[at]!;
      if (count === 0) continue;
      const bucket = this.#lookUp(Math.floor(at / cardinality), at % cardinality);
      if (bucket >= 0) this.#buckets.addCount(bucket, count);
    }
    this.#counts = new Int32Array(0);
  }

  #bucket(owner: number, ordinal: number): number {
    if (ordinal < 0) {
      return this.#missing === undefined ? LEFT_OUT : this.#keys.bucket(owner, this.#number(this.#missing));
    }
    const bucket = this.#lookUp(owner, ordinal);
    const { cardinality } = this.#column!;
    const slot = owner * cardinality + ordinal;
    if (slot >= this.#direct.length && slot < MAX_DIRECT) {
      const before = this.#direct.length;
      this.#direct = grown(this.#direct, Math.min(MAX_DIRECT, 2 * (owner + 1) * cardinality));
      this.#direct.fill(UNKNOWN, before);
    }
    if (slot < this.#direct.length) this.#direct[slot] = bucket;
    return bucket;
  }

  #lookUp(owner: number, ordinal: number): number {
    let number = this.#byOrdinal[ordinal]!;
    if (number === UNKNOWN) {
      this.#reader ??= this.#column!.reader();
      const text = this.#reader.text(ordinal);
      number = this.#context.filter?.(text) === false ? LEFT_OUT : this.#number(text);
      this.#byOrdinal[ordinal] = number;
    }
    return number === LEFT_OUT ? LEFT_OUT : this.#keys.bucket(owner, number);
  }

  #number(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.#texts.push(text) - 1;
      this.#numbers.set(text, number);
    }
    return number;
  }

  /** With min_doc_count 0 values that no matching document has get buckets too. */
  #addAll(owner: number): void {
    for (const segment of this.#context.shard.searcher.segments) {
      const column = segment.keywordColumn(this.#path);
      const reader = column?.reader();
      for (let ordinal = 0; ordinal < (column?.cardinality ?? 0); ordinal++) {
        const text = reader!.text(ordinal);
        if (this.#context.filter?.(text) !== false) this.#keys.bucket(owner, this.#number(text));
      }
    }
  }
}

/** Collects `terms` where every document has the same value. */
export class ConstantTermCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #value: string | number;
  readonly #format: ValueFormat;
  readonly #keys: KeyTable<string | number>;
  readonly #buckets: BucketCollector;

  constructor(context: TermsContext, value: string | number, format: ValueFormat = RAW) {
    this.#context = context;
    this.#format = format;
    this.#value = value;
    this.#keys = new KeyTable(context.budget);
    this.#buckets = new BucketCollector(context.shape.below, context.shard, context.budget);
  }

  segment(segment: SegmentReader): void {
    this.#buckets.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    if (this.#context.filter?.(String(this.#value)) === false) return;
    for (let at = 0; at < length; at++)
      this.#buckets.add(docs[at]!, this.#keys.bucket(owners[at]!, this.#value));
    this.#buckets.flush();
  }

  state(owner: number): TermsState {
    const buckets = [...this.#keys.of(owner)].map(([key, bucket]) => ({
      key,
      count: this.#buckets.count(bucket),
      below: this.#buckets.below(bucket),
    }));
    return {
      buckets,
      others: 0,
      errorBound: 0,
      kind: typeof this.#value === "string" ? "text" : "long",
      format: this.#format,
    };
  }
}
