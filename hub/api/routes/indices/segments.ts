/** `_segments` and `_recovery`: segments of shards and how shards were recovered. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { type CopyStats, copyStats } from "#hub/api/stats/copy-stats.ts";
import { type ComingCopy, comingCopies, type HealthSource } from "#hub/api/stats/index-health.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { answeredCounts } from "./maintenance.ts";

/** Lucene version reported to clients for segments. */
export const SEGMENT_VERSION = "7.5.0";

export function segmentRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_segments", "/{index}/_segments"],
      params: [...RESOLVE_PARAMS, "verbose", "operation_threading"],
      action: "monitor",
      summary: "Shows the segments of shards.",
      handle: (request) => segments(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_recovery", "/{index}/_recovery"],
      params: [...RESOLVE_PARAMS, "detailed", "active_only"],
      action: "monitor",
      summary: "Shows how shards were recovered.",
      handle: (request) => recovery(parts, request),
    },
  ];
}

async function segments(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { cluster } = parts;
  const options = resolveOptions(request);
  const resolved = parts.indices.resolve(request.path["index"], options);
  const closed = resolved.find(({ state }) => state === "close");
  if (closed !== undefined && options.ignoreUnavailable !== true)
    throw new AppError("index_closed", "closed", { data: { index: closed.name, index_uuid: closed.uuid } });
  const found = resolved.filter(({ state }) => state === "open");
  const stats = await parts.shards.stats(found);
  return json({
    _shards: answeredCounts(found, stats, cluster),
    indices: Object.fromEntries(
      found.map((index) => [
        index.name,
        { shards: shardSegments(index, stats.get(index.uuid) ?? [], cluster) },
      ]),
    ),
  });
}

function shardSegments(
  index: IndexInfo,
  shards: readonly HostedShardStats[],
  source: HealthSource,
): JsonObject {
  const each = shards.map((stats) => [
    String(stats.shard),
    copyStats(index, [stats], source).map(({ node, isPrimary, movesTo }) => ({
      routing: {
        state: movesTo === undefined ? "STARTED" : "RELOCATING",
        primary: isPrimary,
        node: node.id,
        ...(movesTo !== undefined && { relocating_node: movesTo.id }),
      },
      num_committed_segments: stats.segments,
      num_search_segments: stats.segments,
      segments: segmentBodies(stats),
    })),
  ]);
  return Object.fromEntries(each) as JsonObject;
}

/** Statistics are kept per shard: they are printed as those of a single segment with the name of the first. */
function segmentBodies({ segments: count, docs, deleted, bytes }: HostedShardStats): JsonObject {
  if (count === 0) return {};
  return {
    _0: {
      generation: 0,
      num_docs: docs,
      deleted_docs: deleted,
      size_in_bytes: bytes,
      memory_in_bytes: 0,
      committed: true,
      search: true,
      version: SEGMENT_VERSION,
      compound: true,
      attributes: { "Lucene50StoredFieldsFormat.mode": "BEST_SPEED" },
    },
  };
}

async function recovery(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  // From 7.2 on closed indices have copies; these count as already recovered.
  const found = parts.indices
    .resolve(request.path["index"], resolveOptions(request))
    .filter(({ state }) => state === "open" || answersAs(702));
  const active = new Map(
    found.map((index) => [index, comingCopies(index, parts.cluster).map(activeRecovery)] as const),
  );
  // Shards of this hub recover while it starts, before it answers requests.
  if (request.flag("active_only") === true)
    return json(
      Object.fromEntries(
        [...active].flatMap(([{ name }, shards]) => (shards.length === 0 ? [] : [[name, { shards }]])),
      ),
    );
  const options = {
    human: request.flag("human") ?? false,
    detailed: request.flag("detailed") ?? false,
  };
  const byIndex = await parts.shards.stats(found);
  return json(
    Object.fromEntries(
      found.map((index) => [
        index.name,
        {
          shards: [
            ...copyStats(index, byIndex.get(index.uuid) ?? [], parts.cluster).map((copy) =>
              recoveryOf(index, copy, options),
            ),
            ...active.get(index)!,
          ],
        },
      ]),
    ),
  );
}

/** Returns the recovery of a copy that is being moved to a hub. Only that hub knows the progress. */
function activeRecovery({ shard, isPrimary, from, to }: ComingCopy): JsonObject {
  return {
    id: shard,
    type: "PEER",
    stage: from === undefined ? "INIT" : "INDEX",
    primary: isPrimary,
    source: from === undefined ? {} : placeOf(from),
    target: placeOf(to),
  };
}

function placeOf({ id, host, transportAddress, name }: NodeInfo): JsonObject {
  return { id, host, transport_address: transportAddress, ip: host, name };
}

/** Returns the recovery of a started copy. Each hub opens its copies from its own disk before it answers requests. */
function recoveryOf(
  index: IndexInfo,
  { stats, node, isPrimary }: CopyStats,
  { human, detailed }: { readonly human: boolean; readonly detailed: boolean },
): JsonObject {
  const { creationDate } = index.settings;
  const place = placeOf(node);
  const isNew = stats.docs === 0 && stats.segments === 0 && index.state === "open";
  const times = (name: string): JsonObject => ({
    ...(human && { [name]: "0s" }),
    [`${name}_in_millis`]: 0,
  });
  return {
    id: stats.shard,
    type: isNew ? "EMPTY_STORE" : "EXISTING_STORE",
    stage: "DONE",
    primary: isPrimary,
    ...(human && { start_time: new Date(creationDate).toISOString() }),
    start_time_in_millis: creationDate,
    ...(human && { stop_time: new Date(creationDate).toISOString() }),
    stop_time_in_millis: creationDate,
    ...times("total_time"),
    source: isNew ? {} : place,
    target: place,
    index: {
      size: {
        total_in_bytes: stats.bytes,
        reused_in_bytes: stats.bytes,
        recovered_in_bytes: 0,
        percent: isNew ? "0.0%" : "100.0%",
      },
      files: {
        total: stats.segments,
        reused: stats.segments,
        recovered: 0,
        percent: isNew ? "0.0%" : "100.0%",
        ...(detailed && { details: [] }),
      },
      ...times("total_time"),
      ...times("source_throttle_time"),
      ...times("target_throttle_time"),
    },
    translog: { recovered: 0, total: 0, percent: "100.0%", total_on_start: 0, ...times("total_time") },
    verify_index: { ...times("check_index_time"), ...times("total_time") },
  };
}
