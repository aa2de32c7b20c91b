/** `_cat/nodes` and `_cat/master`. */

import { freemem, loadavg, totalmem } from "node:os";
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
    { name: "heap.percent", aliases: ["hp", "heapPercent"], help: "used heap ratio", right: true },
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
  rows({ cluster }, request) {
    const { heapUsed, heapTotal } = process.memoryUsage();
    const [one = 0, five = 0, fifteen = 0] = loadavg();
    const isFull = request.flag("full_id") ?? false;
    return cluster.nodes().map((node, at) => ({
      id: isFull ? node.id : node.id.slice(0, 4),
      pid: at === 0 ? process.pid : null,
      ip: node.host,
      port: node.transportAddress.slice(node.transportAddress.lastIndexOf(":") + 1),
      http_address: node.httpAddress,
      // Only of this node; another one's load is in its own metrics.
      "heap.percent": at === 0 ? Math.round((heapUsed / heapTotal) * 100) : null,
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
