/** Queries without terms: all documents, none, given ids, documents with a field. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { FIELD_NAMES_FIELD, IGNORED_FIELD } from "#hub/engine/segment/snapshot-reader.ts";
import type { Query, QueryDescription, ScoreMode, ShardContext, Weight } from "#hub/search/query/query.ts";
import type { Scorer } from "#hub/search/query/scorer.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { AppError } from "#proto/kit/errors.ts";
import { AllScorer, BitsetScorer } from "./block-scorer.ts";
import { countLive } from "./set-algebra.ts";

/** Metadata that every document has. */
const ALWAYS_THERE: ReadonlySet<string> = new Set([
  "_id",
  "_uid",
  "_index",
  "_type",
  "_seq_no",
  "_primary_term",
  "_version",
]);

/** Every document, each with the score 1. */
export class AllNode implements Query {
  weight(_shard: ShardContext, { boost }: ScoreMode): Weight {
    return {
      scorer: (segment) => (segment.docCount === 0 ? null : new AllScorer(segment.docCount, boost)),
      count: (segment) => segment.liveCount,
      set: (segment) =>
        segment.docCount === 0 ? null : segment.remembered("all", () => Bitset.full(segment.docCount)),
      key: "all",
    };
  }

  describe(): QueryDescription {
    return { type: "MatchAllDocsQuery", text: "*:*" };
  }
}

/** No document. */
export class NoneNode implements Query {
  weight(): Weight {
    return { scorer: () => null, count: () => 0, set: () => null };
  }

  canMatch(): boolean {
    return false;
  }

  describe(): QueryDescription {
    return { type: "MatchNoDocsQuery", text: "MatchNoDocsQuery" };
  }
}

/** Documents that `select` picks in a segment; each has the score 1. */
export abstract class SetNode implements Query {
  /** Returns the documents, which may be shared and aren't changed; null for none. */
  protected abstract select(segment: SegmentReader, shard: ShardContext): Bitset | null;

  /** Like `select`, for nodes that may need long: others get the thread between two steps. */
  protected selectInSteps?(segment: SegmentReader, shard: ShardContext): Generator<void, Bitset | null>;

  /** Key of the set in a segment's cache; undefined: the set isn't cached. */
  protected readonly key: string | undefined = undefined;

  weight(shard: ShardContext, { boost }: ScoreMode): Weight {
    const { key } = this;
    // One search uses it up to three times: to count, to walk, to return the set.
    let last: { readonly segment: SegmentReader; readonly set: Bitset | null } | undefined;
    const set = (segment: SegmentReader): Bitset | null => {
      if (last?.segment !== segment) {
        const find = (): Bitset | null => this.select(segment, shard);
        last = { segment, set: key === undefined ? find() : segment.remembered(key, find) };
      }
      return last.set;
    };
    const prepare = async (segment: SegmentReader, control: SearchControl): Promise<void> => {
      const known = key === undefined ? undefined : segment.remembered(key, () => undefined);
      if (known !== undefined || last?.segment === segment) return;
      const found = await inSteps(this.selectInSteps!(segment, shard), control);
      if (found === undefined) return;
      last = { segment, set: key === undefined ? found : segment.remembered(key, () => found) };
    };
    return {
      key,
      set,
      ...(this.selectInSteps !== undefined && { prepare }),
      scorer: (segment): Scorer | null => {
        const found = set(segment);
        return found === null ? null : new BitsetScorer(found, boost);
      },
      count: (segment) => countLive(set(segment), segment),
    };
  }
}

/** Runs `steps` to their end, with pauses; undefined if the time is over before. Throws cancelled. */
export async function inSteps<T>(steps: Generator<void, T>, control: SearchControl): Promise<T | undefined> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (control.isDue) await control.pause();
    if (control.timedOut) return undefined;
  }
}

/** Documents with one of these ids. */
export class IdsNode extends SetNode {
  readonly #ids: readonly string[];

  constructor(ids: readonly string[]) {
    super();
    this.#ids = ids;
  }

  describe(): QueryDescription {
    return { type: "TermInSetQuery", text: `_id:(${this.#ids.join(" ")})` };
  }

  protected select(segment: SegmentReader): Bitset | null {
    let set: Bitset | null = null;
    for (const id of this.#ids) {
      const doc = segment.docOf(id);
      if (doc >= 0) (set ??= new Bitset(segment.docCount)).add(doc);
    }
    return set;
  }
}

/** Documents with a value of a field; of an object: of any field below it. `pattern` may hold `*`. */
export class ExistsNode extends SetNode {
  readonly #pattern: string;
  readonly #isAggregated: boolean;

  /** `isAggregated`: for an aggregation, which a cluster that refuses expensive queries doesn't refuse. */
  constructor(pattern: string, isAggregated = false) {
    super();
    this.#pattern = pattern;
    this.#isAggregated = isAggregated;
  }

  describe(): QueryDescription {
    return { type: "DocValuesFieldExistsQuery", text: `DocValuesFieldExistsQuery [field=${this.#pattern}]` };
  }

  override weight(shard: ShardContext, mode: ScoreMode): Weight {
    if (ALWAYS_THERE.has(this.#pattern)) return new AllNode().weight(shard, mode);
    if (this.#pattern === "_source") {
      throw new AppError("query_shard", "The _source field is not searchable");
    }
    if (!this.#isAggregated)
      for (const { path, aliasOf } of this.#fields(shard)) shard.checkComputed(aliasOf ?? path);
    return super.weight(shard, mode);
  }

  protected select(segment: SegmentReader, shard: ShardContext): Bitset | null {
    const steps = this.selectInSteps(segment, shard);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  }

  /** A pause for each field: the documents of a flattened field's key are found by its terms. */
  protected override *selectInSteps(
    segment: SegmentReader,
    shard: ShardContext,
  ): Generator<void, Bitset | null> {
    if (this.#pattern === "_routing") return yield* routed(segment);
    if (this.#pattern === IGNORED_FIELD) return segment.exists(IGNORED_FIELD);
    let all: Bitset | null = null;
    let owned = false;
    for (const field of this.#fields(shard)) {
      yield* segment.openKeys([field.path]);
      const set = existing(segment, field);
      yield;
      if (set === null) continue;
      if (all === null) all = set;
      else {
        all = owned ? all.or(set) : all.clone().or(set);
        owned = true;
      }
    }
    return all;
  }

  #fields({ mapping }: ShardContext): Field[] {
    return mapping.match(mapping.isObject(this.#pattern) ? `${this.#pattern}.*` : this.#pattern);
  }
}

/** Documents with a value of a field; binary ones have nothing but their names. */
function existing(segment: SegmentReader, field: Field): Bitset | null {
  const path = field.aliasOf ?? field.path;
  if (field.type !== "binary") return segment.exists(path);
  const postings = segment.postings(FIELD_NAMES_FIELD, path);
  return postings === null ? null : postings.toSet();
}

const DOCS_PER_STEP = 1024;

/** Returns the documents that were written with a routing of their own. */
function* routed(segment: SegmentReader): Generator<void, Bitset> {
  const set = new Bitset(segment.docCount);
  for (let doc = 0; doc < segment.docCount; doc++) {
    if (doc % DOCS_PER_STEP === 0) yield;
    if (segment.routing(doc) !== undefined) set.add(doc);
  }
  return set;
}
