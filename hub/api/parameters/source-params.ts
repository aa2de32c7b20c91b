/** `_source` and its relatives among the parameters of a request. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { parseSourceFilter, type SourceFilter } from "#hub/search/source/source-filter.ts";

export const SOURCE_PARAMS: readonly string[] = [
  "_source",
  "_source_include",
  "_source_includes",
  "_source_exclude",
  "_source_excludes",
];

/** Returns the filter that the parameters ask for; undefined where they don't mention `_source`. */
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
