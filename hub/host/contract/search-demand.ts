/**
 * The parts of a search that its hosts must return. The front and the merging host derive the same from the same call.
 */

import { writeJson } from "#hub/search/options/json-writer.ts";
import { requestVersion } from "#hub/search/options/request-version.ts";
import type { SearchOptions } from "#hub/search/phases/contract.ts";
import type { SearchDemand } from "#hub/search/phases/search-call.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { SearchCall } from "./calls.ts";

/** Options of a search, as far as other hosts get them. */
export interface DemandOptions extends Omit<SearchOptions, "signal" | "progress" | "cache"> {
  readonly progress?: { readonly id: string };
  readonly cache?: { readonly key: string };
}

/** Returns the options that a call has. */
export function optionsOf({
  body,
  limits,
  typedKeys,
  nodeId,
  nowMs,
  useCache,
  progress: id,
}: SearchCall): DemandOptions {
  const key = useCache ? cacheKey(body) : undefined;
  return {
    limits,
    typedKeys,
    nodeId,
    ...(nowMs !== undefined && { nowMs }),
    ...(id !== undefined && { progress: { id } }),
    ...(key !== undefined && { cache: { key } }),
  };
}

/** Returns what all hosts of a search get alike. */
export function demandOf(body: JsonObject, options: DemandOptions): SearchDemand {
  const { limits, typedKeys, cursor, nodeId, cache, collapseField, timeLeftMs, progress, countsUnmatched } =
    options;
  const clock: Clock = options.clock ?? systemClock;
  return {
    body,
    limits,
    version: requestVersion(),
    nowMs: options.nowMs ?? clock.now(),
    ...(typedKeys !== undefined && { typedKeys }),
    ...(countsUnmatched !== undefined && { countsUnmatched }),
    ...(cursor !== undefined && { cursor }),
    ...(nodeId !== undefined && { nodeId }),
    ...(cache !== undefined && { cacheKey: cache.key }),
    ...(collapseField !== undefined && { collapseField }),
    ...(timeLeftMs !== undefined && { timeLeftMs }),
    ...(progress !== undefined && { progress: progress.id }),
  };
}

/** Longest request whose answer is cached, characters. */
const MAX_KEY = 32_768;

/**
 * Returns the cache key of a request without hits; undefined if its answer isn't cached: it has hits, or depends on the time
 * or on the names of an index.
 */
function cacheKey(body: JsonObject): string | undefined {
  if (body["size"] !== 0 || body["profile"] === true) return undefined;
  const { timeout: _timeout, stats: _stats, ...asked } = body;
  const key = writeJson(asked);
  return key.length > MAX_KEY || key.includes("now") || key.includes("_index") ? undefined : key;
}
