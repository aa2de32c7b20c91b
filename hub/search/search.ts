/**
 * Searches shards: queries each one, merges the results, fetches the hits of the answer. Shards that fail leave the
 * answer partial; when all fail, the search fails.
 */

import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { BucketBudget, mergeTree, renderTree } from "#hub/search/aggregations/tree/aggregation.ts";
import { collectShard, type ShardResult } from "#hub/search/execute/collect-shard.ts";
import { type Hit, HitFetcher } from "#hub/search/execute/fetch/fetch-hit.ts";
import { compareHits, type RankedHit } from "#hub/search/execute/hits/top-hits.ts";
import { profileShard } from "#hub/search/execute/profile.ts";
import { rescored } from "#hub/search/execute/rescore.ts";
import type { ResultCache } from "#hub/search/execute/result-cache.ts";
import { warningCount } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { type Query, type SearchedIndex, type SearchLimits, ShardContext } from "#hub/search/query/query.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { compareRanks, type Rank } from "./sort/key.ts";

/** Limits by default. */
export const DEFAULT_LIMITS: SearchLimits = {
  maxBuckets: 65_536,
  maxResultWindow: 10_000,
  maxRescoreWindow: 10_000,
  maxColumnFields: 100,
  maxScriptFields: 32,
  maxRegexLength: 1_000,
};

/** A shard to search in. */
export interface SearchShard {
  readonly index: SearchedIndex;
  /** From 0. */
  readonly shard: number;
  readonly searcher: Searcher;
  /** The search sees only documents that match it, e.g. those of a filtered alias. */
  readonly filter?: Query;
  /** False: results aren't kept for this shard. */
  readonly keepsResults?: boolean;
}

export interface SearchOptions {
  readonly signal: AbortSignal;
  readonly limits: SearchLimits;
  /** True: names of aggregations get their type before them. */
  readonly typedKeys?: boolean;
  /** Where the page before ended; hits behind it follow. The shards must be those of that page. */
  readonly cursor?: SearchCursor;
  readonly clock?: Clock;
  /** Shown with each hit when explanations are requested. */
  readonly nodeId?: string;
  /** Where results of shards are kept, and under which name: what of the request they depend on. Only without hits. */
  readonly cache?: { readonly results: ResultCache; readonly key: string };
}

/** Place of the last hit of a page. */
export interface SearchCursor {
  readonly ranks: readonly Rank[];
  /** Position of its shard in the list. */
  readonly shardOrder: number;
  readonly segmentOrder: number;
  readonly doc: number;
}

/** A shard that could not be searched. */
export interface ShardFailure {
  readonly index: string;
  readonly indexUuid: string;
  readonly shard: number;
  readonly error: AppError;
}

export interface SearchResponse {
  readonly tookMs: number;
  readonly timedOut: boolean;
  /** Only with terminate_after. */
  readonly terminatedEarly: boolean | undefined;
  readonly shards: {
    readonly total: number;
    readonly successful: number;
    readonly failures: readonly ShardFailure[];
  };
  /** Undefined where hits weren't counted. */
  readonly total: number | undefined;
  /** Hits up to which the request wants them counted; undefined: all. */
  readonly totalLimit?: number;
  /** Null where hits have no scores. */
  readonly maxScore: number | null;
  readonly hits: readonly Hit[];
  /** Undefined without aggregations. */
  readonly aggregations: JsonObject | undefined;
  /** Place of the last hit; undefined without hits. */
  readonly cursor: SearchCursor | undefined;
  /** What suggesters found, by name; absent without them. */
  readonly suggest?: JsonObject;
  /** Where the time went, by shard; undefined where it wasn't asked for. */
  readonly profile: readonly JsonObject[] | undefined;
}

interface ShardHit {
  readonly shardOrder: number;
  readonly result: ShardResult;
  readonly hit: RankedHit;
}

/**
 * Searches `shards` and returns an answer. Throws the error of a shard where none could be searched (with
 * `failures` in its data), too_many_buckets, cancelled.
 */
export async function searchShards(
  request: SearchRequest,
  shards: readonly SearchShard[],
  options: SearchOptions,
): Promise<SearchResponse> {
  const clock = options.clock ?? systemClock;
  const startMs = clock.monotonic();
  const control = new SearchControl(clock, options.signal, request.timeoutMs);
  const { results, failures } = await collectAll(request, shards, options, control, clock.now());
  if (results.length === 0 && failures.length > 0) throw allFailed(failures);
  const hits = bestHits(results, request);
  const last = hits.at(-1);
  const states = results.map(({ result }) => result.aggregations);
  const budget = new BucketBudget(options.limits.maxBuckets, options.typedKeys ?? false);
  const hasAggregations = request.aggregations.size > 0;
  return {
    aggregations: hasAggregations
      ? renderTree(request.aggregations, mergeTree(request.aggregations, states), budget)
      : undefined,
    hits: await fetchAll(hits, request, control, options.nodeId),
    timedOut: control.timedOut,
    terminatedEarly:
      request.terminateAfter > 0 ? results.some(({ result }) => result.terminatedEarly) : undefined,
    shards: { total: shards.length, successful: results.length, failures },
    total:
      request.trackTotalHits === false
        ? undefined
        : results.reduce((sum, { result }) => sum + result.total, 0),
    ...(typeof request.trackTotalHits === "number" && { totalLimit: request.trackTotalHits }),
    maxScore: maxScore(results, request),
    cursor: last === undefined ? undefined : cursorOf(last),
    profile: request.profile ? results.map(({ profile }) => profile ?? {}) : undefined,
    tookMs: Math.round(clock.monotonic() - startMs),
  };
}

interface Collected {
  readonly results: {
    readonly shardOrder: number;
    readonly result: ShardResult;
    readonly profile: JsonObject | undefined;
  }[];
  readonly failures: ShardFailure[];
}

async function collectAll(
  request: SearchRequest,
  shards: readonly SearchShard[],
  options: SearchOptions,
  control: SearchControl,
  nowMs: number,
): Promise<Collected> {
  const collected: Collected = { results: [], failures: [] };
  for (const [shardOrder, { index, shard, searcher, filter, keepsResults }] of shards.entries()) {
    try {
      const context = new ShardContext(index, shard, searcher, nowMs);
      const how = {
        limit: hitsPerShard(request),
        boost: boostOf(request, index.name),
        filter,
        after: afterOf(options.cursor, shardOrder),
      };
      const collect = (): Promise<ShardResult> => collectShard(request, context, how, control);
      const keeps = keepsResults !== false && filter === undefined;
      const startMs = performance.now();
      const result = await (keeps ? cached(context, options, control, collect) : collect());
      const tookMs = performance.now() - startMs;
      const profile = request.profile
        ? {
            id: `[${options.nodeId ?? ""}][${index.name}][${shard}]`,
            ...(await profileShard(request, context, how, control, tookMs)),
          }
        : undefined;
      collected.results.push({
        shardOrder,
        result: await rescored(result, request.rescore, control),
        profile,
      });
    } catch (error) {
      const failure = toAppError(error);
      if (failure.code === "cancelled") throw failure;
      collected.failures.push({ index: index.name, indexUuid: index.uuid, shard, error: failure });
    }
  }
  return collected;
}

/** Returns what was kept of an equal request, or what `collect` gives, which is kept if it is whole. */
async function cached(
  shard: ShardContext,
  { cache }: SearchOptions,
  control: SearchControl,
  collect: () => Promise<ShardResult>,
): Promise<ShardResult> {
  if (cache === undefined) return collect();
  const known = cache.results.get(shard, cache.key);
  if (known !== undefined) return { ...known, shard, sources: [], hits: [] };
  const warningsBefore = warningCount();
  const result = await collect();
  // A kept result would be returned without the warnings that the walk raised.
  if (!control.timedOut && warningCount() === warningsBefore) cache.results.put(shard, cache.key, result);
  return result;
}

/** Hits that a shard has to find: those of the answer, and those that a second pass may bring there. */
function hitsPerShard({ from, size, rescore }: SearchRequest): number {
  const wanted = from + size;
  return wanted === 0 ? 0 : Math.max(wanted, ...rescore.map(({ windowSize }) => windowSize));
}

/** Hits of equal rank come by shard, then by their place in it. */
function afterOf(
  cursor: SearchCursor | undefined,
  shardOrder: number,
): Parameters<typeof collectShard>[2]["after"] {
  if (cursor === undefined) return undefined;
  if (shardOrder < cursor.shardOrder) return { ranks: cursor.ranks };
  if (shardOrder > cursor.shardOrder) return { ranks: cursor.ranks, segmentOrder: -1, doc: -1 };
  return { ranks: cursor.ranks, segmentOrder: cursor.segmentOrder, doc: cursor.doc };
}

function bestHits(results: Collected["results"], request: SearchRequest): ShardHit[] {
  const all = results.flatMap(({ shardOrder, result }) =>
    result.hits.map((hit): ShardHit => ({ shardOrder, result, hit })),
  );
  const sources = results[0]?.result.sources ?? [];
  all.sort((a, b) => {
    if (a.shardOrder === b.shardOrder) return compareHits(sources, a.hit, b.hit);
    return compareRanks(sources, a.hit.ranks, b.hit.ranks) || a.shardOrder - b.shardOrder;
  });
  return all.slice(request.from, request.from + request.size);
}

async function fetchAll(
  hits: readonly ShardHit[],
  request: SearchRequest,
  control: SearchControl,
  nodeId: string | undefined,
): Promise<Hit[]> {
  const fetchers = new Map<number, HitFetcher>();
  const { fetch: options, query } = request;
  const fetched: Hit[] = [];
  for (const { shardOrder, result, hit } of hits) {
    let fetcher = fetchers.get(shardOrder);
    if (fetcher === undefined) {
      const boost = boostOf(request, result.shard.index);
      const context = { options, query, sorted: request.sort.length > 0, boost, nodeId };
      fetchers.set(shardOrder, (fetcher = new HitFetcher(context, result.shard)));
    }
    fetched.push(fetcher.fetch(hit));
    if (control.isDue) await control.pause();
  }
  return fetched;
}

function maxScore(results: Collected["results"], request: SearchRequest): number | null {
  if (request.sort.length > 0 && !request.trackScores) return null;
  if (request.size === 0) return null;
  const scores = results.map(({ result }) => result.maxScore).filter((score) => !Number.isNaN(score));
  return scores.length === 0 ? null : Math.max(...scores);
}

function cursorOf({ shardOrder, hit }: ShardHit): SearchCursor {
  return { ranks: hit.ranks, shardOrder, segmentOrder: hit.segmentOrder, doc: hit.doc };
}

function boostOf({ indicesBoost }: SearchRequest, index: string): number {
  return indicesBoost.find(([pattern]) => compileWildcard(pattern).matches(index))?.[1] ?? 1;
}

/** The error of a search that no shard could answer. */
export function allFailed(failures: readonly ShardFailure[]): AppError {
  const worst = failures.reduce((a, b) => (b.error.status > a.error.status ? b : a));
  return new AppError(worst.error.code, "all shards failed", { data: { failures }, cause: worst.error });
}
