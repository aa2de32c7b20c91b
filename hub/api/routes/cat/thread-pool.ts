/**
 * `_cat/thread_pool`: the pools that clients know by name. Nothing here runs in pools of threads, so only what there is
 * a like of has figures: `generic` counts the tasks that run.
 */

import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { CatTable } from "./table.ts";

/** Pools with their kind, as 6.5 has them. */
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

export const threadPoolTable: CatTable = {
  name: "thread_pool",
  paths: ["/_cat/thread_pool", "/_cat/thread_pool/{thread_pool_patterns}"],
  params: ["size", "thread_pool_patterns"],
  summary: "Pools that work is done in.",
  columns: [
    { name: "node_name", aliases: ["nn"], help: "node name" },
    { name: "node_id", aliases: ["id"], help: "persistent node id", hidden: true },
    { name: "ephemeral_node_id", aliases: ["eid"], help: "ephemeral node id", hidden: true },
    { name: "pid", aliases: ["p"], help: "process id", hidden: true },
    { name: "host", aliases: ["h"], help: "host name", hidden: true },
    { name: "ip", aliases: ["i"], help: "ip address", hidden: true },
    { name: "port", aliases: ["po"], help: "bound transport port", hidden: true },
    { name: "name", aliases: ["n"], help: "thread pool name" },
    { name: "type", aliases: ["t"], help: "thread pool type", hidden: true },
    { name: "active", aliases: ["a"], help: "number of active threads", right: true },
    { name: "size", aliases: ["s"], help: "number of threads", right: true, hidden: true },
    { name: "queue", aliases: ["q"], help: "number of tasks currently in queue", right: true },
    {
      name: "queue_size",
      aliases: ["qs"],
      help: "maximum number of tasks permitted in queue",
      right: true,
      hidden: true,
    },
    { name: "rejected", aliases: ["r"], help: "number of rejected tasks", right: true },
    {
      name: "largest",
      aliases: ["l"],
      help: "highest number of seen active threads",
      right: true,
      hidden: true,
    },
    { name: "completed", aliases: ["c"], help: "number of completed tasks", right: true, hidden: true },
    {
      name: "min",
      aliases: ["mi"],
      help: "minimum number of threads",
      right: true,
      hidden: true,
      until: 700,
    },
    { name: "core", aliases: ["cr"], help: "core number of threads", right: true, hidden: true, from: 700 },
    { name: "max", aliases: ["ma"], help: "maximum number of threads", right: true, hidden: true },
    { name: "keep_alive", aliases: ["ka"], help: "thread keep alive time", right: true, hidden: true },
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
