/** `_search_shards`: the nodes and shards that a search would run on. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { printedNode } from "#hub/api/parameters/meant-nodes.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { activeNodes } from "#hub/api/stats/copy-stats.ts";
import { indexCopies, type ShardCopies } from "#hub/api/stats/index-health.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { meantAliases } from "./search-target.ts";

export function searchShardsRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_search_shards", "/{index}/_search_shards", "/{index}/{type}/_search_shards"],
      params: ["preference", "routing", "local", ...RESOLVE_PARAMS],
      action: "search",
      summary: "Lists the nodes and shards that a search would run on.",
      handle: (request) => searchShards(parts, request),
    },
  ];
}

function searchShards({ indices, cluster, compatVersion }: ApiContext, request: ApiRequest): ApiResponse {
  const expression = request.path["index"];
  const options = resolveOptions(request);
  const found = indices.resolve(expression, options);
  const shards = found.flatMap((index) =>
    indexCopies(index, cluster).map((copies, shard) => copyBodies(index, shard, copies)),
  );
  const used = new Set<unknown>(shards.flat().map(({ node }) => node));
  const nodes = cluster.nodes().filter(({ id }) => used.size === 0 || used.has(id));
  return json({
    nodes: Object.fromEntries(nodes.map((each) => [each.id, printedNode(each, compatVersion)])),
    indices: Object.fromEntries(
      found.map((index) => {
        const aliases = namedAliases(index, expression);
        // A request that names the index itself, or an alias without a filter, searches the whole index.
        const filters = (meantAliases(index, expression, options) ?? []).map(
          (name) => index.aliases[name]?.filter,
        );
        const [first] = filters;
        const filter =
          first === undefined || filters.includes(undefined)
            ? undefined
            : printedFilter(filters.length === 1 ? first : { bool: { should: filters.toSorted(byText) } });
        return [
          index.name,
          { ...(aliases.length > 0 && { aliases, ...(filter !== undefined && { filter }) }) },
        ];
      }),
    ),
    shards,
  });
}

/** Returns the started copies of a shard, the primary first. */
function copyBodies({ name }: IndexInfo, shard: number, copies: ShardCopies): JsonObject[] {
  return activeNodes(copies).map((node, at) => {
    const to = copies.relocating.find(([from]) => from === node)?.[1];
    return {
      state: to === undefined ? "STARTED" : "RELOCATING",
      primary: at === 0,
      node: node.id,
      relocating_node: to?.id ?? null,
      shard,
      index: name,
    };
  });
}

/** Returns the aliases of an index that an expression names or matches, whether or not it also names the index. */
function namedAliases(index: IndexInfo, expression: string | undefined): string[] {
  const tests = (expression ?? "").split(",").map((part) => compileWildcard(part));
  return Object.keys(index.aliases)
    .filter((name) => tests.some((test) => test.matches(name)))
    .sort();
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** Returns a query in its full form; a query without a short form is returned unchanged. */
function printedFilter(query: JsonObject): JsonObject {
  const [entry] = Object.entries(query);
  if (entry === undefined) return query;
  const [type, body] = entry;
  if (!isObject(body)) return query;
  if (type === "term" || type === "prefix" || type === "wildcard")
    return { [type]: fieldValues(body, "value") };
  if (type === "match") return { [type]: fieldValues(body, "query") };
  if (type === "terms" || type === "match_all" || type === "exists") return { [type]: { ...body, boost: 1 } };
  if (type !== "bool") return query;
  const clauses = Object.entries(body).map(([name, clause]) => [
    name,
    ["must", "filter", "should", "must_not"].includes(name) ? listed(clause).map(printedFilter) : clause,
  ]);
  return { bool: { ...(Object.fromEntries(clauses) as JsonObject), adjust_pure_negative: true, boost: 1 } };
}

function fieldValues(body: JsonObject, key: string): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([field, value]) => [
      field,
      isObject(value) ? { ...value, boost: value["boost"] ?? 1 } : { [key]: value, boost: 1 },
    ]),
  );
}

function listed(clause: unknown): JsonObject[] {
  return (Array.isArray(clause) ? clause : [clause]).filter(isObject);
}
