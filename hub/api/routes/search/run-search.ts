/**
 * Runs one search from its body to its answer, for _search and _msearch, within its own `timeout` or that of the
 * settings.
 */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { searchCounts } from "#hub/api/context/index-counters.ts";
import { clusterSetting } from "#hub/api/parameters/cluster-settings.ts";
import type { IndexInfo, ResolveOptions } from "#hub/api/ports/indices.ts";
import type { Found } from "#hub/host/contract/found.ts";
import { isContextFault } from "#hub/search/options/context-fault.ts";
import { partlyFailed } from "#hub/search/phases/contract.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { resolveLookups } from "./lookups.ts";
import { checkPointless } from "./point-order.ts";
import { checkedIndices, type SearchTarget, searchLimits } from "./search-target.ts";

/** Name of the setting, in the cluster settings and in the hub's. */
const SEARCH_TIMEOUT = "search.default_search_timeout";
/** Time, ms, after the deadline in which a search may still write its answer. After that it fails. */
const GRACE_MS = 10_000;
/**
 * Maximum delay of a timer: a longer one fires immediately. A search with a timeout of over 24 days isn't ended by a
 * timer.
 */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A search with its time limit. */
interface TimedBody {
  /** Body with a `timeout`, unless there is no limit. */
  readonly body: JsonObject;
  /** Time, ms, after which the search fails, whatever it has found; absent: none. */
  readonly limitMs?: number;
}

export interface SearchRun {
  readonly target: SearchTarget;
  readonly body: JsonObject;
  readonly typedKeys: boolean;
  /** True: totals are objects. */
  readonly objectTotals: boolean;
  /** False: a failed shard fails the search. */
  readonly allowPartial: boolean;
  /** False: cached results aren't used. */
  readonly useCache: boolean;
  /** See SearchCall. */
  readonly skipsAbove?: number;
  /** See SearchCall. */
  readonly progress?: string;
  readonly signal: AbortSignal;
}

/** Searches the currently visible documents. Throws the errors of parsing and of shards, cancelled. */
export async function runSearch(parts: ApiContext, run: SearchRun): Promise<Found> {
  const { target, typedKeys, objectTotals, useCache, signal } = run;
  const limits = searchLimits(parts, target);
  const slices = new TimeSlices();
  const resolved = await resolveLookups(parts, run.body, target.expression);
  if (slices.isDue) await slices.pause();
  const body = withBoostedIndices(parts, resolved, target.options);
  const { shards } = parts;
  const { indices, targets } = await checkedIndices(parts, target, () => shards.check({ body, limits }));
  const { nodeId } = parts.errors;
  const { progress, skipsAbove } = run;
  const named = {
    ...(progress !== undefined && { progress }),
    ...(skipsAbove !== undefined && { skipsAbove }),
  };
  const form = { limits, typedKeys, objectTotals, useCache, nodeId, ...named };
  const { copies } = target;
  const call = { targets, ...(copies !== undefined && { copies }), ...timedBody(parts, body), ...form };
  const answer = await countedSearch(parts, indices, body, async () => {
    checkPointless(run.body);
    return shards.search(call, signal);
  });
  checkPartial(answer, run.allowPartial);
  return answer;
}

/** Runs a search and counts it for its indices, in the groups that `stats` of its body names; a slow search is recorded. */
export async function countedSearch(
  { counters, slowQueries }: ApiContext,
  indices: readonly IndexInfo[],
  body: JsonObject,
  search: () => Promise<Found>,
): Promise<Found> {
  const { query, aggs, aggregations = aggs, suggest, stats } = body;
  const kind =
    suggest !== undefined && query === undefined && aggregations === undefined ? "suggesting" : "querying";
  const response = await counters.during(
    indices,
    (counts) => searchCounts(counts, stats).map((each) => each[kind]),
    () => orFailures(indices, search),
  );
  const { tookMs, total, timedOut } = response;
  slowQueries.note(
    tookMs,
    indices.map(({ name }) => name),
    body,
    total,
    timedOut,
  );
  return response;
}

/** Runs a search. Throws its context fault as the failure of all shards. */
async function orFailures<T>(indices: readonly IndexInfo[], search: () => Promise<T>): Promise<T> {
  try {
    return await search();
  } catch (error) {
    if (!(error instanceof AppError) || !isContextFault(error)) throw error;
    const failures = indices.map(({ name, uuid }) => ({ index: name, indexUuid: uuid, shard: 0, error }));
    throw new AppError(error.code, "all shards failed", { data: { failures, status: 500 }, cause: error });
  }
}

/** Throws the failure of a shard, or timeout, if partial answers aren't allowed. */
export function checkPartial({ shards, timedOut }: Found, allowPartial: boolean): void {
  if (allowPartial) return;
  if (shards.failures.length > 0) throw partlyFailed(shards.failures);
  if (timedOut) throw new AppError("timeout", "Time exceeded");
}

/** Returns `body` with each name in `indices_boost` replaced by the names of its indices. Throws index_missing. */
export function withBoostedIndices(
  { indices }: ApiContext,
  body: JsonObject,
  options: ResolveOptions,
): JsonObject {
  const given = body["indices_boost"];
  if (given === undefined) return body;
  const expand = (part: unknown): unknown => {
    if (!isObject(part)) return part;
    return Object.fromEntries(
      Object.entries(part).flatMap(([name, boost]) =>
        indices.resolve(name, options).map((index) => [index.name, boost] as const),
      ),
    );
  };
  return { ...body, indices_boost: Array.isArray(given) ? given.map(expand) : expand(given) };
}

/**
 * Returns `body` with the timeout of the settings if it has none. A longer timeout of the search, or "-1" for none, is
 * kept.
 */
export function timedBody(
  parts: Pick<ApiContext, "cluster" | "searchTimeoutMs">,
  body: JsonObject,
): TimedBody {
  const usualMs = defaultTimeoutMs(parts);
  if (usualMs === undefined) return { body };
  const own = body["timeout"];
  if (own === undefined || own === null) return limited({ ...body, timeout: `${usualMs}ms` }, usualMs);
  if (own === "-1" || own === -1) return { body };
  return limited(body, Math.max(usualMs, ownTimeoutMs(own)));
}

function limited(body: JsonObject, timeoutMs: number): TimedBody {
  const limitMs = Math.ceil(timeoutMs) + GRACE_MS;
  return limitMs > MAX_TIMER_MS ? { body } : { body, limitMs };
}

/** Returns the default timeout, ms; undefined: none. */
function defaultTimeoutMs({
  cluster,
  searchTimeoutMs,
}: Pick<ApiContext, "cluster" | "searchTimeoutMs">): number | undefined {
  const given = clusterSetting(cluster, SEARCH_TIMEOUT);
  const ms = given === undefined ? (searchTimeoutMs ?? 0) : ownTimeoutMs(given);
  return ms > 0 ? ms : undefined;
}

/** Returns 0 for an invalid time: the search itself refuses it. */
function ownTimeoutMs(value: unknown): number {
  try {
    return Math.max(0, parseDuration(String(value), 1));
  } catch {
    return 0;
  }
}
