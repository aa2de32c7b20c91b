/** What a search may cost: the cluster's settings, and the strictest of those of the indices it means. */

import type { ApiParts } from "#hub/api/context/api-context.ts";
import type { Cluster, IndexInfo } from "#hub/api/ports/indices.ts";
import type { SearchLimits } from "#hub/search/query/query.ts";
import { DEFAULT_LIMITS } from "#hub/search/search.ts";
import { parseDuration } from "#proto/kit/units.ts";
import type { SearchTarget } from "./open-shards.ts";
import { MAX_KEEP_ALIVE_MS } from "./scroll-contexts.ts";

/** index.max_slices_per_scroll unless an index says otherwise. */
const DEFAULT_MAX_SLICES = 1024;

/** Returns the limits of a search of `target`; `search.max_buckets` of the cluster's settings counts. */
export function searchLimits({ cluster, indices }: ApiParts, target?: SearchTarget): SearchLimits {
  const given = clusterSetting(cluster, "search.max_buckets");
  const maxBuckets = given === undefined ? DEFAULT_LIMITS.maxBuckets : Number(given);
  const meant = target === undefined ? [] : indices.resolve(target.expression, quietly(target));
  return {
    ...DEFAULT_LIMITS,
    ...(maxBuckets >= 0 && { maxBuckets }),
    maxResultWindow: strictest(meant, "max_result_window", DEFAULT_LIMITS.maxResultWindow),
    maxRescoreWindow: strictest(meant, "max_rescore_window", DEFAULT_LIMITS.maxRescoreWindow),
    maxColumnFields: strictest(meant, "max_docvalue_fields_search", DEFAULT_LIMITS.maxColumnFields),
    maxScriptFields: strictest(meant, "max_script_fields", DEFAULT_LIMITS.maxScriptFields),
    maxRegexLength: strictest(meant, "max_regex_length", DEFAULT_LIMITS.maxRegexLength),
  };
}

/** Returns the longest time between two pages of a scroll, ms; `search.max_keep_alive` of the cluster's settings counts. */
export function keepAliveLimitMs({ cluster }: ApiParts): number {
  const given = clusterSetting(cluster, "search.max_keep_alive");
  if (typeof given !== "string") return MAX_KEEP_ALIVE_MS;
  try {
    return Math.min(MAX_KEEP_ALIVE_MS, parseDuration(given, 1));
  } catch {
    // A setting that can't be read limits nothing, as any other.
    return MAX_KEEP_ALIVE_MS;
  }
}

function clusterSetting(cluster: Cluster, name: string): unknown {
  const { persistent, transient } = cluster.settings();
  return transient[name] ?? persistent[name];
}

/** Returns how many parts a scroll of `target` may have. */
export function maxSlicesOf({ indices }: ApiParts, target: SearchTarget): number {
  return strictest(
    indices.resolve(target.expression, quietly(target)),
    "max_slices_per_scroll",
    DEFAULT_MAX_SLICES,
  );
}

/** Returns a setting of an index as a whole number of at least 1; `fallback` where it has none, or another value. */
export function numberSetting({ settings }: IndexInfo, name: string, fallback: number): number {
  const value = Number(settings.raw[name] ?? fallback);
  return Number.isInteger(value) && value > 0 ? value : fallback;
}

function strictest(indices: readonly IndexInfo[], name: string, fallback: number): number {
  const values = indices.map((index) => numberSetting(index, name, fallback));
  return values.length === 0 ? fallback : Math.min(...values);
}

/** What isn't there is told by the search itself, after its body was checked. */
function quietly({ options }: SearchTarget): SearchTarget["options"] {
  return { ...options, ignoreUnavailable: true, allowNoIndices: true };
}
