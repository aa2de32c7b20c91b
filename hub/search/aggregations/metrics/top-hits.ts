/** `top_hits`: the best documents of each bucket. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Aggregation, CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { type Hit, HitFetcher } from "#hub/search/execute/fetch/fetch-hit.ts";
import { type FetchOptions, parseFetch } from "#hub/search/execute/fetch/fetch-request.ts";
import { TopHits as HitCollector } from "#hub/search/execute/hits/top-hits.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { anything, flag, integer, object } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { compareRanks, type KeySource, type Rank } from "#hub/search/sort/key.ts";
import { bindSort } from "#hub/search/sort/shard-sort.ts";
import { parseSort, type SortKey } from "#hub/search/sort/sort-request.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** index.max_inner_result_window. */
const MAX_HITS = 100;

const OPTIONS = {
  from: integer("hits to skip", 0),
  size: integer("hits of each bucket", 3),
  sort: anything("order; without it that of the index"),
  _source: anything("which parts of the documents are returned"),
  stored_fields: anything("_none_, or fields"),
  docvalue_fields: anything("fields whose values are returned from columns"),
  fields: anything("fields whose values are returned"),
  highlight: object("not offered here"),
  version: flag("whether hits have versions", false),
  seq_no_primary_term: flag("whether hits have sequence numbers", false),
  explain: flag("accepted", false),
  track_scores: flag("accepted", false),
} as const;

export const topHits: AggregationType = {
  name: "top_hits",
  summary: "The best documents of each bucket by [sort]; without one the first of the index.",
  options: OPTIONS,
  buckets: false,
  parse(body, { name, queries }) {
    const options = readAggregation("top_hits", body, OPTIONS);
    const [from, size] = [options.from ?? 0, options.size ?? 3];
    if (from + size > MAX_HITS) {
      throw new AppError(
        "request_invalid",
        `Top hits result window is too large, the top hits aggregator [${name}]'s from + size must be less than or equal to: [${MAX_HITS}] but was [${from + size}]. This limit can be set by changing the [index.max_inner_result_window] index level setting.`,
      );
    }
    const sort = parseSort(options.sort).filter((key) => key.kind !== "score");
    return new TopHits(sort, from, size, parseFetch({ ...options, highlight: undefined }, queries));
  },
};

/** JSON-able but for infinite ranks. */
interface TopHitsState {
  readonly total: number;
  readonly hits: readonly { readonly ranks: readonly Rank[]; readonly hit: Hit }[];
}

class TopHits implements Aggregation<TopHitsState> {
  readonly #sort: readonly SortKey[];
  readonly #from: number;
  readonly #size: number;
  readonly #fetch: FetchOptions;
  #sources: readonly KeySource[] = [];

  constructor(sort: readonly SortKey[], from: number, size: number, fetch: FetchOptions) {
    this.#sort = sort;
    this.#from = from;
    this.#size = size;
    this.#fetch = fetch;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<TopHitsState> {
    const keys: readonly SortKey[] =
      this.#sort.length === 0 ? [{ kind: "doc", descending: false }] : this.#sort;
    this.#sources = bindSort(keys, shard);
    const fetcher = new HitFetcher({ options: this.#fetch, query: new NoneNode(), sorted: true }, shard);
    return new TopHitsCollector(this.#sources, Math.max(1, this.#from + this.#size), fetcher, budget);
  }

  merge(states: readonly TopHitsState[]): TopHitsState {
    if (states.length === 1) return states[0]!;
    const hits = states.flatMap((state) => state.hits);
    if (this.#sort.length > 0) hits.sort((a, b) => compareRanks(this.#sources, a.ranks, b.ranks));
    return {
      total: states.reduce((total, state) => total + state.total, 0),
      hits: hits.slice(0, this.#from + this.#size),
    };
  }

  render({ total, hits }: TopHitsState): JsonObject {
    const shown = hits.slice(this.#from, this.#from + this.#size).map(({ hit }) => {
      if (this.#sort.length > 0) return hit;
      const { sort: _sort, ...rest } = hit;
      return { ...rest, _score: 1 };
    });
    return {
      hits: { total, max_score: this.#sort.length > 0 || shown.length === 0 ? null : 1, hits: shown },
    };
  }

  empty(): TopHitsState {
    return { total: 0, hits: [] };
  }

  typedName(): string {
    return "top_hits";
  }
}

class TopHitsCollector implements Collector<TopHitsState> {
  readonly #sources: readonly KeySource[];
  readonly #limit: number;
  readonly #fetcher: HitFetcher;
  readonly #budget: CollectBudget;
  readonly #buckets: { readonly top: HitCollector; order: number; total: number }[] = [];
  readonly #one = new Int32Array(1);
  #segment: SegmentReader | undefined;
  #order = -1;

  constructor(sources: readonly KeySource[], limit: number, fetcher: HitFetcher, budget: CollectBudget) {
    this.#sources = sources;
    this.#limit = limit;
    this.#fetcher = fetcher;
    this.#budget = budget;
  }

  segment(segment: SegmentReader): void {
    this.#segment = segment;
    this.#order++;
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    for (let at = 0; at < length; at++) {
      const bucket = this.#bucket(buckets[at]!);
      bucket.total++;
      this.#one[0] = docs[at]!;
      bucket.top.collect(this.#one, null, 1);
    }
  }

  state(bucket: number): TopHitsState {
    const found = this.#buckets[bucket];
    if (found === undefined) return { total: 0, hits: [] };
    const hits = found.top.finish().map((hit) => ({ ranks: hit.ranks, hit: this.#fetcher.fetch(hit) }));
    return { total: found.total, hits };
  }

  #bucket(number: number): { readonly top: HitCollector; order: number; total: number } {
    let bucket = this.#buckets[number];
    if (bucket === undefined) {
      // A queue takes about as much memory as that many buckets.
      this.#budget.add(16 + this.#limit);
      const top = new HitCollector({
        limit: this.#limit,
        sources: this.#sources,
        after: undefined,
        keepScores: false,
      });
      bucket = this.#buckets[number] = { top, order: -1, total: 0 };
    }
    if (bucket.order !== this.#order) {
      bucket.order = this.#order;
      bucket.top.segment(this.#segment!, this.#order);
    }
    return bucket;
  }
}
