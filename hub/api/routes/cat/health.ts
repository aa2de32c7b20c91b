/** `_cat/health`. */

import { clusterHealth } from "#hub/api/stats/index-health.ts";
import { clockCells, clockColumns } from "./clock-columns.ts";
import type { CatTable } from "./table.ts";

export const healthTable: CatTable = {
  name: "health",
  paths: ["/_cat/health"],
  summary: "Health of the cluster in one line.",
  columns: [
    ...clockColumns,
    { name: "cluster", aliases: ["cl"], help: "cluster name" },
    { name: "status", aliases: ["st"], help: "health status" },
    { name: "node.total", aliases: ["nt", "nodeTotal"], help: "total number of nodes", right: true },
    {
      name: "node.data",
      aliases: ["nd", "nodeData"],
      help: "number of nodes that can store data",
      right: true,
    },
    {
      name: "shards",
      aliases: ["t", "sh", "shards.total", "shardsTotal"],
      help: "total number of shards",
      right: true,
    },
    {
      name: "pri",
      aliases: ["p", "shards.primary", "shardsPrimary"],
      help: "number of primary shards",
      right: true,
    },
    {
      name: "relo",
      aliases: ["r", "shards.relocating", "shardsRelocating"],
      help: "number of relocating nodes",
      right: true,
    },
    {
      name: "init",
      aliases: ["i", "shards.initializing", "shardsInitializing"],
      help: "number of initializing nodes",
      right: true,
    },
    {
      name: "unassign",
      aliases: ["u", "shards.unassigned", "shardsUnassigned"],
      help: "number of unassigned shards",
      right: true,
    },
    { name: "pending_tasks", aliases: ["pt", "pendingTasks"], help: "number of pending tasks", right: true },
    {
      name: "max_task_wait_time",
      aliases: ["mtwt", "maxTaskWaitTime"],
      help: "wait time of longest task pending",
      right: true,
    },
    {
      name: "active_shards_percent",
      aliases: ["asp", "activeShardsPercent"],
      help: "active number of shards in percent",
      right: true,
    },
  ],
  rows({ indices, cluster, clock }) {
    const { status, primaries, active, unassigned } = clusterHealth(
      indices.all().filter(({ state }) => state === "open"),
    );
    const total = active + unassigned;
    return [
      {
        ...clockCells(clock.now()),
        cluster: cluster.name,
        status,
        "node.total": cluster.nodes().length,
        "node.data": cluster.nodes().length,
        shards: active,
        pri: primaries,
        relo: 0,
        init: 0,
        unassign: unassigned,
        pending_tasks: 0,
        max_task_wait_time: "-",
        active_shards_percent: `${(total === 0 ? 100 : (active * 100) / total).toFixed(1)}%`,
      },
    ];
  },
};
