/** `_cat/nodes` and `_cat/master`. */

import { readdirSync, readFileSync } from "node:fs";
import { freemem, loadavg, totalmem } from "node:os";
import { diskFigures } from "#hub/api/stats/disk-usage.ts";
import { heapMemory } from "#proto/kit/process-memory.ts";
import type { CatTable } from "./table.ts";

export const nodesTable: CatTable = {
  name: "nodes",
  paths: ["/_cat/nodes"],
  params: ["full_id"],
  summary: "Nodes of the cluster.",
  columns: [
    { name: "id", aliases: ["id", "nodeId"], help: "unique node id", hidden: true },
    { name: "pid", aliases: ["p"], help: "process id", hidden: true },
    { name: "ip", aliases: ["i"], help: "ip address" },
    { name: "port", aliases: ["po"], help: "bound transport port", hidden: true },
    { name: "http_address", aliases: ["http"], help: "bound http address", hidden: true },
    {
      name: "file_desc.current",
      aliases: ["fdc", "fileDescriptorCurrent"],
      help: "used file descriptors",
      hidden: true,
      right: true,
    },
    {
      name: "file_desc.percent",
      aliases: ["fdp", "fileDescriptorPercent"],
      help: "used file descriptor ratio",
      hidden: true,
      right: true,
    },
    {
      name: "file_desc.max",
      aliases: ["fdm", "fileDescriptorMax"],
      help: "max file descriptors",
      hidden: true,
      right: true,
    },
    {
      name: "disk.total",
      aliases: ["dt", "diskTotal"],
      help: "total disk space",
      hidden: true,
      right: true,
    },
    { name: "disk.used", aliases: ["du", "diskUsed"], help: "used disk space", hidden: true, right: true },
    {
      name: "disk.avail",
      aliases: ["d", "disk", "diskAvail"],
      help: "available disk space",
      hidden: true,
      right: true,
    },
    {
      name: "disk.used_percent",
      aliases: ["dup", "diskUsedPercent"],
      help: "used disk space percentage",
      hidden: true,
      right: true,
    },
    { name: "heap.current", aliases: ["hc", "heapCurrent"], help: "used heap", hidden: true, right: true },
    { name: "heap.percent", aliases: ["hp", "heapPercent"], help: "used heap ratio", right: true },
    { name: "heap.max", aliases: ["hm", "heapMax"], help: "max configured heap", hidden: true, right: true },
    { name: "ram.percent", aliases: ["rp", "ramPercent"], help: "used machine memory ratio", right: true },
    { name: "cpu", help: "recent cpu usage", right: true },
    { name: "load_1m", aliases: ["l"], help: "1m load avg", right: true },
    { name: "load_5m", aliases: ["l"], help: "5m load avg", right: true },
    { name: "load_15m", aliases: ["l"], help: "15m load avg", right: true },
    {
      name: "node.role",
      aliases: ["r", "role", "nodeRole"],
      help: "m:master eligible node, d:data node, i:ingest node",
    },
    { name: "master", aliases: ["m"], help: "*:current master" },
    { name: "name", aliases: ["n"], help: "node name" },
  ],
  rows({ cluster, dataFolder }, request) {
    const heap = heapMemory();
    const [one = 0, five = 0, fifteen = 0] = loadavg();
    const disk = diskFigures(dataFolder);
    const usedBytes = disk.total_in_bytes - disk.free_in_bytes;
    const files = openFiles();
    const isFull = request.flag("full_id") ?? false;
    return cluster.nodes().map((node, at) => ({
      id: isFull ? node.id : node.id.slice(0, 4),
      pid: at === 0 ? process.pid : null,
      ip: node.host,
      port: node.transportAddress.slice(node.transportAddress.lastIndexOf(":") + 1),
      http_address: node.httpAddress,
      // Only of this node; another one's load is in its own metrics.
      ...(at === 0 && {
        "file_desc.current": files.current,
        "file_desc.percent": Math.max(0, Math.round((files.current / files.max) * 100)),
        "file_desc.max": files.max,
        "disk.total": { bytes: disk.total_in_bytes },
        "disk.used": { bytes: usedBytes },
        "disk.avail": { bytes: disk.available_in_bytes },
        "disk.used_percent": ((usedBytes / disk.total_in_bytes) * 100).toFixed(2),
        "heap.current": { bytes: heap.usedBytes },
        "heap.max": { bytes: heap.totalBytes },
      }),
      "heap.percent": at === 0 ? Math.round((heap.usedBytes / heap.totalBytes) * 100) : null,
      "ram.percent": at === 0 ? Math.round((1 - freemem() / totalmem()) * 100) : null,
      cpu: at === 0 ? Math.min(100, Math.round(one * 100)) : null,
      load_1m: at === 0 ? one.toFixed(2) : null,
      load_5m: at === 0 ? five.toFixed(2) : null,
      load_15m: at === 0 ? fifteen.toFixed(2) : null,
      "node.role": "mdi",
      master: node.master ? "*" : "-",
      name: node.name,
    }));
  },
};

/** Descriptors of the process; -1 where the system doesn't tell. */
function openFiles(): { readonly current: number; readonly max: number } {
  try {
    const [, max] = /Max open files\s+(\d+)/.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return { current: readdirSync("/proc/self/fd").length, max: Number(max ?? -1) };
  } catch {
    return { current: -1, max: -1 };
  }
}

export const masterTable: CatTable = {
  name: "master",
  paths: ["/_cat/master"],
  summary: "The node that decides.",
  columns: [
    { name: "id", help: "node id" },
    { name: "host", aliases: ["h"], help: "host name" },
    { name: "ip", help: "ip address " },
    { name: "node", aliases: ["n"], help: "node name" },
  ],
  rows: ({ cluster }) =>
    cluster
      .nodes()
      .filter(({ master }) => master)
      .map(({ id, host, name }) => ({ id, host, ip: host, node: name })),
};
