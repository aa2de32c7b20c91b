/** Sorts by values of nested objects: a document's key is computed from those of its objects. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { JoinedSegment } from "#hub/search/query/nested-scope.ts";
import { NO_MORE_DOCS, type ShardContext, type Weight } from "#hub/search/query/query.ts";
import { ExactKey } from "./exact-key.ts";
import { ExactNestedKey } from "./exact-nested-key.ts";
import type { KeySource, Rank, RankOrder, SegmentKey, SortValue } from "./key.ts";
import { NestedObjects } from "./nested-objects.ts";
import { pickValue } from "./picked-value.ts";
import type { NestedSort, SortMode } from "./sort-request.ts";

/** What a key among objects is bound with. */
export interface NestedKeyParts {
  /** Keys of documents without objects. */
  readonly outer: KeySource;
  /** Keys of objects; one without a value is infinite. */
  readonly inner: KeySource;
  readonly nested: NestedSort;
  readonly mode: SortMode;
  readonly descending: boolean;
}

export class NestedKeySource implements KeySource {
  readonly order: RankOrder;
  readonly #parts: NestedKeyParts;
  readonly #joined: ReadonlyMap<SegmentReader, JoinedSegment>;
  readonly #filter: Weight | undefined;

  /** `objects`: the shard as the level of the path sees it; `shard`: as the documents do. */
  constructor(parts: NestedKeyParts, objects: ShardContext, shard: ShardContext) {
    this.order = parts.outer.order;
    this.#parts = parts;
    this.#joined = objects.scope.joinFrom(shard.scope);
    this.#filter = parts.nested.filter?.weight(objects, { scores: false, boost: 1 });
  }

  segment(segment: SegmentReader): SegmentKey {
    const joined = this.#joined.get(segment);
    const { outer, inner, nested, descending, mode } = this.#parts;
    if (joined === undefined) return outer.segment(segment);
    const objects = new NestedObjects(joined, this.#allowed(joined), nested.maxChildren);
    const key = inner.segment(joined.objects);
    if (key instanceof ExactKey) {
      const missing = outer.rankOf(null) as number | bigint; // a field of numbers
      return new ExactNestedKey({ objects, inner: key, descending, missing, mode });
    }
    return new NestedKey(this.#parts, joined, outer.segment(segment), key, objects);
  }

  rankOf(value: unknown): Rank {
    return this.#parts.outer.rankOf(value);
  }

  /** Objects that fit the filter; undefined: all. */
  #allowed({ objects }: JoinedSegment): Bitset | undefined {
    if (this.#filter === undefined) return undefined;
    const allowed = new Bitset(objects.docCount);
    const scorer = this.#filter.scorer(objects);
    if (scorer === null) return allowed;
    for (let doc = scorer.next(); doc !== NO_MORE_DOCS; doc = scorer.next()) allowed.add(doc);
    return allowed;
  }
}

class NestedKey implements SegmentKey {
  readonly #parts: NestedKeyParts;
  readonly #joined: JoinedSegment;
  readonly #outer: SegmentKey;
  readonly #inner: SegmentKey;
  readonly #objects: NestedObjects;
  readonly #missingRank: Rank;
  readonly #missing: number;
  readonly #object = new Int32Array(1);
  readonly #key = new Float64Array(1);
  readonly #keys: number[] = [];

  constructor(
    parts: NestedKeyParts,
    joined: JoinedSegment,
    outer: SegmentKey,
    inner: SegmentKey,
    objects: NestedObjects,
  ) {
    this.#parts = parts;
    this.#joined = joined;
    this.#outer = outer;
    this.#inner = inner;
    this.#objects = objects;
    this.#missingRank = parts.outer.rankOf(null);
    this.#missing = this.#inner.keyOf(this.#missingRank);
  }

  load(docs: Int32Array, _scores: Float32Array | null, length: number, out: Float64Array): void {
    for (let at = 0; at < length; at++) out[at] = this.#keyOf(docs[at]!);
  }

  rank(doc: number, key: number): Rank {
    if (key === this.#missing) return this.#missingRank;
    return this.#parts.outer.order.kind === "number" ? key : this.#inner.rank(doc, key);
  }

  value(doc: number, key: number): SortValue {
    if (key === this.#missing) {
      if (this.#parts.outer.order.kind === "number") return this.#outer.value(doc, key);
      return typeof this.#missingRank === "string" ? this.#missingRank : null;
    }
    return this.#inner.value(this.#objectOf(doc, key), key);
  }

  keyOf(rank: Rank): number {
    // That of documents distinguishes a rank from that of documents without a value, which may share its number.
    return (this.#parts.outer.order.kind === "number" ? this.#outer : this.#inner).keyOf(rank);
  }

  #keyOf(doc: number): number {
    const { descending, mode } = this.#parts;
    const keys = this.#keys;
    keys.length = 0;
    this.#each(doc, (_object, key) => keys.push(key));
    if (keys.length === 0) return this.#missing;
    keys.sort((a, b) => a - b);
    // Keys of a descending order are values with their sign turned.
    if (mode === "min" || mode === "max") return (mode === "min") === descending ? keys.at(-1)! : keys[0]!;
    const picked = pickValue(keys, keys.length, mode);
    return this.#inner.rounded?.(picked) ?? picked;
  }

  /** Object whose key is `key`; the first one for keys that are made of several. */
  #objectOf(doc: number, key: number): number {
    let found = -1;
    this.#each(doc, (object, own) => {
      if (found < 0 && own === key) found = object;
    });
    return found < 0 ? this.#joined.starts[doc]! : found;
  }

  /** Calls `take` with the objects of a document that have a value. */
  #each(doc: number, take: (object: number, key: number) => void): void {
    this.#objects.each(doc, (object) => {
      this.#object[0] = object;
      this.#inner.load(this.#object, null, 1, this.#key);
      if (Number.isFinite(this.#key[0]!)) take(object, this.#key[0]!);
    });
  }
}
