/** The time that a search gets: its own `timeout`, or that of the settings. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { clusterSetting } from "#hub/api/parameters/cluster-settings.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { parseDuration } from "#proto/kit/units.ts";

/** Name of the setting, of the cluster and of the hub. */
const SEARCH_TIMEOUT = "search.default_search_timeout";
/** Time beyond the deadline in which a search may still write its answer, ms. After that it fails. */
const GRACE_MS = 10_000;
/** Longest time of a timer: one of more goes off at once. A search of over 24 days has no end of its own. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A search with its time. */
export interface TimedBody {
  /** With a `timeout`, unless there is no limit. */
  readonly body: JsonObject;
  /** Time after which the search fails, whatever it has found, ms; absent: none. */
  readonly limitMs?: number;
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
