/** Collects `terms` of keywords and addresses: by ordinal within a segment, by text across segments. */

import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";
import { parseIp } from "#hub/engine/bytes/ip.ts";
import {
  COLUMN_BLOCK,
  type KeywordColumn,
  type SegmentReader,
  type TermReader,
} from "#hub/engine/searcher/searcher.ts";
import { BucketCollector, onlyOwner } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import type { CollectedTerms } from "#hub/search/aggregations/buckets/first-terms.ts";
import { NumberKeys } from "#hub/search/aggregations/buckets/number-keys.ts";
import {
  handOn,
  type TermsContext,
  type TermsState,
  textState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type { Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { atOnce, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { KeywordValues, opensLate } from "#hub/search/columns/column-values.ts";
import type { SegmentRun } from "#hub/search/columns/set-blocks.ts";
import { failingFields } from "#hub/search/query/runtime-reader.ts";
import { knownTerms, numberedTerms, type TermsField } from "./merged-terms.ts";
import type { NumberedTerms } from "./shared-terms.ts";
import { TermTable } from "./term-table.ts";

/** Marks an ordinal whose bucket isn't known yet, and one that the filter leaves out. */
const UNKNOWN = -1;
const LEFT_OUT = -2;

/** Counts by ordinal that are kept at most, of all owners: at the end of a segment they are moved at once. */
const MAX_COUNTS = 200_000;

/** Buckets by owner and ordinal that are found at once; others are looked up. */
const MAX_DIRECT = 1_000_000;

/** Values of a segment up to which documents are passed on by ordinal: there is a sum for each. */
const MAX_PASSED = 16_384;

/** Values of a segment up to which documents are counted by ordinal first. */
const MAX_COUNTED = 65_536;

/** Values between two pauses: well below a millisecond. */
const STEP_VALUES = 512;

/** Documents that are returned at a time. */
const PAIRS = 2048;

/** Values of all segments from which on their numbers are kept for later searches, if so large a share of them was met. */
const MANY = 2000;
const SHARE_MET = 1 / 4;

/** Of a value for `missing` that isn't an address. */
const BEHIND_ALL = new Uint8Array(17).fill(0xff);

/** Returns the bytes of addresses, in whose order they are cut where the answer has them in that order. */
function* addressesOf(count: number, text: (at: number) => string): Steps<readonly Uint8Array[]> {
  const addresses: Uint8Array[] = [];
  for (let at = 0; at < count; at++) {
    if (at % STEP_VALUES === STEP_VALUES - 1) yield;
    addresses.push(parseIp(text(at)) ?? BEHIND_ALL);
  }
  return addresses;
}

export class KeywordTermsCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #path: string;
  readonly #missing: string | undefined;
  readonly #values = new KeywordValues();
  /** Values of all segments, by their numbers in this collector. */
  readonly #terms: TermTable;
  /** Columns whose values are worth numbering for later searches, by segment; undefined: none. */
  readonly #many: ReadonlyMap<SegmentReader, KeywordColumn> | undefined;
  /** Values with numbers from an earlier search, instead of those above. */
  readonly #known: NumberedTerms | undefined;
  /** Values that were looked up. */
  #met = 0;
  readonly #keys: NumberKeys;
  readonly #buckets: BucketCollector;
  #column: KeywordColumn | null = null;
  #docCount = 0;
  /** Of the open segment. */
  #reader: TermReader | undefined;
  /** Number of each ordinal of the segment. */
  #byOrdinal: Int32Array = new Int32Array(0);
  /** Buckets by owner and ordinal: number owner * cardinality + ordinal. */
  #direct: Int32Array = new Int32Array(0);
  #pairDocs = new Int32Array(0);
  #pairBuckets = new Int32Array(0);
  /** Documents by owner and ordinal that aren't in buckets yet: number owner * cardinality + ordinal. */
  #counts: Int32Array = new Int32Array(0);

  constructor(context: TermsContext, path: string, missing: string | undefined) {
    this.#context = context;
    this.#path = path;
    this.#missing = missing;
    this.#terms = new TermTable(context.budget);
    if (missing === undefined && context.filter === undefined) this.#many = manyTerms(context.shard, path);
    this.#known = this.#many === undefined ? undefined : knownTerms(this.#field(this.#many));
    this.#keys = new NumberKeys(context.budget);
    this.#buckets = new BucketCollector(context.shape.below, context.shard, context.budget);
  }

  get takesLate(): boolean {
    return this.#buckets.takesLate && opensLate(this.#context.shard, this.#path);
  }

  segment(segment: SegmentReader): void {
    this.#settle();
    this.#reader = undefined;
    this.#column =
      this.#many === undefined ? segment.keywordColumn(this.#path) : (this.#many.get(segment) ?? null);
    this.#docCount = segment.docCount;
    this.#values.open(this.#column);
    const cardinality = this.#column?.cardinality ?? 0;
    this.#byOrdinal =
      this.#known === undefined || this.#column === null
        ? new Int32Array(cardinality).fill(UNKNOWN)
        : this.#known.numbersOf(this.#column);
    this.#direct = new Int32Array(0);
    this.#counts = new Int32Array(this.#countsByOrdinal ? cardinality : 0);
    this.#buckets.segment(segment);
  }

  /** Whether documents of the open segment are counted by ordinal first: of many the look-up after that takes long. */
  get #countsByOrdinal(): boolean {
    return (this.#column?.cardinality ?? 0) <= MAX_COUNTED;
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    const count = this.#values.read(docs, length);
    const { ordinals, places } = this.#values;
    const onlyCounts = this.#buckets.onlyCounts && this.#missing === undefined && this.#countsByOrdinal;
    if (onlyCounts && onlyOwner(owners, length) === 0) {
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
    const room = Math.min(PAIRS, count);
    this.#pairDocs = grown(this.#pairDocs, room);
    this.#pairBuckets = grown(this.#pairBuckets, room);
    for (let at = 0; at < count; at++) {
      const position = places[at]!;
      const ordinal = ordinals[at]!;
      const slot = owners[position]! * cardinality + ordinal;
      const known = ordinal >= 0 && slot < this.#direct.length ? this.#direct[slot]! : UNKNOWN;
      const bucket = known === UNKNOWN ? this.#bucket(owners[position]!, ordinal) : known;
      if (bucket < 0) continue;
      this.#pairDocs[length] = docs[position]!;
      this.#pairBuckets[length++] = bucket;
      if (length < room) continue;
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
    if (!this.#countsByOrdinal) return false;
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
    return atOnce(this.steps(owner));
  }

  *steps(owner: number): Steps<TermsState> {
    this.#settle();
    if (this.#context.shape.minDocCount === 0) yield* this.#addAll(owner);
    if (this.#many !== undefined && this.#known === undefined)
      yield* this.#numberAll(this.#field(this.#many));
    const terms = this.#known ?? this.#terms;
    const { keys, buckets } = this.#keys.of(owner);
    const isAddress = this.#context.shard.mapping.field(this.#path)?.type === "ip";
    const byAddress = isAddress && this.#context.shape.order.some(({ by }) => by === "key");
    const addresses = byAddress ? yield* addressesOf(keys.length, (at) => terms.text(keys[at]!)) : undefined;
    const collected: CollectedTerms = {
      length: keys.length,
      count: (at) => this.#buckets.count(buckets[at]!),
      key: (at) => terms.text(keys[at]!),
      compareKeys:
        addresses === undefined
          ? (a, b) => terms.compare(keys[a]!, keys[b]!)
          : (a, b) => Buffer.compare(addresses[a]!, addresses[b]!),
      below: (at) => this.#buckets.below(buckets[at]!),
      belowSteps: (at) => this.#buckets.belowSteps(buckets[at]!),
    };
    // Addresses of equal counts are cut in the order of their texts, which isn't that of the answer.
    const context = isAddress ? { ...this.#context, isFinal: false } : this.#context;
    const state = textState(yield* handOn(context, collected, this.#keys.owners));
    return isAddress ? { ...state, areAddresses: true } : state;
  }

  #field(columns: ReadonlyMap<SegmentReader, KeywordColumn>): TermsField {
    return { index: this.#context.shard.indexUuid, path: this.#path, columns: [...columns.values()] };
  }

  /** Numbers the values for later searches, which then need not look them up. */
  *#numberAll(field: TermsField): Steps<void> {
    const values = field.columns.reduce((total, { cardinality }) => total + cardinality, 0);
    if (this.#met < values * SHARE_MET) return;
    this.#met = 0;
    yield* numberedTerms(field);
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
      if (this.#missing === undefined) return LEFT_OUT;
      return this.#keys.bucket(owner, this.#terms.number(toBytes(this.#missing)));
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
      number = this.#number(this.#reader, ordinal, this.#column!.kind);
      this.#byOrdinal[ordinal] = number;
      this.#met++;
    }
    return number === LEFT_OUT ? LEFT_OUT : this.#keys.bucket(owner, number);
  }

  /** The number of a value, or LEFT_OUT. */
  #number(reader: TermReader, ordinal: number, kind: KeywordColumn["kind"]): number {
    const { filter } = this.#context;
    if (filter?.(reader.text(ordinal)) === false) return LEFT_OUT;
    // Addresses are ordered by their texts.
    return this.#terms.number(kind === "ip" ? toBytes(reader.text(ordinal)) : reader.bytes(ordinal));
  }

  /** With min_doc_count 0 values that no matching document has get buckets too. */
  *#addAll(owner: number): Steps<void> {
    for (const segment of this.#context.shard.searcher.segments) {
      const column = this.#many?.get(segment) ?? segment.keywordColumn(this.#path);
      if (column === null) continue;
      const reader = column.reader();
      const numbers = this.#known?.numbersOf(column);
      for (let ordinal = 0; ordinal < column.cardinality; ordinal++) {
        if (ordinal % STEP_VALUES === STEP_VALUES - 1) yield;
        const number = numbers?.[ordinal] ?? this.#number(reader, ordinal, column.kind);
        if (number !== LEFT_OUT) this.#keys.bucket(owner, number);
      }
    }
    if (this.#missing !== undefined) this.#keys.bucket(owner, this.#terms.number(toBytes(this.#missing)));
  }
}

/** Returns the columns of a keyword by segment if they have many values; undefined otherwise, and for computed fields. */
function manyTerms(
  { searcher }: TermsContext["shard"],
  path: string,
): ReadonlyMap<SegmentReader, KeywordColumn> | undefined {
  const columns = new Map<SegmentReader, KeywordColumn>();
  let values = 0;
  for (const segment of searcher.segments) {
    if (failingFields(segment).length > 0) return undefined;
    const column = segment.keywordColumn(path);
    // Addresses are numbered by their texts, whose order is another one.
    if (column !== null && column.kind !== "keyword") return undefined;
    values += column?.cardinality ?? 0;
    if (column !== null) columns.set(segment, column);
  }
  return values > MANY ? columns : undefined;
}
