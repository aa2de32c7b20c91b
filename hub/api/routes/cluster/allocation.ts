/**
 * Placement of shard copies: `_cluster/allocation/explain`, `_cluster/reroute`, `_shard_stores`, and `_upgrade`, which has
 * no effect. Copies beyond the number of hubs are unassigned.
 */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { printedNode, printedRoles } from "#hub/api/parameters/meant-nodes.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { shardCounts } from "#hub/api/routes/indices/maintenance.ts";
import { SEGMENT_VERSION } from "#hub/api/routes/indices/segments.ts";
import { copyNodes, copyStats } from "#hub/api/stats/copy-stats.ts";
import { type HealthSource, indexCopies, indexHealth, shardCopies } from "#hub/api/stats/index-health.ts";
import { diskUsage } from "#hub/api/stats/machine.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { reroute } from "./reroute.ts";

export function allocationRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_cluster/allocation/explain"],
      params: ["include_yes_decisions", "include_disk_info"],
      action: "monitor",
      summary: "Explains why a copy of a shard is on its node, or on none.",
      handle: (request) => explain(parts, request),
    },
    {
      methods: ["POST"],
      paths: ["/_cluster/reroute"],
      params: ["dry_run", "explain", "retry_failed", "metric", "timeout", "master_timeout"],
      action: "index_manage",
      summary: "Moves copies of shards, makes one that is missing, or ends a move, where copies are placed.",
      handle: (request) => reroute(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_shard_stores", "/{index}/_shard_stores"],
      params: [...RESOLVE_PARAMS, "status", "operation_threading"],
      action: "monitor",
      summary: "Shows which nodes have a copy of each shard on disk.",
      handle: (request) => shardStores(parts, request),
    },
    {
      methods: ["GET", "POST"],
      paths: ["/_upgrade", "/{index}/_upgrade"],
      params: [...RESOLVE_PARAMS, "wait_for_completion", "only_ancient_segments"],
      action: "index_manage",
      summary: "Shows that no segment has to be rewritten: each version reads the formats of those before.",
      handle: (request) => upgrade(parts, request),
    },
  ];
}

/** A copy of a shard, on a node or waiting for one. */
interface Copy {
  readonly index: IndexInfo;
  readonly shard: number;
  readonly primary: boolean;
}

function explain(parts: ApiContext, request: ApiRequest): ApiResponse {
  const body = request.object();
  const copy = Object.keys(body).length === 0 ? firstUnassigned(parts) : namedCopy(parts, body);
  const [node] = parts.cluster.nodes();
  const withDisk = request.flag("include_disk_info") ?? false;
  return json({
    index: copy.index.name,
    shard: copy.shard,
    primary: copy.primary,
    ...explained(copy, parts.cluster),
    ...(withDisk && { cluster_info: clusterInfo(parts, node) }),
  });
}

function explained({ index, shard, primary }: Copy, source: HealthSource): JsonObject {
  const isPlaced = source.placement?.(index.uuid, shard) !== undefined;
  const { started: there, relocating, initializing, waiting, lost } = shardCopies(index, shard, source);
  const node = there[primary ? 0 : 1];
  const isWaiting = waiting > 0 && (!primary || there.length === 0);
  if (isWaiting) return unassigned(index, lost, isPlaced);
  if (node === undefined) return { ...currentNode(initializing[0]), current_state: "initializing" };
  const isMoving = relocating.some(([from]) => from === node);
  return {
    ...currentNode(node),
    current_state: isMoving ? "relocating" : "started",
    can_remain_on_current_node: isMoving ? "no" : "yes",
    can_rebalance_cluster: isPlaced ? "yes" : "no",
    can_rebalance_to_other_node: "no",
    rebalance_explanation: isPlaced
      ? "copies are moved where hubs differ by more than one, a few at a time"
      : "every node has a copy of every shard",
  };
}

/** Returns the first unassigned copy. Throws request_invalid if every copy has a node. */
function firstUnassigned({ indices, cluster }: ApiContext): Copy {
  for (const index of indices.all()) {
    if (index.state !== "open") continue;
    const all = indexCopies(index, cluster);
    const shard = all.findIndex(({ waiting }) => waiting > 0);
    if (shard >= 0) return { index, shard, primary: all[shard]!.started.length === 0 };
  }
  throw new AppError(
    "request_invalid",
    "unable to find any unassigned shards to explain [ClusterAllocationExplainRequest[useAnyUnassignedShard=true,includeYesDecisions?=false]",
  );
}

/** Throws request_invalid, index_missing. */
function namedCopy({ indices }: ApiContext, body: JsonObject): Copy {
  const { index: name, shard, primary } = body;
  if (typeof name !== "string" || typeof shard !== "number" || typeof primary !== "boolean")
    throw new AppError(
      "request_invalid",
      "[index], [shard] and [primary] must be given: a name, a number, true or false",
    );
  const [index] = indices.resolve(name, { allowNoIndices: false, expandWildcards: "all" });
  const hasShard = Number.isInteger(shard) && shard >= 0 && shard < index!.settings.numberOfShards;
  if (hasShard && (primary || index!.settings.numberOfReplicas > 0)) return { index: index!, shard, primary };
  throw new AppError(
    "request_invalid",
    `No shard was specified in the request which means the response should explain a randomly-chosen unassigned shard; [${name}] has no such copy: shard [${shard}], primary [${primary}]`,
  );
}

function currentNode(node: NodeInfo | undefined): JsonObject {
  if (node === undefined) return {};
  const { id, name, transportAddress, attributes } = node;
  const later = answersAs(800) ? { roles: printedRoles(), weight_ranking: 1 } : {};
  return { current_node: { id, name, transport_address: transportAddress, attributes, ...later } };
}

/** `lost`: lost hubs that had the copy and are expected to come back. */
function unassigned({ settings }: IndexInfo, lost: readonly string[], isPlaced: boolean): JsonObject {
  const isLost = lost.length > 0;
  return {
    current_state: "unassigned",
    unassigned_info: {
      reason: isLost ? "NODE_LEFT" : "INDEX_CREATED",
      at: new Date(settings.creationDate).toISOString(),
      last_allocation_status: "no_attempt",
    },
    can_allocate: isLost ? "allocation_delayed" : "no",
    allocate_explanation: isLost
      ? `its hub [${lost.join(", ")}] is missing; start it again. With another copy left a new one is made after index.unassigned.node_left.delayed_timeout`
      : `each copy needs a node of its own, and there are fewer nodes; ${isPlaced ? "" : "the log keeps what isn't in segments yet. "}Set number_of_replicas lower, or start another node`,
  };
}

function clusterInfo({ dataFolder }: ApiContext, node: NodeInfo | undefined): JsonObject {
  if (node === undefined) return { nodes: {} };
  const { total_in_bytes: total, available_in_bytes: free } = diskUsage(dataFolder);
  const used = total - free;
  const disk = {
    path: dataFolder,
    total_bytes: total,
    used_bytes: used,
    free_bytes: free,
    free_disk_percent: Math.round((free * 1000) / total) / 10,
    used_disk_percent: Math.round((used * 1000) / total) / 10,
  };
  return { nodes: { [node.id]: { node_name: node.name, least_available: disk, most_available: disk } } };
}

/** Status of the shards that are shown by default: those that lack a copy. */
const DEFAULT_STATUS = ["yellow", "red"];

async function shardStores(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const wanted = request.list("status") ?? DEFAULT_STATUS;
  const found = parts.indices.resolve(request.path["index"], resolveOptions(request)).filter((index) => {
    const { status } = indexHealth(index, parts.cluster);
    return index.state === "open" && (wanted.includes("all") || wanted.includes(status));
  });
  const stats = await parts.shards.stats(found);
  const storesOf = (index: IndexInfo): JsonObject =>
    Object.fromEntries(
      (stats.get(index.uuid) ?? []).map(({ shard }) => [
        String(shard),
        {
          stores: copyNodes(index, shard, parts.cluster).map((node, copy) => ({
            [node.id]: printedNode(node),
            // That of the primary is the shard's name, as on a single hub.
            allocation_id: `${index.uuid}-${shard}${copy === 0 ? "" : `-${node.id}`}`,
            allocation: copy === 0 ? "primary" : "replica",
          })),
        },
      ]),
    );
  return json({
    indices: Object.fromEntries(found.map((index) => [index.name, { shards: storesOf(index) }])),
  });
}

async function upgrade(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const found = parts.indices.resolve(request.path["index"], resolveOptions(request));
  const _shards = shardCounts(found, parts.cluster);
  if (request.method === "GET") {
    const stats = await parts.shards.stats(found);
    const sizes = found.map((index): [string, number] => [
      index.name,
      copyStats(index, stats.get(index.uuid) ?? [], parts.cluster).reduce(
        (sum, copy) => sum + copy.stats.bytes,
        0,
      ),
    ]);
    const sizeBody = (size: number): JsonObject => ({
      size_in_bytes: size,
      size_to_upgrade_in_bytes: 0,
      size_to_upgrade_ancient_in_bytes: 0,
    });
    return json({
      ...sizeBody(sizes.reduce((sum, [, size]) => sum + size, 0)),
      indices: Object.fromEntries(sizes.map(([name, size]) => [name, sizeBody(size)])),
    });
  }
  const versions = {
    upgrade_version: parts.compatVersion,
    oldest_lucene_segment_version: SEGMENT_VERSION,
  };
  return json({ _shards, upgraded_indices: Object.fromEntries(found.map(({ name }) => [name, versions])) });
}
