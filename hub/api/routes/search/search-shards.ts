/** `_search_shards`: where a search would run. */

import type { ApiParts } from "#hub/api/parts.ts";
import type { ApiRequest } from "#hub/api/request.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/resolve-options.ts";
import { type ApiResponse, json, type Route } from "#hub/api/route.ts";
import { meantAliases } from "./open-shards.ts";
import { printedFilter } from "./printed-filter.ts";

export function searchShardsRoutes(parts: ApiParts): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_search_shards", "/{index}/_search_shards", "/{index}/{type}/_search_shards"],
      params: ["preference", "routing", "local", ...RESOLVE_PARAMS],
      action: "search",
      summary: "Says on which nodes and shards a search would run.",
      handle: (request) => searchShards(parts, request),
    },
  ];
}

function searchShards({ indices, cluster }: ApiParts, request: ApiRequest): ApiResponse {
  const expression = request.path["index"];
  const found = indices.resolve(expression, resolveOptions(request));
  const nodes = cluster.nodes();
  const node = nodes[0]!;
  const shards = found.flatMap(({ name, settings }) =>
    Array.from({ length: settings.numberOfShards }, (_, shard) => [
      { state: "STARTED", primary: true, node: node.id, relocating_node: null, shard, index: name },
    ]),
  );
  return json({
    nodes: Object.fromEntries(
      nodes.map(({ id, name, transportAddress }) => [id, { name, transport_address: transportAddress }]),
    ),
    indices: Object.fromEntries(
      found.map((index) => {
        const aliases = meantAliases(index, expression)?.sort();
        const filters = aliases?.map((name) => index.aliases[name]?.filter);
        const filter =
          filters?.includes(undefined) === true
            ? undefined
            : filters?.length === 1
              ? printedFilter(filters[0]!)
              : printedFilter({ bool: { should: filters } });
        return [
          index.name,
          { ...(aliases !== undefined && { aliases, ...(filter !== undefined && { filter }) }) },
        ];
      }),
    ),
    shards,
  });
}
