/** Tables of `_cat` with rows for nodes, and for the tasks, queues and pools of nodes. */

import { freemem, loadavg, totalmem } from "node:os";
import { BUILD } from "#hub/api/compat/version.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { maySeeTasksOf, taskHeaders } from "#hub/api/context/tasks.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { meantNodes } from "#hub/api/parameters/meant-nodes.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { LIST_ACTION } from "#hub/api/routes/cluster/tasks.ts";
import { statsOn } from "#hub/api/stats/copy-stats.ts";
import { clusterHealth, type HealthSource, indexCopies } from "#hub/api/stats/index-health.ts";
import { diskCells, fileDescriptors } from "#hub/api/stats/machine.ts";
import { type StatsSource, statsSources, together } from "#hub/api/stats/statistics.ts";
import type { HostedShardStats } from "#hub/cluster/hosting/hosted-index.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { heapMemory } from "#proto/kit/process/process-memory.ts";
import { statCells, statColumns } from "./stat-columns.ts";
import {
  type CatTable,
  type Cell,
  column,
  HIDDEN,
  HIDDEN_RIGHT,
  namesColumn,
  RIGHT,
  type Row,
} from "./table.ts";

const STATISTICS = statColumns(["warmer", "memory"]);

export const nodesTable: CatTable = {
  paths: ["/_cat/nodes"],
  params: ["full_id"],
  summary: "Lists the nodes of the cluster.",
  columns: [
    column("id", "id,nodeId", "unique node id", HIDDEN),
    column("pid", "p", "process id", HIDDEN),
    column("ip", "i", "ip address"),
    column("port", "po", "bound transport port", HIDDEN),
    column("http_address", "http", "bound http address", HIDDEN),
    column("version", "v", "es version", HIDDEN),
    column("flavor", "f", "es distribution flavor", HIDDEN),
    column("type", "t", "es distribution type", HIDDEN),
    column("build", "b", "es build hash", HIDDEN),
    column("file_desc.current", "fdc,fileDescriptorCurrent", "used file descriptors", HIDDEN_RIGHT),
    column("file_desc.percent", "fdp,fileDescriptorPercent", "used file descriptor ratio", HIDDEN_RIGHT),
    column("file_desc.max", "fdm,fileDescriptorMax", "max file descriptors", HIDDEN_RIGHT),
    column("disk.total", "dt,diskTotal", "total disk space", HIDDEN_RIGHT),
    column("disk.used", "du,diskUsed", "used disk space", HIDDEN_RIGHT),
    column("disk.avail", "d,disk,diskAvail", "available disk space", HIDDEN_RIGHT),
    column("disk.used_percent", "dup,diskUsedPercent", "used disk space percentage", HIDDEN_RIGHT),
    column("heap.current", "hc,heapCurrent", "used heap", HIDDEN_RIGHT),
    column("heap.percent", "hp,heapPercent", "used heap ratio", RIGHT),
    column("heap.max", "hm,heapMax", "max configured heap", HIDDEN_RIGHT),
    column("ram.percent", "rp,ramPercent", "used machine memory ratio", RIGHT),
    column("cpu", "", "recent cpu usage", RIGHT),
    column("uptime", "u", "node uptime", HIDDEN_RIGHT),
    column("load_1m", "l", "1m load avg", RIGHT),
    column("load_5m", "l", "5m load avg", RIGHT),
    column("load_15m", "l", "15m load avg", RIGHT),
    column("node.role", "r,role,nodeRole", "m:master eligible node, d:data node, i:ingest node"),
    column("master", "m", "*:current master"),
    column("name", "n", "node name"),
    ...STATISTICS,
  ],
  async rows(api, request) {
    const isFull = request.flag("full_id") ?? false;
    const statistics = await statisticsOf(api, request);
    return api.cluster.nodes().map((node, at) => ({
      id: isFull ? node.id : node.id.slice(0, 4),
      ip: node.host,
      port: node.transportAddress.slice(node.transportAddress.lastIndexOf(":") + 1),
      http_address: node.httpAddress,
      // Only of this node, which is the first; the load of another one is in its metrics.
      ...(at === 0 && ownLoad(api)),
      ...statistics(node),
      version: api.compatVersion,
      flavor: BUILD.build_flavor,
      type: BUILD.build_type,
      build: BUILD.build_hash,
      "node.role": "mdi",
      master: node.master ? "*" : "-",
      name: node.name,
    }));
  },
};

/** Returns what makes the cells of STATISTICS. Only a request that names one of them waits for all hosts of shards. */
async function statisticsOf(api: ApiContext, request: ApiRequest): Promise<(node: NodeInfo) => Row> {
  if (!namesColumn(request, STATISTICS)) return () => ({});
  const open = api.indices.all().filter(({ state }) => state === "open");
  const sources = await statsSources(api, open);
  const [self] = api.cluster.nodes();
  return (node) => {
    const held: StatsSource[] = [];
    for (const index of open) {
      const source = sources.get(index.uuid)!;
      const shards = statsOn(node, index, source.shards, api.cluster);
      if (shards === undefined) return {};
      held.push({ ...source, shards });
    }
    const cells = Object.entries(statCells(together(held)));
    // Operations and memory are counted by each node itself.
    const known = cells.filter(([name]) => node.id === self?.id || /^(completion|segments)\./.test(name));
    return Object.fromEntries(known);
  };
}

function ownLoad({ dataFolder }: ApiContext): Row {
  const heap = heapMemory();
  const [one = 0, five = 0, fifteen = 0] = loadavg();
  const { usedShare, ...disk } = diskCells(dataFolder);
  const files = fileDescriptors();
  return {
    pid: process.pid,
    "file_desc.current": files.current,
    "file_desc.percent": Math.max(0, Math.round((files.current / files.max) * 100)),
    "file_desc.max": files.max,
    ...disk,
    "disk.used_percent": (usedShare * 100).toFixed(2),
    "heap.current": { bytes: heap.usedBytes },
    "heap.max": { bytes: heap.totalBytes },
    "heap.percent": Math.round((heap.usedBytes / heap.totalBytes) * 100),
    "ram.percent": Math.round((1 - freemem() / totalmem()) * 100),
    uptime: { ms: Math.round(process.uptime() * 1_000) },
    cpu: Math.min(100, Math.round(one * 100)),
    load_1m: one.toFixed(2),
    load_5m: five.toFixed(2),
    load_15m: fifteen.toFixed(2),
  };
}

export const masterTable: CatTable = {
  paths: ["/_cat/master", "/_cat/cluster_manager"],
  summary: "Shows the master node.",
  columns: [
    column("id", "", "node id"),
    column("host", "h", "host name"),
    column("ip", "", "ip address "),
    column("node", "n", "node name"),
  ],
  rows: ({ cluster }) =>
    cluster
      .nodes()
      .filter(({ master }) => master)
      .map(({ id, host, name }) => ({ id, host, ip: host, node: name })),
};

export const nodeAttributesTable: CatTable = {
  paths: ["/_cat/nodeattrs"],
  summary: "Lists the attributes of each node: its settings node.attr.<name>.",
  columns: [
    column("node", "name", "node name"),
    column("id", "nodeId", "unique node id", HIDDEN),
    column("pid", "p", "process id", HIDDEN),
    column("host", "h", "host name"),
    column("ip", "i", "ip address"),
    column("port", "po", "bound transport port", HIDDEN),
    column("attr", "attr.name", "attribute description"),
    column("value", "attr.value", "attribute value"),
  ],
  rows: ({ cluster }) =>
    cluster.nodes().flatMap((node, at) =>
      Object.entries(node.attributes).map(([attr, value]) => ({
        node: node.name,
        id: node.id,
        pid: at === 0 ? process.pid : null, // this node is the first
        host: node.host,
        ip: node.host,
        port: node.transportAddress.split(":").at(-1),
        attr,
        value,
      })),
    ),
};

export const allocationTable: CatTable = {
  paths: ["/_cat/allocation", "/_cat/allocation/{nodes}"],
  summary: "Shows shards and disk space by node.",
  columns: [
    column("shards", "s", "number of shards on node", RIGHT),
    column("disk.indices", "di,diskIndices", "disk used by the indices", RIGHT),
    column("disk.used", "du,diskUsed", "disk used, not just by indices", RIGHT),
    column("disk.avail", "da,diskAvail", "disk available", RIGHT),
    column("disk.total", "dt,diskTotal", "total capacity", RIGHT),
    column("disk.percent", "dp,diskPercent", "percent disk used", RIGHT),
    column("host", "h", "host of node"),
    column("ip", "", "ip of node"),
    column("node", "n", "name of node"),
  ],
  async rows(api, request) {
    const { cluster, indices, dataFolder } = api;
    const [self] = cluster.nodes();
    const open = indices.all().filter(({ state }) => state === "open");
    const stats = await api.shards.stats(open);
    const { usedShare, ...disk } = diskCells(dataFolder);
    const rows = meantNodes(cluster.nodes(), request.path["nodes"]).map(
      (node): Row => ({
        shards: shardsOn(node, open, cluster),
        "disk.indices": bytesOn(node, open, stats, cluster),
        // Only for this node; another node reports its own disk.
        ...(node.id === self?.id && { ...disk, "disk.percent": Math.round(usedShare * 100) }),
        host: node.host,
        ip: node.host,
        node: node.name,
      }),
    );
    const { unassigned } = clusterHealth(open, cluster);
    const isAll = request.path["nodes"] === undefined || request.path["nodes"] === "*";
    return unassigned > 0 && isAll ? [...rows, { shards: unassigned, node: "UNASSIGNED" }] : rows;
  },
};

/** Returns the number of copies that a node has, and of those that it receives without another node giving one up. */
function shardsOn({ id }: NodeInfo, open: readonly IndexInfo[], source: HealthSource): number {
  const copies = open.flatMap((index) => indexCopies(index, source));
  const nodes = copies.flatMap(({ started, initializing }) => [...started, ...initializing]);
  return nodes.filter((node) => node.id === id).length;
}

/** Returns the size of the copies that a node has; undefined if it isn't known. */
function bytesOn(
  node: NodeInfo,
  open: readonly IndexInfo[],
  stats: ReadonlyMap<string, readonly HostedShardStats[]>,
  source: HealthSource,
): Cell {
  let bytes = 0;
  for (const index of open) {
    const held = statsOn(node, index, stats.get(index.uuid) ?? [], source);
    if (held === undefined) return undefined;
    for (const copy of held) bytes += copy.bytes;
  }
  return { bytes };
}

/** A task with the values of its row. */
interface ListedTask {
  readonly id: number;
  readonly action: string;
  readonly startMs: number;
  readonly runningMs: number;
  readonly description: string;
  readonly headers: JsonObject;
}

export const tasksTable: CatTable = {
  paths: ["/_cat/tasks"],
  params: ["detailed", "nodes", "actions", "parent_task_id", "node_id", "parent_task"],
  summary: "Lists the running tasks and this request.",
  columns: [
    column("id", "", "id of the task with the node", HIDDEN),
    column("action", "ac", "task action"),
    column("task_id", "ti", "unique task id"),
    column("parent_task_id", "pti", "parent task id"),
    column("type", "ty", "task type"),
    column("start_time", "start", "start time in ms"),
    column("timestamp", "ts,hms,hhmmss", "start time in HH:MM:SS"),
    column("running_time", "time", "running time"),
    column("ip", "i", "ip address"),
    column("node", "n", "node name"),
    column("description", "desc", "task action description", { shownBy: "detailed" }),
    column("x_opaque_id", "x", "X-Opaque-ID header", { shownBy: "detailed", from: 710 }),
  ],
  rows({ cluster, clock, tasks }, request) {
    const node = cluster.nodes()[0]!;
    const row = (task: ListedTask) => ({
      id: task.id,
      action: task.action,
      task_id: `${node.id}:${task.id}`,
      parent_task_id: "-",
      type: "transport",
      start_time: task.startMs,
      timestamp: new Date(task.startMs).toISOString().slice(11, 19),
      running_time: { ms: task.runningMs },
      ip: node.host,
      node: node.name,
      description: task.description,
      x_opaque_id: opaqueId(task.headers),
    });
    return [
      row({
        id: tasks.nextId(),
        action: LIST_ACTION,
        startMs: clock.now(),
        runningMs: 0,
        description: "",
        headers: taskHeaders(request),
      }),
      ...tasks
        .running()
        .filter((task) => maySeeTasksOf(request, task.work.owner))
        .map((task) => {
          const { action, description, headers = {} } = task.work;
          const { id, startMs } = task;
          return row({ id, action, startMs, runningMs: task.runningMs(), description, headers });
        }),
    ];
  },
};

function opaqueId({ "X-Opaque-Id": id }: JsonObject): string {
  return typeof id === "string" ? id : "-";
}

/** Changes of the cluster state are applied immediately: none is ever pending. */
export const pendingTasksTable: CatTable = {
  paths: ["/_cat/pending_tasks"],
  summary: "Lists changes of the cluster's state that wait, of which there are none.",
  columns: [
    column("insertOrder", "o", "task insertion order", RIGHT),
    column("timeInQueue", "t", "how long task has been in queue", RIGHT),
    column("priority", "p", "task priority"),
    column("source", "s", "task source"),
  ],
  rows: () => [],
};

export const pluginsTable: CatTable = {
  paths: ["/_cat/plugins"],
  summary: "Lists plugins of nodes, of which there are none: everything is built in.",
  columns: [
    column("id", "", "unique node id", HIDDEN),
    column("name", "n", "node name"),
    column("component", "c", "component"),
    column("version", "v", "component version"),
    column("description", "d", "plugin details", HIDDEN),
  ],
  rows: () => [],
};

/** Thread pools of 6.5 with their types. */
const POOLS: readonly (readonly [name: string, type: "fixed" | "scaling" | "fixed_auto_queue_size"])[] = [
  ["analyze", "fixed"],
  ["fetch_shard_started", "scaling"],
  ["fetch_shard_store", "scaling"],
  ["flush", "scaling"],
  ["force_merge", "fixed"],
  ["generic", "scaling"],
  ["get", "fixed"],
  ["index", "fixed"],
  ["listener", "fixed"],
  ["management", "scaling"],
  ["refresh", "scaling"],
  ["search", "fixed_auto_queue_size"],
  ["search_throttled", "fixed_auto_queue_size"],
  ["snapshot", "scaling"],
  ["warmer", "scaling"],
  ["write", "fixed"],
];

/** Tailrace has no thread pools for requests: `generic` counts the running tasks, the others have no statistics. */
export const threadPoolTable: CatTable = {
  paths: ["/_cat/thread_pool", "/_cat/thread_pool/{thread_pool_patterns}"],
  params: ["size", "thread_pool_patterns"],
  summary: "Lists the thread pools that clients know by name.",
  columns: [
    column("node_name", "nn", "node name"),
    column("node_id", "id", "persistent node id", HIDDEN),
    column("ephemeral_node_id", "eid", "ephemeral node id", HIDDEN),
    column("pid", "p", "process id", HIDDEN),
    column("host", "h", "host name", HIDDEN),
    column("ip", "i", "ip address", HIDDEN),
    column("port", "po", "bound transport port", HIDDEN),
    column("name", "n", "thread pool name"),
    column("type", "t", "thread pool type", HIDDEN),
    column("active", "a", "number of active threads", RIGHT),
    column("pool_size", "psz", "number of threads", { hidden: true, right: true, from: 700 }),
    column("size", "s", "number of threads", HIDDEN_RIGHT),
    column("queue", "q", "number of tasks currently in queue", RIGHT),
    column("queue_size", "qs", "maximum number of tasks permitted in queue", HIDDEN_RIGHT),
    column("rejected", "r", "number of rejected tasks", RIGHT),
    column("largest", "l", "highest number of seen active threads", HIDDEN_RIGHT),
    column("completed", "c", "number of completed tasks", HIDDEN_RIGHT),
    column("min", "mi", "minimum number of threads", { hidden: true, right: true, until: 700 }),
    column("core", "cr", "core number of threads", { hidden: true, right: true, from: 700 }),
    column("max", "ma", "maximum number of threads", HIDDEN_RIGHT),
    column("keep_alive", "ka", "thread keep alive time", HIDDEN_RIGHT),
  ],
  rows({ cluster, tasks }, request) {
    const node = cluster.nodes()[0]!;
    const patterns = (request.list("thread_pool_patterns") ?? ["*"]).map((pattern) =>
      compileWildcard(pattern),
    );
    return POOLS.filter(([name]) => patterns.some((pattern) => pattern.matches(name))).map(
      ([name, type]) => ({
        node_name: node.name,
        node_id: node.id,
        ephemeral_node_id: node.id,
        pid: process.pid,
        host: node.host,
        ip: node.host,
        port: node.transportAddress.split(":").at(-1) ?? "-",
        name,
        type,
        active: name === "management" ? 1 : name === "generic" ? tasks.running().length : 0,
        pool_size: 1,
        size: 1,
        queue: 0,
        queue_size: -1,
        rejected: 0,
        largest: 1,
        completed: 0,
        min: 1,
        core: 1,
        max: 1,
        keep_alive: "-",
      }),
    );
  },
};
