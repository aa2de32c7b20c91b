/** `_cluster/stats`: statistics of the whole cluster. */

import { arch, availableParallelism, platform, uptime } from "node:os";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { meantNodes } from "#hub/api/parameters/meant-nodes.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { activeNodes, type CopyStats, copyStats } from "#hub/api/stats/copy-stats.ts";
import { clusterHealth, type HealthSource, indexCopies } from "#hub/api/stats/index-health.ts";
import {
  diskUsage,
  fileDescriptors,
  memoryStats,
  processStats,
  runtimeStats,
  threadCount,
} from "#hub/api/stats/machine.ts";
import { printSections } from "#hub/api/stats/statistics.ts";
import { statsSources, together } from "#hub/api/stats/stats-source.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { JsonObject } from "#proto/kit/json.ts";

export function clusterStatsRoutes(api: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_cluster/stats", "/_cluster/stats/nodes/{nodes}"],
      params: ["flat_settings", "timeout"],
      action: "monitor",
      summary: "Shows statistics of the whole cluster.",
      handle: (request) => clusterStats(api, request),
    },
  ];
}

async function clusterStats(api: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { cluster, indices, clock } = api;
  const nodes = meantNodes(cluster.nodes(), request.path["nodes"]);
  const open = indices.all().filter(({ state }) => state === "open");
  const health = clusterHealth(open, cluster);
  return json({
    _nodes: { total: nodes.length, successful: nodes.length, failed: 0 },
    cluster_name: cluster.name,
    cluster_uuid: cluster.uuid,
    timestamp: clock.now(),
    status: health.status,
    indices: {
      count: open.length,
      shards: shardTotals(open, cluster, nodes),
      ...(await clusterIndexSections(api, open, nodes)),
      ...(answersAs(800) && UNCOUNTED_INDICES),
    },
    nodes: nodesSection(api, nodes.length),
    ...(answersAs(800) && { repositories: {}, snapshots: NO_SNAPSHOTS, ccs: NO_OTHER_CLUSTERS }),
  });
}

/** Returns the section of nodes; load and memory are those of this node. */
function nodesSection(api: ApiContext, count: number): JsonObject {
  return {
    count: {
      total: count,
      data: count,
      coordinating_only: 0,
      master: count,
      ingest: count,
    },
    versions: [api.compatVersion],
    os: {
      available_processors: availableParallelism(),
      allocated_processors: availableParallelism(),
      names: [{ name: platform(), count }],
      ...(answersAs(702) && { pretty_names: [{ pretty_name: platform(), count }] }),
      mem: memoryStats(),
    },
    process: processSection(),
    jvm: runtimeSection(count),
    fs: diskUsage(api.dataFolder),
    plugins: [],
    discovery_types: { [count > 1 ? "zen" : "single-node"]: count },
    packaging_types: [{ flavor: "default", type: "tar", count }],
    network_types: { transport_types: { netty4: count }, http_types: { netty4: count } },
    ...(answersAs(800) && {
      ingest: { number_of_pipelines: api.ingest?.all().size ?? 0, processor_stats: {} },
      indexing_pressure: { memory: {} },
    }),
  };
}

/** Returns the section that clients read the virtual machine from. */
function runtimeSection(count: number): JsonObject {
  return {
    max_uptime_in_millis: Math.round(uptime() * 1_000),
    versions: [
      {
        version: process.versions.node,
        vm_name: "V8",
        vm_version: arch(),
        vm_vendor: "Node.js",
        ...(answersAs(700) && { bundled_jdk: true, using_bundled_jdk: true }),
        count,
      },
    ],
    mem: runtimeStats()["mem"],
    threads: threadCount(),
  };
}

/** Usage that isn't counted, and field types that don't exist here. */
const UNCOUNTED_INDICES: JsonObject = {
  search: { total: 0, queries: {}, rescorers: {}, sections: {}, retrievers: {} },
  dense_vector: { value_count: 0 },
  sparse_vector: { value_count: 0 },
};

/** Running snapshots are tasks, see `_tasks`. */
const NO_SNAPSHOTS: JsonObject = {
  current_counts: {
    snapshots: 0,
    shard_snapshots: 0,
    snapshot_deletions: 0,
    concurrent_operations: 0,
    cleanups: 0,
  },
  repositories: {},
};

const NO_TIME: JsonObject = { max: 0, avg: 0, p90: 0 };

/** There is no cross-cluster search. */
const NO_OTHER_CLUSTERS: JsonObject = {
  _search: {
    total: 0,
    success: 0,
    skipped: 0,
    took: NO_TIME,
    took_mrt_true: NO_TIME,
    took_mrt_false: NO_TIME,
    remotes_per_search_max: 0,
    remotes_per_search_avg: 0,
    failure_reasons: {},
    features: {},
    clients: {},
    clusters: {},
  },
};

function processSection(): JsonObject {
  const { current } = fileDescriptors();
  const { max_file_descriptors: _, ...stats } = processStats();
  return {
    ...stats,
    open_file_descriptors: { min: current, max: current, avg: current },
  };
}

/** Counts the copies on `nodes`; none counts as all. */
function shardTotals(
  open: readonly IndexInfo[],
  cluster: HealthSource,
  nodes: readonly NodeInfo[],
): JsonObject {
  if (open.length === 0) return {};
  const shards = open.flatMap((index) => indexCopies(index, cluster).map(activeNodes));
  const isMeant = (node: NodeInfo): boolean => isOneOf(nodes, node);
  const total = shards.reduce((sum, each) => sum + each.filter(isMeant).length, 0);
  const primaries = shards.filter(([first]) => first !== undefined && isMeant(first)).length;
  return { total, primaries, replication: primaries === 0 ? 0 : (total - primaries) / primaries };
}

/** Documents are counted in primaries, everything else in all copies. */
async function clusterIndexSections(
  api: ApiContext,
  open: readonly IndexInfo[],
  nodes: readonly NodeInfo[],
): Promise<JsonObject> {
  const sources = await statsSources(api, open);
  const sections = (names: readonly string[], isCounted: (copy: CopyStats) => boolean): JsonObject => {
    const each = open.map((index) => {
      const source = sources.get(index.uuid)!;
      const copies = copyStats(index, source.shards, api.cluster).filter(
        (copy) => isOneOf(nodes, copy.node) && isCounted(copy),
      );
      return { ...source, shards: copies.map(({ stats }) => stats) };
    });
    return printSections(together(each), {
      wanted: (metric) => names.includes(metric),
      groups: [],
      types: [],
      fieldDataOf: [],
      completionsOf: [],
      fileSizes: false,
    });
  };
  return {
    ...sections(["docs"], ({ isPrimary }) => isPrimary),
    ...sections(["store", "fielddata", "query_cache", "completion", "segments"], () => true),
  };
}

function isOneOf(nodes: readonly NodeInfo[], { id }: NodeInfo): boolean {
  return nodes.length === 0 || nodes.some((node) => node.id === id);
}
