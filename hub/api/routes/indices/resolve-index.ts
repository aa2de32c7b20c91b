/** `/_resolve/index`: the indices that names and patterns match. Dashboards of 7.x request it while a pattern is typed. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { backingIndices, TIMESTAMP_FIELD } from "#hub/cluster/catalog/data-streams.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";

export function resolveIndexRoutes({ indices }: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_resolve/index/{name}"],
      params: RESOLVE_PARAMS,
      action: "monitor",
      summary: "Lists the indices, aliases and data streams that names and patterns match.",
      handle: (request) => resolveNames(indices, request),
    },
  ];
}

function resolveNames(indices: ApiContext["indices"], request: ApiRequest): ApiResponse {
  const expression = request.segment("name");
  const options = resolveOptions(request, { expandWildcards: "open" });
  const patterns = expression.split(",").map((each) => compileWildcard(each === "_all" ? "*" : each));
  const fits = (name: string): boolean => patterns.some((pattern) => pattern.matches(name));
  const found = indices.resolve(expression, options);
  const aliases = new Map<string, string[]>();
  // An alias also lists its closed indices.
  const reached = indices.resolve(expression, {
    ...options,
    expandWildcards: "all",
    ignoreUnavailable: true,
  });
  for (const { name, aliases: own } of reached) {
    for (const alias of Object.keys(own).filter(fits)) {
      const known = aliases.get(alias);
      if (known === undefined) aliases.set(alias, [name]);
      else known.push(name);
    }
  }
  const streams = [...new Set(found.flatMap(({ dataStream }) => dataStream ?? []))].filter(fits).sort();
  return json({
    // An index that was found only through an alias isn't listed.
    indices: found.filter(({ name }) => fits(name)).map(printIndex),
    aliases: [...aliases].sort(byName).map(([name, of]) => ({ name, indices: of })),
    data_streams: streams.map((name) => ({
      name,
      backing_indices: backingIndices(found, name).map((index) => index.name),
      timestamp_field: TIMESTAMP_FIELD,
    })),
  });
}

function printIndex({ name, aliases, state, dataStream }: IndexInfo): object {
  const names = Object.keys(aliases).sort();
  const attributes = [state === "close" ? "closed" : "open", ...(dataStream === undefined ? [] : ["hidden"])];
  return {
    name,
    ...(names.length > 0 && { aliases: names }),
    attributes,
    ...(dataStream !== undefined && { data_stream: dataStream }),
  };
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
