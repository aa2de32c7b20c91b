/**
 * Merges what hosts found to one answer, on the merging host or the only one. The hits of the answer are fetched after
 * that.
 */

import { BucketBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import { mergeTree, renderTree } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { type Steps, sortedSteps } from "#hub/search/aggregations/tree/steps.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import { compareRanks, type RankOrder } from "#hub/search/sort/key.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { allFailed, type SearchOptions, type SearchResponse } from "./contract.ts";
import type { HitPosition, PartialResult } from "./search-call.ts";

/** A hit of the answer: which partial result has it, and at which index of its hits. */
export interface MergedHit {
  readonly partial: number;
  readonly place: number;
}

export interface MergedSearch {
  /** In the order of the answer. */
  readonly hits: readonly MergedHit[];
  readonly answer: Omit<SearchResponse, "hits" | "tookMs">;
}

/**
 * Merges partial results, in steps. Throws the error of a shard if none could be searched (with `failures` in its
 * data), too_many_buckets.
 */
export function* mergePartials(
  request: SearchRequest,
  partials: readonly PartialResult[],
  {
    limits,
    typedKeys = false,
    countsUnmatched = false,
  }: Pick<SearchOptions, "limits" | "typedKeys" | "countsUnmatched">,
): Steps<MergedSearch> {
  const failures = inOrder(partials.flatMap((partial) => partial.failures)).map(({ failure }) => failure);
  const successful = partials.reduce((sum, { searched }) => sum + searched.length, 0);
  if (successful === 0 && failures.length > 0) throw allFailed(failures);
  const best = yield* bestHits(request, partials);
  const { terminateAfter, trackTotalHits, profile } = request;
  return {
    hits: best.map(({ partial, place }) => ({ partial, place })),
    answer: {
      aggregations: yield* rendered(request, partials, new BucketBudget(limits.maxBuckets, typedKeys)),
      timedOut: partials.some(({ timedOut }) => timedOut),
      terminatedEarly:
        terminateAfter > 0 ? partials.some(({ terminatedEarly }) => terminatedEarly) : undefined,
      shards: {
        total: successful + failures.length,
        successful,
        ...(countsUnmatched && { skipped: skippedOf(partials, successful) }),
        failures,
      },
      total: trackTotalHits === false ? undefined : partials.reduce((sum, { total }) => sum + total, 0),
      ...(typeof trackTotalHits === "number" && { totalLimit: trackTotalHits }),
      maxScore: maxScore(request, partials),
      cursor: best.at(-1)?.hit,
      profile: profile
        ? inOrder(partials.flatMap(({ profiles }) => profiles)).map((each) => each.profile)
        : undefined,
    },
  };
}

/** One shard is searched in any case, as in the reference: something has to make the empty answer. */
function skippedOf(partials: readonly PartialResult[], successful: number): number {
  const unmatched = partials.reduce((sum, partial) => sum + (partial.unmatched ?? 0), 0);
  return Math.min(unmatched, Math.max(0, successful - 1));
}

interface PlacedHit extends MergedHit {
  readonly hit: HitPosition;
}

/** The hits of the page. Equal ranks come by shard, then by their position in it. */
function* bestHits({ from, size }: SearchRequest, partials: readonly PartialResult[]): Steps<PlacedHit[]> {
  const all = partials.flatMap(({ hits }, partial) =>
    hits.map((hit, place): PlacedHit => ({ partial, place, hit })),
  );
  if (partials.length === 1) return all.slice(from, from + size);
  const orders = firstOrders(partials);
  const sorted = yield* sortedSteps(
    all,
    (a, b) =>
      compareRanks(orders, a.hit.ranks, b.hit.ranks) ||
      a.hit.shardOrder - b.hit.shardOrder ||
      a.place - b.place,
  );
  return sorted.slice(from, from + size);
}

/** How the first of the shards that were searched orders ranks. */
function firstOrders(partials: readonly PartialResult[]): readonly RankOrder[] {
  const first = partials
    .filter(({ searched }) => searched.length > 0)
    .reduce<PartialResult | undefined>(
      (a, b) => (a === undefined || b.searched[0]! < a.searched[0]! ? b : a),
      undefined,
    );
  return first?.orders ?? [];
}

function* rendered(
  { aggregations }: SearchRequest,
  partials: readonly PartialResult[],
  budget: BucketBudget,
): Steps<JsonObject | undefined> {
  if (aggregations.size === 0) return undefined;
  const states = partials.flatMap(({ aggregations: state }) => (state === undefined ? [] : [state]));
  const state = states.length === 1 ? states[0]! : yield* mergeTree(aggregations, states);
  return yield* renderTree(aggregations, state, budget);
}

function maxScore(request: SearchRequest, partials: readonly PartialResult[]): number | null {
  if ((request.sort.length > 0 && !request.trackScores) || request.size === 0) return null;
  const scores = partials.map((partial) => partial.maxScore).filter((score) => !Number.isNaN(score));
  return scores.length === 0 ? null : Math.max(...scores);
}

function inOrder<T extends { readonly order: number }>(all: readonly T[]): T[] {
  return all.toSorted((a, b) => a.order - b.order);
}
