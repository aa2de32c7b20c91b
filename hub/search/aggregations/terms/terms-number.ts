/** Collects `terms` of numbers, dates and booleans. */

import { type Field, isDate } from "#hub/engine/mapping/field.ts";
import type { NumericColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  BucketCollector,
  collectedTerms,
  KeyTable,
} from "#hub/search/aggregations/buckets/bucket-collector.ts";
import {
  handedOn,
  handOn,
  type TermsContext,
  type TermsState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type { Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { compareNumberKeys } from "#hub/search/aggregations/tree/bucket-order.ts";
import { atOnce, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { NumericValues, numericColumn } from "#hub/search/columns/column-values.ts";
import type { ValueFormat } from "#hub/search/columns/value-format.ts";
import { isWholeType } from "#hub/search/fields/field-terms.ts";

/** Documents that are read at a time, and between two pauses, for values of documents that aren't found. */
const BATCH = 1024;

export class NumberTermsCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #field: Field;
  readonly #format: ValueFormat;
  readonly #values: NumericValues;
  /** Keys are numbers; whole ones beyond 2^53 are their digits. */
  readonly #keys: KeyTable<string | number>;
  readonly #buckets: BucketCollector;
  readonly #exact: bigint[] = [];
  /** All keys of the shard, once they are needed. */
  #all: ReadonlySet<string | number> | undefined;
  #column: NumericColumn | null = null;

  constructor(context: TermsContext, field: Field, missing: number | undefined, format: ValueFormat) {
    this.#context = context;
    this.#field = field;
    this.#format = format;
    this.#values = new NumericValues(missing);
    this.#keys = new KeyTable(context.budget);
    this.#buckets = new BucketCollector(context.shape.below, context.shard, context.budget);
  }

  get takesLate(): boolean {
    return this.#buckets.takesLate;
  }

  segment(segment: SegmentReader): void {
    this.#open(segment);
    this.#buckets.segment(segment);
  }

  #open(segment: SegmentReader): void {
    this.#column = numericColumn(segment, this.#field);
    this.#values.open(this.#column);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    if (this.#column?.safe === false) this.#collectExact(docs, owners, length);
    else this.#collectNumbers(docs, owners, length);
    this.#buckets.flush();
  }

  state(owner: number): TermsState {
    return atOnce(this.steps(owner));
  }

  *steps(owner: number): Steps<TermsState> {
    if (this.#context.shape.minDocCount === 0) yield* this.#addAll(owner);
    const collected = collectedTerms(this.#keys.of(owner), this.#buckets);
    const terms = {
      ...collected,
      compareKeys: (a: number, b: number) => compareNumberKeys(collected.key(a), collected.key(b)),
    };
    const whole = isWholeType(this.#field) || isDate(this.#field) || this.#field.type === "boolean";
    const handed = yield* handOn(this.#context, terms, this.#keys.owners);
    return { ...handed, parts: 1, kind: whole ? "long" : "double", format: this.#format };
  }

  /** With min_doc_count 0 values that no matching document has get buckets too. */
  *#addAll(owner: number): Steps<void> {
    this.#all ??= yield* this.#allKeys();
    yield* this.#keys.addAll(owner, this.#all);
  }

  /** Returns the keys of all documents that the filter takes; of many the first in the order of the answer. */
  *#allKeys(): Steps<ReadonlySet<string | number>> {
    const { filter, shard, shape } = this.#context;
    const most = 2 * handedOn(this.#context);
    const isReversed = shape.order.find(({ by }) => by === "key")?.descending === true;
    const compare = (a: string | number, b: string | number): number =>
      isReversed ? compareNumberKeys(b, a) : compareNumberKeys(a, b);
    let found = new Set<string | number>();
    const add = (key: string | number): void => {
      if (found.has(key) || filter?.(String(key)) === false) return;
      found.add(key);
      if (found.size >= 2 * most) found = new Set([...found].sort(compare).slice(0, most));
    };
    for (const segment of shard.searcher.segments) {
      this.#open(segment);
      for (let first = 0; first < segment.docCount; first += BATCH) {
        const length = Math.min(BATCH, segment.docCount - first);
        this.#readKeys(
          Int32Array.from({ length }, (_, at) => first + at),
          add,
        );
        yield;
      }
    }
    return found;
  }

  #collectNumbers(docs: Int32Array, owners: Int32Array, length: number): void {
    const count = this.#values.read(docs, length);
    const { values, places } = this.#values;
    let lastIndex = -1;
    let lastValue = Number.NaN;
    for (let at = 0; at < count; at++) {
      const index = places[at]!;
      const value = values[at]!;
      // A document with the same value twice counts once; values of a document are ascending.
      if (index === lastIndex && value === lastValue) continue;
      lastIndex = index;
      lastValue = value;
      this.#add(docs[index]!, owners[index]!, value);
    }
  }

  #collectExact(docs: Int32Array, owners: Int32Array, length: number): void {
    for (let at = 0; at < length; at++) {
      const found = this.#column!.readExact(docs[at]!, this.#exact);
      for (let each = 0; each < found; each++) {
        const value = this.#exact[each]!;
        if (each > 0 && value === this.#exact[each - 1]) continue;
        this.#add(docs[at]!, owners[at]!, exactKey(value));
      }
    }
  }

  /** Calls `add` with the keys of documents, of some several times. */
  #readKeys(docs: Int32Array, add: (key: string | number) => void): void {
    if (this.#column?.safe !== false) {
      const count = this.#values.read(docs, docs.length);
      for (const value of this.#values.values.subarray(0, count)) add(value);
      return;
    }
    for (const doc of docs) {
      const found = this.#column.readExact(doc, this.#exact);
      for (const value of this.#exact.slice(0, found)) add(exactKey(value));
    }
  }

  #add(doc: number, owner: number, key: string | number): void {
    const { filter } = this.#context;
    if (filter !== undefined && !filter(String(key))) return;
    this.#buckets.add(doc, this.#keys.bucket(owner, key));
  }
}

/** Whole numbers beyond 2^53 are their digits. */
function exactKey(value: bigint): string | number {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}
