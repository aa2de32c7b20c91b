/** `_stats`: statistics of indices, of their shards, and their sums. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { copyStats, totalSource } from "#hub/api/stats/copy-stats.ts";
import type { HealthSource } from "#hub/api/stats/index-health.ts";
import { printSections, SECTION_NAMES, type StatsOptions } from "#hub/api/stats/statistics.ts";
import { type StatsSource, shardSource, statsSources, together } from "#hub/api/stats/stats-source.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { nearestName } from "#proto/kit/nearest.ts";
import { answeredCounts } from "./maintenance.ts";

/** Parameters that statistics of indices and of nodes share. */
export const STATS_PARAMS: readonly string[] = [
  "level",
  "types",
  "groups",
  "fields",
  "fielddata_fields",
  "completion_fields",
  "include_segment_file_sizes",
];

export function statsRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_stats", "/_stats/{metric}", "/{index}/_stats", "/{index}/_stats/{metric}"],
      params: [...RESOLVE_PARAMS, ...STATS_PARAMS, "include_unloaded_segments", "forbid_closed_indices"],
      action: "monitor",
      summary: "Shows how many documents and segments indices have, and their size.",
      handle: (request) => stats(parts, request),
    },
  ];
}

async function stats(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const options = statsOptions(request, "metric");
  const level = request.query["level"] ?? "indices";
  if (!["cluster", "indices", "shards"].includes(level))
    throw new AppError(
      "request_invalid",
      `level parameter must be one of [cluster] or [indices] or [shards] but was [${level}]`,
    );
  const found = parts.indices
    .resolve(request.path["index"], resolveOptions(request, { expandWildcards: "open" }))
    .filter(({ state }) => state === "open");
  const sources = await statsSources(parts, found);
  const copies = found.map((index) => totalSource(index, sources.get(index.uuid)!, parts.cluster));
  return json({
    _shards: answeredCounts(
      found,
      new Map([...sources].map(([uuid, { shards }]) => [uuid, shards])),
      parts.cluster,
    ),
    _all: {
      primaries: printSections(together(sources.values()), options),
      total: printSections(together(copies), options),
    },
    ...(level !== "cluster" && {
      indices: Object.fromEntries(
        found.map((index, at) => [
          index.name,
          {
            uuid: index.uuid,
            primaries: printSections(sources.get(index.uuid)!, options),
            total: printSections(copies[at]!, options),
            ...(level === "shards" && {
              shards: shardBodies(index, sources.get(index.uuid)!, parts.cluster, options),
            }),
          },
        ]),
      ),
    }),
  });
}

/** Returns the copies of each shard. */
function shardBodies(
  index: IndexInfo,
  { shards }: StatsSource,
  cluster: HealthSource,
  options: StatsOptions,
): JsonObject {
  // Answers of 6.5 name the node only where there are several.
  const namesNode = answersAs(700) || cluster.nodes().length > 1;
  const each = shards.map((stats) => [
    String(stats.shard),
    copyStats(index, [stats], cluster).map((copy) => ({
      routing: {
        state: copy.movesTo === undefined ? "STARTED" : "RELOCATING",
        primary: copy.isPrimary,
        ...(namesNode && { node: copy.node.id, relocating_node: copy.movesTo?.id ?? null }),
      },
      ...printSections(shardSource(copy.stats), options),
      commit: commitOf(index, stats),
    })),
  ]);
  return Object.fromEntries(each) as JsonObject;
}

/** Returns the newest commit of a shard; each commit has another id. */
function commitOf({ uuid }: IndexInfo, { shard, generation, docs }: HostedShardStats): JsonObject {
  const id = Buffer.from(`${uuid}/${shard}/${generation}`).toString("base64");
  return { id, generation, user_data: {}, num_docs: docs };
}

/**
 * Parses the options of a request. `parameter`: the one that names the sections. Throws request_invalid for unknown
 * sections.
 */
export function statsOptions(request: ApiRequest, parameter: string): StatsOptions {
  const fields = request.list("fields") ?? [];
  return {
    wanted: wantedSections(request, parameter),
    groups: request.list("groups") ?? [],
    types: request.list("types") ?? [],
    fieldDataOf: [...fields, ...(request.list("fielddata_fields") ?? [])],
    completionsOf: [...fields, ...(request.list("completion_fields") ?? [])],
    fileSizes: request.flag("include_segment_file_sizes") ?? false,
  };
}

function wantedSections(request: ApiRequest, parameter: string): (metric: string) => boolean {
  const asked = request.list(parameter);
  if (asked === undefined || asked.includes("_all")) return () => true;
  const unknown = asked.find((metric) => !SECTION_NAMES.includes(metric));
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, SECTION_NAMES);
    throw new AppError(
      "request_invalid",
      `request [${request.uri.split("?", 1)[0]}] contains unrecognized metric: [${unknown}]${nearest === undefined ? "" : ` -> did you mean [${nearest}]?`}`,
    );
  }
  return (metric) => asked.includes(metric);
}
