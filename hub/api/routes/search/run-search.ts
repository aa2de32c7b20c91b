/**
 * One search from its body to its answer, for _search and _msearch, within the time that it gets: its own `timeout`,
 * or that of the settings.
 */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { clusterSetting } from "#hub/api/parameters/cluster-settings.ts";
import type { IndexInfo, ResolveOptions } from "#hub/api/ports/indices.ts";
import type { Found } from "#hub/host/contract/found.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { resolveLookups } from "./lookups.ts";
import { checkPointless } from "./point-order.ts";
import { checkedIndices, type SearchTarget, searchLimits } from "./search-target.ts";

/** Name of the setting, of the cluster and of the hub. */
const SEARCH_TIMEOUT = "search.default_search_timeout";
/** Time beyond the deadline in which a search may still write its answer, ms. After that it fails. */
const GRACE_MS = 10_000;
/** Longest time of a timer: one of more goes off at once. A search of over 24 days has no end of its own. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A search with its time. */
interface TimedBody {
  /** With a `timeout`, unless there is no limit. */
  readonly body: JsonObject;
  /** Time after which the search fails, whatever it has found, ms; absent: none. */
  readonly limitMs?: number;
}

export interface SearchRun {
  readonly target: SearchTarget;
  readonly body: JsonObject;
  readonly typedKeys: boolean;
  /** Totals are objects. */
  readonly objectTotals: boolean;
  /** False: a failed shard fails the search. */
  readonly allowPartial: boolean;
  /** False: answered again whatever is kept. */
  readonly useCache: boolean;
  /** See SearchCall. */
  readonly progress?: string;
  readonly signal: AbortSignal;
}

/** Searches what is visible now. Throws what parsing and shards refuse, cancelled. */
export async function runSearch(parts: ApiContext, run: SearchRun): Promise<Found> {
  const { target, typedKeys, objectTotals, useCache, signal } = run;
  checkPointless(run.body);
  const limits = searchLimits(parts, target);
  const slices = new TimeSlices();
  const resolved = await resolveLookups(parts, run.body, target.expression);
  if (slices.isDue) await slices.pause();
  const body = withBoostedIndices(parts, resolved, target.options);
  const { shards } = parts;
  const { indices, targets } = await checkedIndices(parts, target, () => shards.check({ body, limits }));
  const { nodeId } = parts.errors;
  const { progress } = run;
  const named = progress === undefined ? {} : { progress };
  const form = { limits, typedKeys, objectTotals, useCache, nodeId, ...named };
  const { copies } = target;
  const call = { targets, ...(copies !== undefined && { copies }), ...timedBody(parts, body), ...form };
  const answer = await countedSearch(parts, indices, body, () => shards.search(call, signal));
  checkPartial(answer, run.allowPartial);
  return answer;
}

/** Runs a search and counts it for its indices, in the groups that `stats` of its body names; a slow one is noted. */
export async function countedSearch(
  { counters, slowQueries }: ApiContext,
  indices: readonly IndexInfo[],
  body: JsonObject,
  search: () => Promise<Found>,
): Promise<Found> {
  const { stats } = body;
  const groups = Array.isArray(stats) ? stats.map(String) : typeof stats === "string" ? [stats] : [];
  const response = await counters.during(indices, (counts) => counters.searchCounts(counts, groups), search);
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

/** Throws the failure of a shard where an answer without it isn't wanted. */
export function checkPartial({ shards, timedOut }: Found, allowPartial: boolean): void {
  if (allowPartial) return;
  const [first] = shards.failures;
  if (first !== undefined) {
    throw new AppError(first.error.code, "Partial shards failure", {
      data: { failures: shards.failures },
      cause: first.error,
    });
  }
  if (timedOut) throw new AppError("timeout", "Time exceeded");
}

/** Returns `body` with each name of `indices_boost` replaced by those of its indices. Throws index_missing. */
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
 * Returns `body` with the time of the settings where it names none. A search that names a longer one, or "-1" for none, gets
 * that.
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

/** ms; undefined: none. */
function defaultTimeoutMs({
  cluster,
  searchTimeoutMs,
}: Pick<ApiContext, "cluster" | "searchTimeoutMs">): number | undefined {
  const given = clusterSetting(cluster, SEARCH_TIMEOUT);
  const ms = given === undefined ? (searchTimeoutMs ?? 0) : ownTimeoutMs(given);
  return ms > 0 ? ms : undefined;
}

/** 0 for what is no time: the search itself refuses it. */
function ownTimeoutMs(value: unknown): number {
  try {
    return Math.max(0, parseDuration(String(value), 1));
  } catch {
    return 0;
  }
}
