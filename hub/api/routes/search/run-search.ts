/** One search from its body to its answer, for _search and _msearch. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { IndexInfo, ResolveOptions } from "#hub/api/ports/indices.ts";
import type { Found } from "#hub/host/contract/found.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";
import { resolveLookups } from "./lookups.ts";
import { checkPointless } from "./point-order.ts";
import { checkedIndices, type SearchTarget, searchLimits } from "./search-target.ts";
import { timedBody } from "./search-time.ts";

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
