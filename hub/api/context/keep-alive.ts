/** How long clients' contexts are kept open, and the error for a context that isn't open. */

import { printExactTime } from "#hub/api/http/printed-units.ts";
import { clusterSetting } from "#hub/api/parameters/cluster-settings.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import { POINT_LOST } from "#hub/host/contract/calls.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DAY_MS, parseDuration } from "#proto/kit/units.ts";

/** Maximum time between two requests for a context. */
export const MAX_KEEP_ALIVE_MS = DAY_MS;

/** Checks the keep-alive that a client requests. Throws request_invalid. */
export function checkKeepAlive(what: "scroll" | "point in time", keepAliveMs: number, limitMs: number): void {
  if (keepAliveMs <= limitMs) return;
  throw new AppError(
    "request_invalid",
    `Keep alive for ${what} (${printExactTime(keepAliveMs)}) is too large. It must be less than (${printExactTime(limitMs)}). This limit can be set by changing the [search.max_keep_alive] cluster level setting.`,
  );
}

/** Returns the maximum time between two requests for a context, ms, as limited by the cluster setting `search.max_keep_alive`. */
export function keepAliveLimitMs({ cluster }: { readonly cluster: Cluster }): number {
  const given = clusterSetting(cluster, "search.max_keep_alive");
  if (typeof given !== "string") return MAX_KEEP_ALIVE_MS;
  try {
    return Math.min(MAX_KEEP_ALIVE_MS, parseDuration(given, 1));
  } catch {
    // A setting that can't be parsed sets no limit, like other cluster settings.
    return MAX_KEEP_ALIVE_MS;
  }
}

/**
 * Returns the error for a context that isn't open. It names the hub that opened the context, whose id the context's id begins
 * with.
 */
export function missingContext(id: string, cluster: Pick<Cluster, "nodes">): AppError {
  const [self, ...others] = cluster.nodes();
  const opener = id.slice(0, id.indexOf("."));
  const other = opener === self?.id ? undefined : others.find((node) => node.id === opener);
  const where =
    other === undefined
      ? ""
      : `; it was opened through the hub ${other.name}, which alone has it: let a load balancer keep a client on one hub`;
  const text = `No search context found for id [${id.slice(0, 100)}]${where}`;
  const error = new AppError("not_found", text, { data: { type: POINT_LOST } });
  const failures = [{ index: null, indexUuid: null, shard: -1, error }];
  return new AppError("not_found", "all shards failed", { data: { failures }, cause: error });
}
