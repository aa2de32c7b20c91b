/** `top_hits`: the best documents of each bucket. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Aggregation, CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { type Hit, HitFetcher } from "#hub/search/execute/fetch/fetch-hit.ts";
import { type FetchOptions, parseFetch } from "#hub/search/execute/fetch/fetch-request.ts";
import { TopHits as HitCollector } from "#hub/search/execute/hits/top-hits.ts";
import { AllNode } from "#hub/search/execute/nodes/documents.ts";
import { anything, flag, integer, object } from "#hub/search/options/options.ts";
import { type DocumentScores, scoresOn } from "#hub/search/query/document-scores.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { compareRanks, type KeySource, type Rank, type RankOrder } from "#hub/search/sort/key.ts";
import { bindSort } from "#hub/search/sort/shard-sort.ts";
import {
  BY_SCORE,
  isByScore,
  parseSort,
  type SortKey,
  needsScores as sortNeedsScores,
} from "#hub/search/sort/sort-request.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { singleFraction } from "#proto/kit/number-text.ts";

/** index.max_inner_result_window. */
const MAX_HITS = 100;

const OPTIONS = {
  from: integer("hits to skip", 0),
  size: integer("hits of each bucket", 3),
  sort: anything("order; by score without it"),
  _source: anything("which parts of the documents are returned"),
  stored_fields: anything("_none_, or fields"),
  docvalue_fields: anything("fields whose values are returned from columns"),
  fields: anything("fields whose values are returned"),
  script_fields: object("fields that scripts make of a hit, by name"),
  highlight: object("which fields are returned with marks"),
  version: flag("whether hits have versions", false),
  seq_no_primary_term: flag("whether hits have sequence numbers", false),
  explain: flag("whether hits explain their scores", false),
  track_scores: flag("whether hits sorted by fields have scores", false),
} as const;

export const topHits: AggregationType = {
  name: "top_hits",
  summary: "The best documents of each bucket by [sort]; without one by score.",
  options: OPTIONS,
  buckets: false,
  joined: "never",
  parse(body, { name, queries }) {
    const options = readAggregation("top_hits", body, OPTIONS);
    const [from, size] = [options.from ?? 0, options.size ?? 3];
    if (from + size > MAX_HITS) {
      throw new AppError(
        "request_invalid",
        `Top hits result window is too large, the top hits aggregator [${name}]'s from + size must be less than or equal to: [${MAX_HITS}] but was [${from + size}]. This limit can be set by changing the [index.max_inner_result_window] index level setting.`,
      );
    }
    const sort = parseSort(options.sort, queries.nestedFilter);
    return new TopHits({
      byScore: isByScore(sort),
      sort: isByScore(sort) ? BY_SCORE : sort,
      trackScores: options.track_scores ?? false,
      from,
      size,
      fetch: parseFetch(options, queries),
    });
  },
};

interface TopHitsRequest {
  /** By the score alone: hits show no sort values. */
  readonly byScore: boolean;
  readonly sort: readonly SortKey[];
  readonly trackScores: boolean;
  readonly from: number;
  readonly size: number;
  readonly fetch: FetchOptions;
}

/** JSON-able except for infinite ranks. */
interface TopHitsState {
  readonly total: number;
  /** Null if hits have no scores. */
  readonly maxScore: number | null;
  /** The shard is named so that hits of equal rank have the same order however states are merged. */
  readonly hits: readonly {
    readonly ranks: readonly Rank[];
    readonly index: string;
    readonly shard: number;
    readonly hit: Hit;
  }[];
  /** How ranks compare; empty without hits. */
  readonly orders: readonly RankOrder[];
}

/** Returns a score as answers print it. */
function printed(score: unknown): unknown {
  return typeof score === "number" ? singleFraction(score) : score;
}

const NO_HITS: TopHitsState = { total: 0, maxScore: null, hits: [], orders: [] };

class TopHits implements Aggregation<TopHitsState> {
  readonly #request: TopHitsRequest;

  constructor(request: TopHitsRequest) {
    this.#request = request;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<TopHitsState> {
    const { sort, byScore, fetch } = this.#request;
    const sources = bindSort(sort, shard);
    const { query, boost } = shard.collected ?? { query: new AllNode(), boost: 1 };
    const fetcher = new HitFetcher({ options: fetch, query, sorted: !byScore, boost }, shard);
    return new TopHitsCollector(this.#request, sources, fetcher, shard, budget);
  }

  merge(states: readonly TopHitsState[]): TopHitsState {
    if (states.length === 1) return states[0]!;
    const hits = states.flatMap((state) => state.hits);
    const orders = states.find((state) => state.orders.length > 0)?.orders ?? [];
    hits.sort(
      (a, b) =>
        compareRanks(orders, a.ranks, b.ranks) ||
        (a.index === b.index ? a.shard - b.shard : a.index < b.index ? -1 : 1),
    );
    const scores = states.map(({ maxScore }) => maxScore).filter((score) => score !== null);
    return {
      total: states.reduce((total, state) => total + state.total, 0),
      maxScore: scores.length === 0 ? null : Math.max(...scores),
      hits: hits.slice(0, this.#request.from + this.#request.size),
      orders,
    };
  }

  render({ total, maxScore, hits }: TopHitsState): JsonObject {
    const { from, size } = this.#request;
    const shown = hits
      .slice(from, from + size)
      .map(({ hit }) => ({ ...hit, _score: printed(hit["_score"]) }));
    return { hits: { total, max_score: printed(maxScore), hits: shown } };
  }

  empty(): TopHitsState {
    return NO_HITS;
  }

  typedName(): string {
    return "top_hits";
  }
}

interface BucketHits {
  readonly top: HitCollector;
  /** Position of the segment that `top` has open. */
  order: number;
  total: number;
  maxScore: number;
}

class TopHitsCollector implements Collector<TopHitsState> {
  readonly #sources: readonly KeySource[];
  readonly #limit: number;
  readonly #keepScores: boolean;
  /** Whether the answer has the best score of all documents of a bucket. */
  readonly #tracksMax: boolean;
  readonly #fetcher: HitFetcher;
  readonly #shard: ShardContext;
  readonly #budget: CollectBudget;
  /** Undefined if neither the order nor the hits need scores. */
  readonly #scores: DocumentScores | undefined;
  readonly #buckets: BucketHits[] = [];
  readonly #doc = new Int32Array(1);
  readonly #score = new Float32Array(1);
  #segment: SegmentReader | undefined;
  #order = -1;

  constructor(
    { sort, byScore, from, size, trackScores }: TopHitsRequest,
    sources: readonly KeySource[],
    fetcher: HitFetcher,
    shard: ShardContext,
    budget: CollectBudget,
  ) {
    this.#sources = sources;
    this.#limit = Math.max(1, from + size);
    this.#fetcher = fetcher;
    this.#shard = shard;
    this.#budget = budget;
    const sortsByScore = sortNeedsScores(sort);
    this.#keepScores = trackScores || (sortsByScore && !byScore);
    const needsScores = trackScores || sortsByScore;
    this.#tracksMax = trackScores || byScore;
    this.#scores = needsScores ? scoresOn(shard) : undefined;
  }

  segment(segment: SegmentReader): void {
    this.#segment = segment;
    this.#order++;
    this.#scores?.segment(segment);
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    for (let at = 0; at < length; at++) {
      const bucket = this.#bucket(buckets[at]!);
      bucket.total++;
      this.#doc[0] = docs[at]!;
      if (this.#scores === undefined) {
        bucket.top.collect(this.#doc, null, 1);
        continue;
      }
      const score = (this.#score[0] = this.#scores.of(docs[at]!));
      if (score > bucket.maxScore) bucket.maxScore = score;
      bucket.top.collect(this.#doc, this.#score, 1);
    }
  }

  state(bucket: number): TopHitsState {
    const found = this.#buckets[bucket];
    if (found === undefined) return NO_HITS;
    const { top, total, maxScore } = found;
    const { index, shard } = this.#shard;
    return {
      total,
      maxScore: this.#tracksMax && Number.isFinite(maxScore) ? maxScore : null,
      hits: top.finish().map((hit) => ({ ranks: hit.ranks, index, shard, hit: this.#fetcher.fetch(hit) })),
      orders: this.#sources.map(({ order }) => order),
    };
  }

  #bucket(number: number): BucketHits {
    let bucket = this.#buckets[number];
    if (bucket === undefined) {
      // A queue takes about as much memory as that many buckets.
      this.#budget.add(16 + this.#limit);
      const top = new HitCollector({
        limit: this.#limit,
        sources: this.#sources,
        after: undefined,
        keepScores: this.#keepScores,
      });
      bucket = this.#buckets[number] = { top, order: -1, total: 0, maxScore: Number.NEGATIVE_INFINITY };
    }
    if (bucket.order !== this.#order) {
      bucket.order = this.#order;
      bucket.top.segment(this.#segment!, this.#order);
    }
    return bucket;
  }
}
