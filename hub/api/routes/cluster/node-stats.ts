/** `_nodes/stats`: statistics of the indices, this process and its machine. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { MAX_BODIES_BYTES } from "#hub/api/http/request-body.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { meantNodes, printedRoles } from "#hub/api/parameters/meant-nodes.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IngestCounts } from "#hub/api/ports/pipelines.ts";
import { STATS_PARAMS, statsOptions } from "#hub/api/routes/indices/stats.ts";
import { statsOn } from "#hub/api/stats/copy-stats.ts";
import { diskUsage, mountOf, osStats, processStats, runtimeStats } from "#hub/api/stats/machine.ts";
import { printSections } from "#hub/api/stats/statistics.ts";
import { type StatsSource, statsSources, together } from "#hub/api/stats/stats-source.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { nearestName } from "#proto/kit/nearest.ts";

const METRICS = [
  "adaptive_selection",
  "breaker",
  "discovery",
  "fs",
  "http",
  "indexing_pressure",
  "indices",
  "ingest",
  "jvm",
  "os",
  "process",
  "script",
  "thread_pool",
  "transport",
];
const PARAMS = [...STATS_PARAMS, "timeout"];

export function nodeStatsRoutes(api: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: [
        "/_nodes/stats",
        "/_nodes/stats/{metric}",
        "/_nodes/stats/{metric}/{index_metric}",
        "/_nodes/{nodes}/stats",
        "/_nodes/{nodes}/stats/{metric}",
        "/_nodes/{nodes}/stats/{metric}/{index_metric}",
      ],
      params: PARAMS,
      action: "monitor",
      summary: "Shows statistics of the nodes: indices, process, machine.",
      handle: (request) => nodeStats(api, request),
    },
  ];
}

async function nodeStats(api: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const wanted = nodeMetrics(request);
  const [self] = api.cluster.nodes();
  const indicesOf = wanted("indices") ? await indexSections(api, request) : undefined;
  // Another node reports its own process and machine.
  const found = meantNodes(api.cluster.nodes(), request.path["nodes"]).filter(
    ({ id }) => id === self?.id || indicesOf !== undefined,
  );
  const bodies = found.flatMap((node) => {
    const indices = indicesOf?.(node);
    if (node.id === self?.id) return [[node.id, nodeSections(api, node, wanted, indices ?? {})] as const];
    const isShown = (metric: string): boolean => metric === "indices";
    return indices === undefined ? [] : [[node.id, nodeSections(api, node, isShown, indices)] as const];
  });
  const successful = bodies.length;
  return json({
    _nodes: { total: found.length, successful, failed: found.length - successful },
    cluster_name: api.cluster.name,
    nodes: Object.fromEntries(bodies),
  });
}

/** Throws request_invalid for unknown metrics. */
function nodeMetrics(request: ApiRequest): (metric: string) => boolean {
  const asked = request.list("metric");
  if (asked === undefined || asked.includes("_all")) return () => true;
  const unknown = asked.find((metric) => !METRICS.includes(metric));
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, METRICS);
    const hint = nearest === undefined ? "" : ` -> did you mean [${nearest}]?`;
    throw new AppError(
      "request_invalid",
      `request [${request.uri.split("?", 1)[0]}] contains unrecognized metric: [${unknown}]${hint}`,
    );
  }
  return (metric) => asked.includes(metric);
}

/** `processors` is empty: processors aren't measured individually. */
function ingestSection(counts: ReadonlyMap<string, IngestCounts>): JsonObject {
  const printed = (all: readonly IngestCounts[]): JsonObject => {
    const sum = (of: (counts: IngestCounts) => number): number =>
      all.reduce((total, each) => total + of(each), 0);
    return {
      count: sum(({ count }) => count),
      time_in_millis: Math.round(sum(({ timeMs }) => timeMs)),
      current: sum(({ current }) => current),
      failed: sum(({ failed }) => failed),
    };
  };
  const pipelines = [...counts].map(([id, each]) => [id, { ...printed([each]), processors: [] }]);
  return {
    total: printed([...counts.values()]),
    pipelines: Object.fromEntries(pipelines) as JsonObject,
  };
}

function nodeSections(
  api: ApiContext,
  node: NodeInfo,
  wanted: (metric: string) => boolean,
  indices: JsonObject,
): JsonObject {
  const sections: Readonly<Record<string, () => JsonObject>> = {
    indices: () => indices,
    os: () => osStats(),
    process: () => processStats(),
    jvm: () => runtimeStats(),
    thread_pool: () => ({}),
    fs: () => diskSection(api),
    transport: () => transportSection(),
    http: () => ({ current_open: 0, total_opened: 0, ...(answersAs(800) && { clients: [], routes: {} }) }),
    breakers: () => ({}),
    script: () => ({ compilations: 0, cache_evictions: 0, compilation_limit_triggered: 0 }),
    discovery: () => discoverySection(),
    ...(answersAs(709) && { indexing_pressure: () => pressureSection(api) }),
    ingest: () => ingestSection(api.ingest?.counts() ?? new Map()),
  };
  return {
    timestamp: api.clock.now(),
    name: node.name,
    transport_address: node.transportAddress,
    host: node.host,
    ip: node.transportAddress,
    roles: printedRoles(),
    ...Object.fromEntries(
      Object.entries(sections)
        .filter(([metric]) => wanted(metric === "breakers" ? "breaker" : metric))
        .map(([metric, make]) => [metric, make()]),
    ),
  };
}

/** Statistics of copies, which are known of other nodes too; operations are counted by each node itself. */
const COPY_SECTIONS: ReadonlySet<string> = new Set(["docs", "store", "completion", "segments"]);

/** Returns a function that returns the statistics of a node's indices; undefined if those of another node aren't known. */
async function indexSections(
  api: ApiContext,
  request: ApiRequest,
): Promise<(node: NodeInfo) => JsonObject | undefined> {
  const level = request.query["level"] ?? "node";
  if (!["node", "indices", "shards"].includes(level)) {
    throw new AppError(
      "request_invalid",
      `level parameter must be one of [indices] or [node] or [shards] but was [${level}]`,
    );
  }
  const options = statsOptions(request, "index_metric");
  const open = api.indices.all().filter(({ state }) => state === "open");
  const sources = await statsSources(api, open);
  const [self] = api.cluster.nodes();
  return (node) => {
    const isSelf = node.id === self?.id;
    const wanted = (section: string): boolean =>
      options.wanted(section) && (isSelf || COPY_SECTIONS.has(section));
    const print = (source: StatsSource): JsonObject => printSections(source, { ...options, wanted });
    const each: { readonly name: string; readonly source: StatsSource }[] = [];
    for (const index of open) {
      const source = sources.get(index.uuid)!;
      const shards = statsOn(node, index, source.shards, api.cluster);
      if (shards === undefined) return undefined;
      if (isSelf || shards.length > 0) each.push({ name: index.name, source: { ...source, shards } });
    }
    const byName = each.map(({ name, source }) => [name, print(source)] as const);
    return {
      ...print(together(each.map(({ source }) => source))),
      ...(level !== "node" && { indices: Object.fromEntries(byName) }),
    };
  };
}

/** Nodes communicate through the journal and have no connections to each other. */
function transportSection(): JsonObject {
  const none = { rx_count: 0, rx_size_in_bytes: 0, tx_count: 0, tx_size_in_bytes: 0 };
  return { server_open: 0, ...(answersAs(710) && { total_outbound_connections: 0 }), ...none };
}

/** Bytes of documents that are being written. Copies read the journal by themselves, so replicas have none. */
function pressureSection({ pressure }: ApiContext): JsonObject {
  const bytes = (count: number): JsonObject => ({
    combined_coordinating_and_primary_in_bytes: count,
    coordinating_in_bytes: count,
    primary_in_bytes: count,
    replica_in_bytes: 0,
    all_in_bytes: count,
  });
  const rejections = { coordinating_rejections: 0, primary_rejections: 0, replica_rejections: 0 };
  return {
    memory: {
      current: bytes(pressure.currentBytes),
      total: { ...bytes(pressure.totalBytes), ...rejections },
      ...(answersAs(710) && { limit_in_bytes: MAX_BODIES_BYTES }),
    },
  };
}

/** Each node reads the cluster state from the journal by itself: nothing is queued or published. */
function discoverySection(): JsonObject {
  return {
    cluster_state_queue: { total: 0, pending: 0, committed: 0 },
    published_cluster_states: { full_states: 0, incompatible_diffs: 0, compatible_diffs: 0 },
  };
}

function diskSection({ clock, dataFolder }: ApiContext): JsonObject {
  const disk = diskUsage(dataFolder);
  return {
    timestamp: clock.now(),
    total: disk,
    data: [{ path: dataFolder, ...mountOf(dataFolder), ...disk }],
  };
}
