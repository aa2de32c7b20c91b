/** The input and the result of a search over shards. */

import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import type { Hit } from "#hub/search/execute/fetch/fetch-hit.ts";
import type { ResultCache } from "#hub/search/execute/result-cache.ts";
import type { Query, SearchedIndex, SearchLimits } from "#hub/search/query/query.ts";
import type { Rank } from "#hub/search/sort/key.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** A shard to search in. */
export interface SearchShard {
  readonly index: SearchedIndex;
  /** From 0. */
  readonly shard: number;
  readonly searcher: Searcher;
  /** The search sees only documents that match it, e.g. those of a filtered alias. */
  readonly filter?: Query;
  /** Nested objects that `filter` reads, to be made before. */
  readonly filterPaths?: ReadonlySet<string>;
  /** False: results aren't kept for this shard. */
  readonly keepsResults?: boolean;
  /** Position among all shards of the search, if they are on several hosts; without it that in the list. */
  readonly order?: number;
}

export interface SearchOptions {
  readonly signal: AbortSignal;
  readonly limits: SearchLimits;
  /** True: names of aggregations get their type before them. */
  readonly typedKeys?: boolean;
  /** The end of the previous page; the hits after it are returned. The shards must be those of that page. */
  readonly cursor?: SearchCursor;
  readonly clock?: Clock;
  /** The request's time; absent: that of the clock. */
  readonly nowMs?: number;
  /** Field that hits are collapsed on, whose value they show: a shard that can't do that fails the search. */
  readonly collapseField?: string;
  /** True: the shards are counted that can't match by the ranges of their fields. */
  readonly countsUnmatched?: boolean;
  /** Time until the request's deadline, ms, in addition to its `timeout`. */
  readonly timeLeftMs?: number;
  /** The counter of collected shards, and the name under which they are counted. */
  readonly progress?: { readonly id: string; readonly done: () => void };
  /** Shown with each hit when explanations are requested. */
  readonly nodeId?: string;
  /** The cache of shard results, and the key of this request: the parts that results depend on. Only without hits. */
  readonly cache?: { readonly results: ResultCache; readonly key: string };
}

/** Position of the last hit of a page. */
export interface SearchCursor {
  readonly ranks: readonly Rank[];
  /** Position of its shard in the list. */
  readonly shardOrder: number;
  readonly segmentOrder: number;
  readonly doc: number;
}

/**
 * A shard that could not be searched: its search threw (`Collector.add` in collect.ts), its host didn't answer (ask-hosts.ts),
 * or no other copy of it answered either (hub/host/copies/chosen-copies.ts).
 */
export interface ShardFailure {
  readonly index: string;
  readonly indexUuid: string;
  readonly shard: number;
  readonly error: AppError;
}

export interface SearchResponse {
  readonly tookMs: number;
  /** The time of the request was over before all was searched, see SearchControl. */
  readonly timedOut: boolean;
  /** Only with terminate_after. */
  readonly terminatedEarly: boolean | undefined;
  readonly shards: {
    readonly total: number;
    readonly successful: number;
    /** Of the successful ones, those that can't match; absent unless they were counted. */
    readonly skipped?: number;
    readonly failures: readonly ShardFailure[];
  };
  /** Undefined if hits weren't counted. */
  readonly total: number | undefined;
  /** Hits up to which the request wants them counted; undefined: all. */
  readonly totalLimit?: number;
  /** Null if hits have no scores. */
  readonly maxScore: number | null;
  readonly hits: readonly Hit[];
  /** Undefined without aggregations. */
  readonly aggregations: JsonObject | undefined;
  /** Position of the last hit; undefined without hits. */
  readonly cursor: SearchCursor | undefined;
  /** What suggesters found, by name; absent without them. */
  readonly suggest?: JsonObject;
  /** Timings by shard; undefined if they weren't requested. */
  readonly profile: readonly JsonObject[] | undefined;
}

/** Hits of a page, or those of one host. */
export interface FetchedHits {
  readonly hits: readonly Hit[];
  readonly timedOut: boolean;
}

/** The error of a search that no shard could answer. */
export function allFailed(failures: readonly ShardFailure[]): AppError {
  return failed("all shards failed", failures);
}

/** The error of a search that must be whole, and that some shards couldn't answer. */
export function partlyFailed(failures: readonly ShardFailure[]): AppError {
  return failed("Partial shards failure", failures);
}

function failed(message: string, failures: readonly ShardFailure[]): AppError {
  const worst = failures.reduce((a, b) => (b.error.status > a.error.status ? b : a));
  return new AppError(worst.error.code, message, { data: { failures }, cause: worst.error });
}
