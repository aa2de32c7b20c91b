/** Maintenance of indices: refresh, flush, merge, caches. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { storing, taskHeaders } from "#hub/api/context/tasks.ts";
import { shardFailureBodies } from "#hub/api/http/error-body.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { activeNodes, copyStats, countCopies } from "#hub/api/stats/copy-stats.ts";
import { type HealthSource, indexCopies } from "#hub/api/stats/index-health.ts";
import { keyOf } from "#hub/auth/accounts/principal.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

export function maintenanceRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST", "GET"],
      paths: ["/_refresh", "/{index}/_refresh"],
      params: RESOLVE_PARAMS,
      action: "ingest",
      summary: "Makes everything written so far searchable.",
      handle: (request) => refresh(parts, request),
    },
    {
      methods: ["POST", "GET"],
      paths: ["/_flush", "/{index}/_flush", "/_flush/synced", "/{index}/_flush/synced"],
      params: [...RESOLVE_PARAMS, "force", "wait_if_ongoing"],
      action: "index_manage",
      summary: "Commits everything written so far to segments on disk.",
      handle: (request) => flush(parts, request),
    },
    {
      methods: ["POST"],
      paths: ["/_forcemerge", "/{index}/_forcemerge"],
      params: [
        ...RESOLVE_PARAMS,
        "flush",
        "max_num_segments",
        "only_expunge_deletes",
        "operation_threading",
        "wait_for_completion",
      ],
      action: "index_manage",
      summary: "Merges the segments of indices.",
      handle: (request) => forceMerge(parts, request),
    },
    {
      methods: ["POST", "GET"],
      paths: ["/_cache/clear", "/{index}/_cache/clear"],
      params: [
        ...RESOLVE_PARAMS,
        "query",
        "fielddata",
        "fields",
        "field_data",
        "request",
        "request_cache",
        "recycler",
      ],
      action: "index_manage",
      summary: "Clears the cached answers of requests without hits.",
      handle: (request) => clearCaches(parts, request),
    },
  ];
}

/** Returns `_shards` of an operation that succeeded on all started copies. `total` includes those without a node. */
export function shardCounts(indices: readonly IndexInfo[], source: HealthSource): JsonObject {
  return { total: wantedCopies(indices), successful: countCopies(indices, source), failed: 0 };
}

/** Returns `_shards` of statistics: the copies of a shard whose hub gave none aren't counted as successful. */
export function answeredCounts(
  indices: readonly IndexInfo[],
  stats: ReadonlyMap<string, readonly HostedShardStats[]>,
  source: HealthSource,
): JsonObject {
  const successful = indices.reduce(
    (sum, index) => sum + copyStats(index, stats.get(index.uuid) ?? [], source).length,
    0,
  );
  return { total: wantedCopies(indices), successful, failed: 0 };
}

function wantedCopies(indices: readonly IndexInfo[]): number {
  return indices.reduce(
    (sum, { settings }) => sum + settings.numberOfShards * (1 + settings.numberOfReplicas),
    0,
  );
}

/**
 * Refreshes. Copies that aren't up to date are counted as failed. Which hubs missed it isn't known: as many copies of each
 * shard are counted as theirs may be.
 */
async function refresh(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { cluster } = parts;
  const found = parts.indices.resolve(request.path["index"], resolveOptions(request));
  refuseClosed(found);
  const { behind, missed } = await parts.maintenance.refresh(found);
  const counts = shardCounts(found, cluster);
  if (behind === undefined) {
    const failed = missedCopies(found, cluster, (others) => Math.min(missed, others));
    return json({ _shards: { ...counts, successful: countCopies(found, cluster) - failed, failed } });
  }
  const failures = found.flatMap(({ name, uuid, settings }) =>
    Array.from({ length: settings.numberOfShards }, (_, shard) => ({
      shard,
      index: name,
      indexUuid: uuid,
      error: behind,
    })),
  );
  // Each failure is of one copy.
  const more = missedCopies(found, cluster, (others, all) => Math.min(missed, others, Math.max(0, all - 1)));
  return json({
    _shards: {
      ...counts,
      successful: 0,
      failed: failures.length + more,
      failures: shardFailureBodies(failures, parts.errors),
    },
  });
}

/** Sums `missed` of each shard: of the number of its started copies at other hubs, and of all. */
function missedCopies(
  indices: readonly IndexInfo[],
  source: HealthSource,
  missed: (others: number, all: number) => number,
): number {
  const self = source.nodes()[0]!.id;
  return indices.reduce((total, index) => {
    const each = indexCopies(index, source).map((copies, shard) => {
      const active = activeNodes(copies);
      // Where copies aren't placed, one of them is always here.
      const isHere =
        source.placement?.(index.uuid, shard) === undefined || active.some(({ id }) => id === self);
      return missed(active.length - Number(isHere), active.length);
    });
    return total + each.reduce((sum, count) => sum + count, 0);
  }, 0);
}

async function onIndices(
  parts: ApiContext,
  request: ApiRequest,
  run: (indices: readonly IndexInfo[]) => Promise<void>,
): Promise<ApiResponse> {
  const found = parts.indices.resolve(request.path["index"], resolveOptions(request));
  refuseClosed(found);
  await run(found);
  return json({ _shards: shardCounts(found, parts.cluster) });
}

function flush(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const isForced = request.flag("force") ?? false;
  checkValid(
    answersAs(700) &&
      isForced &&
      request.flag("wait_if_ongoing") === false &&
      "wait_if_ongoing must be true for a force flush",
  );
  if (request.uri.includes("/_flush/synced")) return syncedFlush(parts, request);
  return onIndices(parts, request, (indices) => parts.maintenance.flush(indices));
}

/** Flushes, and answers with the shards of each index: scripts of a restart look for the ones that failed. */
async function syncedFlush(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  warnDeprecated(
    "Synced flush is deprecated and will be removed in 8.0. Use flush at _/flush or /{index}/_flush instead.",
    { from: 706 },
  );
  const found = parts.indices.resolve(request.path["index"], resolveOptions(request));
  refuseClosed(found);
  await parts.maintenance.flush(found);
  const byIndex = found.map((index) => [index.name, shardCounts([index], parts.cluster)] as const);
  return json({ _shards: shardCounts(found, parts.cluster), ...Object.fromEntries(byIndex) });
}

/** Old names of parameters, with their names in 6.5. */
const OLD_PARAMS = { request_cache: "request", field_data: "fielddata" } as const;

function clearCaches(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  for (const [old, name] of Object.entries(OLD_PARAMS)) {
    if (request.query[old] !== undefined)
      warnDeprecated(`Deprecated field [${old}] used, expected [${name}] instead`);
  }
  // A request that names only other caches leaves the result cache as it is.
  const names = ["query", "fielddata", "field_data", "recycler"].some((name) => name in request.query);
  const clears = request.flag("request") ?? request.flag("request_cache") ?? !names;
  return onIndices(parts, request, async (indices) => {
    if (clears) await parts.shards.clearCaches(indices);
  });
}

/** A maximum that all shards keep: only segments with deleted documents are then written again. */
const ANY_NUMBER = Number.MAX_SAFE_INTEGER;

async function forceMerge(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const maxSegments = request.integer("max_num_segments") ?? 1;
  const onlyDeletes = request.flag("only_expunge_deletes") ?? false;
  if (maxSegments < 1 && request.query["max_num_segments"] !== "-1") {
    throw new AppError("request_invalid", `max_num_segments must be at least 1, but is ${maxSegments}`);
  }
  if (onlyDeletes && request.query["max_num_segments"] !== undefined) {
    warnDeprecated(
      "setting only_expunge_deletes and max_num_segments at the same time is deprecated and will be rejected in a future version",
      { from: 700 },
    );
  }
  const merge = (): Promise<ApiResponse> =>
    onIndices(parts, request, (indices) =>
      parts.maintenance.forceMerge(indices, onlyDeletes ? ANY_NUMBER : Math.max(1, maxSegments)),
    );
  if (request.flag("wait_for_completion") ?? true) return merge();
  const names = (request.path["index"] ?? "").split(",").join(", ");
  const task = parts.tasks.start({
    owner: keyOf(request.principal),
    action: "indices:admin/forcemerge",
    description: `Force-merge indices [${names}], maxSegments[${request.query["max_num_segments"] ?? -1}], onlyExpungeDeletes[${onlyDeletes}], flush[${request.flag("flush") ?? true}]`,
    headers: taskHeaders(request),
    status: () => ({}),
    run: async () => (await merge()).json as JsonObject,
    ...storing(parts),
  });
  return json({ task: `${parts.cluster.nodes()[0]!.id}:${task.id}` });
}

function refuseClosed(indices: readonly IndexInfo[]): void {
  const closed = indices.find(({ state }) => state === "close");
  if (closed === undefined) return;
  throw new AppError("index_closed", "closed", { data: { index: closed.name, index_uuid: closed.uuid } });
}
