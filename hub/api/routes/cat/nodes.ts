/** `_cat/nodes`: the nodes with their load and the statistics of their shards. */

import { freemem, loadavg, totalmem } from "node:os";
import { BUILD } from "#hub/api/compat/version.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import { statsOn } from "#hub/api/stats/copy-stats.ts";
import { diskCells, fileDescriptors } from "#hub/api/stats/machine.ts";
import { type StatsSource, statsSources, together } from "#hub/api/stats/stats-source.ts";
import { heapMemory } from "#proto/kit/process/process-memory.ts";
import { statCells, statColumns } from "./stat-columns.ts";
import { type CatTable, column, HIDDEN, HIDDEN_RIGHT, namesColumn, RIGHT, type Row } from "./table.ts";

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
      // Only for this node; the load of another node is in that node's metrics.
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

/** Cells that no table shows unless they are named: a thread of shards that hangs doesn't hold up the others. */
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
