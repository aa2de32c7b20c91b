/**
 * `profile`: measures how long the parts of a search take. Each part of the query is run again separately, each
 * aggregation is collected again, and the number of documents is counted.
 */

import type { AggregationTree } from "#hub/search/aggregations/tree/aggregation.ts";
import { Batch } from "#hub/search/execute/hits/batch.ts";
import { describeQuery } from "#hub/search/explain/explanation.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { NO_MORE_DOCS, type Query, type ShardContext } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type CollectOptions, collectShard } from "./collect-shard.ts";

/** Maximum depth of a query's parts that are reported separately. */
const MAX_DEPTH = 20;
/** Parts of all that are measured. */
const MAX_PARTS = 200;

const NANOS = 1e6;

/** Measures a search of a shard that took `searchMs`. Throws what searching it throws. */
export async function profileShard(
  request: SearchRequest,
  shard: ShardContext,
  how: CollectOptions,
  control: SearchControl,
  searchMs: number,
): Promise<JsonObject> {
  const budget = { left: MAX_PARTS };
  const query = await profileQuery(request.query, shard, control, budget, 0);
  const aggregations: JsonObject[] = [];
  for (const [name, node] of request.aggregations) {
    const tree: AggregationTree = new Map([[name, node]]);
    const start = performance.now();
    const { total, aggregations: states } = await collectShard(
      { ...request, aggregations: tree, size: 0, from: 0 },
      shard,
      { ...how, limit: 0 },
      control,
    );
    const tookMs = performance.now() - start;
    const state = states[name];
    const type = aggregatorName(node.aggregation.typedName(state));
    aggregations.push(aggregationBody({ type, name, tookMs, documents: total, buckets: bucketsOf(state) }));
  }
  return {
    searches: [{ query: [query], rewrite_time: 0, collector: [collectorBody(request, how, searchMs)] }],
    aggregations,
  };
}

async function profileQuery(
  query: Query,
  shard: ShardContext,
  control: SearchControl,
  budget: { left: number },
  depth: number,
): Promise<JsonObject> {
  const { type, text, children = [] } = describeQuery(query, shard);
  const breakdown = await walk(query, shard, control);
  const below: JsonObject[] = [];
  for (const child of depth < MAX_DEPTH ? children : []) {
    if (budget.left-- <= 0) break;
    below.push(await profileQuery(child, shard, control, budget, depth + 1));
  }
  const { create_weight, build_scorer, next_doc } = breakdown;
  return {
    type,
    description: text,
    time_in_nanos: create_weight + build_scorer + next_doc,
    breakdown,
    ...(below.length > 0 && { children: below }),
  };
}

/** Phases of 7.x, which aren't measured by themselves. */
const LATER_PHASES: Readonly<Record<string, number>> = Object.fromEntries(
  ["compute_max_score", "count_weight", "set_min_competitive_score", "shallow_advance"].flatMap((name) => [
    [name, 0],
    [`${name}_count`, 0],
  ]),
);

interface Breakdown {
  readonly create_weight: number;
  readonly build_scorer: number;
  readonly next_doc: number;
  readonly [name: string]: number;
}

/** Walks the documents of a query; times in nanoseconds. */
async function walk(query: Query, shard: ShardContext, control: SearchControl): Promise<Breakdown> {
  const { docs, scores } = new Batch(true, shard.searcher.segments);
  let start = performance.now();
  const weight = query.weight(shard, { scores: true, boost: 1 });
  const weightMs = performance.now() - start;
  let [buildMs, walkMs, met] = [0, 0, 0];
  for (const segment of shard.searcher.segments) {
    start = performance.now();
    await weight.prepare?.(segment, control);
    // What isn't prepared then would be looked for at once.
    if (control.timedOut) break;
    const scorer = weight.scorer(segment);
    buildMs += performance.now() - start;
    while (scorer !== null && scorer.doc !== NO_MORE_DOCS) {
      start = performance.now();
      met += scorer.fill(docs, scores);
      walkMs += performance.now() - start;
      if (control.isDue) await control.pause();
    }
  }
  const segments = shard.searcher.segments.length;
  return {
    score: 0,
    build_scorer_count: segments,
    match_count: 0,
    create_weight: Math.round(weightMs * NANOS),
    next_doc: Math.round(walkMs * NANOS),
    match: 0,
    create_weight_count: 1,
    next_doc_count: met,
    score_count: met,
    build_scorer: Math.round(buildMs * NANOS),
    advance: 0,
    advance_count: 0,
    ...(answersAs(700) && LATER_PHASES),
  };
}

/** What gathered the hits, under the names that 6.5 has for it. */
function collectorBody(request: SearchRequest, { limit }: CollectOptions, searchMs: number): JsonObject {
  const time = Math.round(searchMs * NANOS);
  const isSorted = request.sort.length > 0;
  const top = {
    name:
      limit === 0
        ? "TotalHitCountCollector"
        : isSorted
          ? "SimpleFieldCollector"
          : "SimpleTopScoreDocCollector",
    reason: limit === 0 ? "search_count" : "search_top_hits",
    time_in_nanos: time,
  };
  const names = [...request.aggregations.keys()].join(", ");
  const children =
    names === ""
      ? [top]
      : [top, { name: `BucketCollector: [${names}]`, reason: "aggregation", time_in_nanos: time }];
  return { name: "CancellableCollector", reason: "search_cancelled", time_in_nanos: time, children };
}

/** Likewise, of aggregations. */
const LATER_AGGREGATION_PHASES: Readonly<Record<string, number>> = {
  build_leaf_collector: 0,
  build_leaf_collector_count: 0,
  post_collection: 0,
  post_collection_count: 0,
};

/** Classes of 6.5 that aren't named as the results are, and of 7.9 where they differ. */
const AGGREGATORS: Readonly<Record<string, readonly [name: string, since79?: string]>> = {
  sterms: ["GlobalOrdinalsStringTerms"],
  lterms: ["LongTerms", "NumericTerms"],
  dterms: ["DoubleTerms", "NumericTerms"],
  srareterms: ["StringRareTerms"],
  lrareterms: ["LongRareTerms"],
  sigsterms: ["GlobalOrdinalsSignificantTerms", "GlobalOrdinalsStringTerms"],
  siglterms: ["SignificantLongTerms", "NumericTerms"],
  date_range: ["Range"],
  ip_range: ["BinaryRange"],
  geohash_grid: ["GeoHashGrid"],
  geotile_grid: ["GeoTileGrid"],
  histogram: ["Histogram", "NumericHistogram"],
  tdigest_percentiles: ["TDigestPercentiles"],
  hdr_percentiles: ["HDRPercentiles"],
  tdigest_percentile_ranks: ["TDigestPercentileRanks"],
  hdr_percentile_ranks: ["HDRPercentileRanks"],
};

/** Returns the class that gathers results of a type. */
function aggregatorName(type: string): string {
  const camelCase = type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const [name, since79 = name] = AGGREGATORS[type] ?? [camelCase];
  return `${answersAs(709) ? since79 : name}Aggregator`;
}

/** Returns how many buckets a state has; undefined if it is none of buckets. */
function bucketsOf(state: unknown): number | undefined {
  const buckets = isObject(state) ? state["buckets"] : undefined;
  return Array.isArray(buckets) ? buckets.length : undefined;
}

interface ProfiledAggregation {
  readonly type: string;
  readonly name: string;
  readonly tookMs: number;
  /** Documents that were collected. */
  readonly documents: number;
  readonly buckets: number | undefined;
}

function aggregationBody({ type, name, tookMs, documents, buckets }: ProfiledAggregation): JsonObject {
  const time = Math.round(tookMs * NANOS);
  return {
    type,
    description: name,
    time_in_nanos: time,
    breakdown: {
      reduce: 0,
      build_aggregation: 0,
      build_aggregation_count: 1,
      initialize: 0,
      initialize_count: 1,
      reduce_count: 0,
      collect: time,
      collect_count: documents,
      ...(answersAs(700) && LATER_AGGREGATION_PHASES),
    },
    ...(buckets !== undefined && answersAs(709) && { debug: { total_buckets: buckets } }),
  };
}
