/** Collects the first buckets of `composite` in key order. A key has a part for each source. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { BucketCollector } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import type {
  AggregationTree,
  CollectBudget,
  Collector,
  TreeState,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { atOnce, type Steps, sortedSteps } from "#hub/search/aggregations/tree/steps.ts";
import type { printValue } from "#hub/search/columns/value-format.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { KnownKeys, PartNumbers } from "./composite-parts.ts";
import type { KeyPart, SourceValues } from "./composite-source.ts";

/** Keys beyond twice those wanted before the ones that came to nothing are dropped. */
const SPARE_KEYS = 1000;

export interface CompositeBucket {
  readonly key: readonly KeyPart[];
  readonly count: number;
  readonly below: TreeState;
}

/** JSON-able; in the order of the keys. */
export interface CompositeState {
  readonly buckets: readonly CompositeBucket[];
  /** Keys as the answer has them need the fields' formats. */
  readonly formats: readonly (Parameters<typeof printValue>[0] | null)[];
  /** Whether the texts of each source are addresses, whose order is that of the addresses; an older hub doesn't say. */
  readonly areAddresses?: readonly boolean[];
}

/** What a collector needs. */
export interface CompositeCollection {
  readonly values: readonly SourceValues[];
  /** Key after which buckets begin. */
  readonly behind: readonly KeyPart[] | undefined;
  readonly size: number;
  readonly compare: (a: readonly KeyPart[], b: readonly KeyPart[]) => number;
  readonly below: AggregationTree;
  readonly shard: ShardContext;
  readonly budget: CollectBudget;
}

/** See the file's comment. There is one owner because `composite` can't be below another aggregation. */
export class CompositeCollector implements Collector<CompositeState> {
  readonly #collection: CompositeCollection;
  readonly #keys: FirstKeys;
  readonly #buckets: BucketCollector;
  readonly #known: KnownKeys;
  /** True if no document of the open segment has several values of a source. */
  #isSingle = false;

  constructor(collection: CompositeCollection) {
    this.#collection = collection;
    this.#keys = new FirstKeys(collection);
    this.#buckets = new BucketCollector(collection.below, collection.shard, collection.budget);
    this.#known = new KnownKeys(collection.values.map((source) => new PartNumbers(source)));
  }

  segment(segment: SegmentReader): void {
    for (const values of this.#collection.values) values.open(segment);
    this.#isSingle = this.#known.open(segment);
    if (!this.#isSingle) this.#collection.budget.isCostly = true;
    this.#known.bound(this.#collection.behind, this.#keys.last);
    this.#buckets.segment(segment);
  }

  collect(docs: Int32Array, _owners: Int32Array, length: number): void {
    if (this.#isSingle) this.#collectKnown(docs, length);
    else this.#collectCombined(docs, length);
    this.#buckets.flush();
  }

  /** Fast path: each document has one key, and most have one that was there before. */
  #collectKnown(docs: Int32Array, length: number): void {
    const known = this.#known;
    known.read(docs, length);
    for (let at = 0; at < length; at++) {
      const number = known.number(at);
      if (number < 0) continue;
      let bucket = known.bucket(number);
      if (bucket === undefined) {
        const { shrunk } = this.#keys;
        bucket = this.#bucket(known.key(at));
        if (this.#keys.shrunk !== shrunk) {
          known.forgetBuckets();
          known.bound(this.#collection.behind, this.#keys.last);
        }
        known.setBucket(number, bucket);
      }
      if (bucket >= 0) this.#buckets.add(docs[at]!, bucket);
    }
  }

  #collectCombined(docs: Int32Array, length: number): void {
    const { values, budget } = this.#collection;
    for (let at = 0; at < length; at++) {
      const doc = docs[at]!;
      const keys = combinations(values.map((source) => source.of(doc)));
      budget.chargeFurther(keys.length - 1);
      for (const key of keys) {
        const bucket = this.#bucket(key);
        if (bucket >= 0) this.#buckets.add(doc, bucket);
      }
    }
  }

  /** The bucket of a key, -1 if it isn't wanted. */
  #bucket(key: readonly KeyPart[]): number {
    const { behind, compare } = this.#collection;
    return behind !== undefined && compare(key, behind) <= 0 ? -1 : this.#keys.bucket(key);
  }

  state(): CompositeState {
    return atOnce(this.steps());
  }

  *steps(): Steps<CompositeState> {
    const buckets: CompositeBucket[] = [];
    for (const { key, bucket } of yield* this.#keys.firstSteps()) {
      yield;
      const below = yield* this.#buckets.belowSteps(bucket);
      buckets.push({ key, count: this.#buckets.count(bucket), below });
    }
    const { values } = this.#collection;
    return {
      buckets,
      formats: values.map(({ format }) => format),
      areAddresses: values.map(({ areAddresses }) => areAddresses),
    };
  }
}

/** A key with the bucket of its documents. */
interface KeyBucket {
  readonly key: readonly KeyPart[];
  /** The key as JSON. */
  readonly text: string;
  readonly bucket: number;
}

/** The first keys; keys that can no longer be among them are dropped. */
class FirstKeys {
  readonly #compare: CompositeCollection["compare"];
  readonly #size: number;
  readonly #budget: CollectBudget;
  #buckets = new Map<string, KeyBucket>();
  #nextBucket = 0;
  /** How often keys were dropped. */
  shrunk = 0;
  /** Keys after it aren't wanted: there are enough before. */
  last: readonly KeyPart[] | undefined;

  constructor({ compare, size, budget }: CompositeCollection) {
    this.#compare = compare;
    this.#size = size;
    this.#budget = budget;
  }

  /** Returns the bucket of a key, or -1 if the key isn't wanted. */
  bucket(key: readonly KeyPart[]): number {
    if (this.last !== undefined && this.#compare(key, this.last) > 0) return -1;
    const text = textOf(key);
    const known = this.#buckets.get(text);
    if (known !== undefined) return known.bucket;
    this.#budget.add();
    const made = { key, text, bucket: this.#nextBucket++ };
    this.#buckets.set(text, made);
    if (this.#buckets.size >= 2 * this.#size + SPARE_KEYS) this.#shrink();
    return made.bucket;
  }

  /** The first keys, in their order. */
  *firstSteps(): Steps<KeyBucket[]> {
    const sorted = yield* sortedSteps([...this.#buckets.values()], (a, b) => this.#compare(a.key, b.key));
    return sorted.slice(0, this.#size);
  }

  /** Keeps the first keys: in a batch of documents, so they are chosen without being put in order. */
  #shrink(): void {
    this.shrunk++;
    const all = [...this.#buckets.values()];
    chooseFirst(all, this.#size, (a, b) => this.#compare(a.key, b.key));
    this.last = all[this.#size - 1]!.key;
    for (const { text } of all.slice(this.#size)) this.#buckets.delete(text);
  }
}

function textOf(key: readonly KeyPart[]): string {
  return key.some((part) => typeof part === "bigint") ? writeJson(key) : JSON.stringify(key);
}

/**
 * Moves the first `count` items, of more, to the beginning of a list, the last of them at `count - 1`. Of takes time
 * linear in their number (quickselect), with a median of three as pivot.
 */
function chooseFirst<T>(items: T[], count: number, compare: (a: T, b: T) => number): void {
  const wanted = count - 1;
  for (let low = 0, high = items.length - 1; low < high; ) {
    const pivot = medianOf(items[low]!, items[(low + high) >>> 1]!, items[high]!, compare);
    let [left, right] = [low, high];
    while (left <= right) {
      while (compare(items[left]!, pivot) < 0) left++;
      while (compare(items[right]!, pivot) > 0) right--;
      if (left > right) break;
      [items[left], items[right]] = [items[right]!, items[left]!];
      left++;
      right--;
    }
    if (wanted <= right) high = right;
    else if (wanted >= left) low = left;
    else return;
  }
}

function medianOf<T>(a: T, b: T, c: T, compare: (a: T, b: T) => number): T {
  const [low, high] = compare(a, b) <= 0 ? [a, b] : [b, a];
  if (compare(c, low) <= 0) return low;
  return compare(c, high) <= 0 ? c : high;
}

/** Combinations of one document's values. */
const MAX_COMBINATIONS = 10_000;

/** Every way to take one value of each list; none if a list is empty. Throws request_invalid for too many. */
export function combinations<Part>(lists: readonly (readonly Part[])[]): Part[][] {
  const count = lists.reduce((product, { length }) => product * length, 1);
  if (count > MAX_COMBINATIONS)
    throw new AppError(
      "request_invalid",
      `the values of a document have more than ${MAX_COMBINATIONS} combinations; use fewer fields`,
    );
  return lists.reduce<Part[][]>(
    (all, parts) => all.flatMap((key) => parts.map((part) => [...key, part])),
    [[]],
  );
}
