/** Figures of indices and their segments. Only what is counted is shown. */

import type { JsonObject } from "#hub/search/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import type { ApiParts } from "../parts.ts";
import type { IndexInfo, ShardStats } from "../ports.ts";
import type { ApiRequest } from "../request.ts";
import { RESOLVE_PARAMS, resolveOptions } from "../resolve-options.ts";
import { type ApiResponse, json, type Route } from "../route.ts";
import { shardCounts } from "./maintenance.ts";

/** Metrics of 6.5; those that aren't counted here are accepted and left out of answers. */
const METRICS = [
  "docs",
  "store",
  "indexing",
  "get",
  "search",
  "merge",
  "flush",
  "refresh",
  "query_cache",
  "fielddata",
  "segments",
  "warmer",
  "completion",
  "translog",
  "suggest",
  "request_cache",
  "recovery",
];

export function statsRoutes(parts: ApiParts): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_stats", "/_stats/{metric}", "/{index}/_stats", "/{index}/_stats/{metric}"],
      params: [
        ...RESOLVE_PARAMS,
        "level",
        "types",
        "groups",
        "fields",
        "fielddata_fields",
        "completion_fields",
        "include_segment_file_sizes",
      ],
      action: "monitor",
      summary: "Shows how many documents and segments indices have, and their size.",
      handle: (request) => stats(parts, request),
    },
  ];
}

function stats({ indices, shards }: ApiParts, request: ApiRequest): ApiResponse {
  const wanted = wantedMetrics(request);
  const level = request.query["level"] ?? "indices";
  if (!["cluster", "indices", "shards"].includes(level))
    throw new AppError(
      "request_invalid",
      `level parameter must be one of [cluster] or [indices] or [shards] but was [${level}]`,
    );
  const found = indices
    .resolve(request.path["index"], resolveOptions(request, { expandWildcards: "open" }))
    .filter(({ state }) => state === "open");
  const each = found.map((index) => ({ index, stats: shards.stats(index) }));
  const all = figures(
    each.flatMap((one) => one.stats),
    wanted,
  );
  return json({
    _shards: shardCounts(found),
    _all: { primaries: all, total: all },
    ...(level !== "cluster" && {
      indices: Object.fromEntries(
        each.map((one) => [one.index.name, indexBody(one.index, one.stats, wanted, level === "shards")]),
      ),
    }),
  });
}

function indexBody(
  index: IndexInfo,
  stats: readonly ShardStats[],
  wanted: (metric: string) => boolean,
  withShards: boolean,
): JsonObject {
  const sum = figures(stats, wanted);
  const shards = stats.map((one) => [
    String(one.shard),
    [{ routing: { state: "STARTED", primary: true }, ...figures([one], wanted) }],
  ]);
  return {
    uuid: index.uuid,
    primaries: sum,
    total: sum,
    ...(withShards && { shards: Object.fromEntries(shards) as JsonObject }),
  };
}

function figures(stats: readonly ShardStats[], wanted: (metric: string) => boolean): JsonObject {
  const sum = (of: (shard: ShardStats) => number): number =>
    stats.reduce((total, shard) => total + of(shard), 0);
  return {
    ...(wanted("docs") && {
      docs: { count: sum(({ docs }) => docs), deleted: sum(({ deleted }) => deleted) },
    }),
    ...(wanted("store") && { store: { size_in_bytes: sum(({ bytes }) => bytes) } }),
    ...(wanted("segments") && { segments: { count: sum(({ segments }) => segments) } }),
  };
}

/** Throws request_invalid for metrics that there aren't. */
function wantedMetrics(request: ApiRequest): (metric: string) => boolean {
  const asked = request.list("metric");
  if (asked === undefined || asked.includes("_all")) return () => true;
  const unknown = asked.find((metric) => !METRICS.includes(metric));
  if (unknown !== undefined) {
    throw new AppError(
      "request_invalid",
      `request [${request.uri.split("?", 1)[0]}] contains unrecognized metric: [${unknown}]${didYouMean(unknown, METRICS)}`,
    );
  }
  return (metric) => asked.includes(metric);
}
