/** Parameters that many routes share: how an index expression is resolved, and which parts of documents are shown. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import type { ResolveOptions } from "#hub/api/ports/indices.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { parseSourceFilter, type SourceFilter } from "#hub/search/source/source-filter.ts";
import { AppError } from "#proto/kit/errors.ts";

export const RESOLVE_PARAMS: readonly string[] = [
  "ignore_unavailable",
  "allow_no_indices",
  "expand_wildcards",
  // Clients of 6.6 to 7.13 send it with every list of indices; no index is ever throttled.
  "ignore_throttled",
];

/** Returns the options of RESOLVE_PARAMS over `defaults`. Throws request_invalid. */
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
  // "hidden" alone means open indices, including hidden ones.
  return states.includes("hidden") ? "open" : "none";
}

export const SOURCE_PARAMS: readonly string[] = [
  "_source",
  "_source_include",
  "_source_includes",
  "_source_exclude",
  "_source_excludes",
];

/** Throws forbidden if a write would return a document that its sender may not read. */
export function checkMayRead(request: ApiRequest, filter: SourceFilter | false | undefined): void {
  if (filter === undefined || filter === false || request.may("search")) return;
  throw new AppError(
    "forbidden",
    `${request.principal.name} may not search, so a write can't answer [_source]`,
  );
}

/** Returns the filter given by the parameters; undefined if they don't mention `_source`. */
export function sourceParams(request: ApiRequest): SourceFilter | false | undefined {
  const { query } = request;
  for (const old of ["_source_include", "_source_exclude"]) {
    if (query[old] === undefined) continue;
    warnDeprecated(`Deprecated parameter [${old}] used, expected [${old}s] instead`, { from: 606 });
  }
  const includes = request.list("_source_includes") ?? request.list("_source_include");
  const excludes = request.list("_source_excludes") ?? request.list("_source_exclude");
  const given = query["_source"];
  if (given === undefined && includes === undefined && excludes === undefined) return undefined;
  const filter = parseSourceFilter(given === undefined || given === "" ? true : given);
  if (filter === false) return includes === undefined ? false : { includes, excludes: excludes ?? [] };
  return { includes: includes ?? filter.includes, excludes: excludes ?? filter.excludes };
}
