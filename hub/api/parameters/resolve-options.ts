/** The parameters that say how an index expression is resolved, common to many routes. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import type { ResolveOptions } from "#hub/api/ports/indices.ts";
import { AppError } from "#proto/kit/errors.ts";

export const RESOLVE_PARAMS: readonly string[] = [
  "ignore_unavailable",
  "allow_no_indices",
  "expand_wildcards",
];

/** Reads them over `defaults`. Throws request_invalid. */
export function resolveOptions(request: ApiRequest, defaults: ResolveOptions = {}): ResolveOptions {
  const ignoreUnavailable = request.flag("ignore_unavailable");
  const allowNoIndices = request.flag("allow_no_indices");
  const states = request.list("expand_wildcards");
  const expandWildcards = wildcardStates(states);
  const expandHidden = states?.some((state) => state === "hidden" || state === "all");
  return {
    ...defaults,
    ...(ignoreUnavailable !== undefined && { ignoreUnavailable }),
    ...(allowNoIndices !== undefined && { allowNoIndices }),
    ...(expandWildcards !== undefined && { expandWildcards }),
    ...(expandHidden !== undefined && { expandHidden }),
  };
}

function wildcardStates(
  states: readonly string[] | undefined,
): ResolveOptions["expandWildcards"] | undefined {
  if (states === undefined) return undefined;
  for (const state of states) {
    if (!["open", "closed", "all", "none", "hidden"].includes(state))
      throw new AppError("request_invalid", `No valid expand wildcard value [${state}]`);
  }
  if (states.includes("all") || (states.includes("open") && states.includes("closed"))) return "all";
  if (states.includes("open")) return "open";
  if (states.includes("closed")) return "closed";
  // Alone it says which of the open ones, too.
  return states.includes("hidden") ? "open" : "none";
}
