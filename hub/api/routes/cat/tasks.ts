/** `_cat/tasks`: the request that asks. */

import { LIST_ACTION } from "#hub/api/routes/tasks.ts";
import type { CatTable } from "./table.ts";

export const tasksTable: CatTable = {
  name: "tasks",
  paths: ["/_cat/tasks"],
  params: ["detailed", "nodes", "actions", "parent_task_id", "node_id", "parent_task"],
  summary: "What the nodes are doing.",
  columns: [
    { name: "id", help: "id of the task with the node", hidden: true },
    { name: "action", aliases: ["ac"], help: "task action" },
    { name: "task_id", aliases: ["ti"], help: "unique task id" },
    { name: "parent_task_id", aliases: ["pti"], help: "parent task id" },
    { name: "type", aliases: ["ty"], help: "task type" },
    { name: "start_time", aliases: ["start"], help: "start time in ms" },
    { name: "timestamp", aliases: ["ts", "hms", "hhmmss"], help: "start time in HH:MM:SS" },
    { name: "running_time", aliases: ["time"], help: "running time" },
    { name: "ip", aliases: ["i"], help: "ip address" },
    { name: "node", aliases: ["n"], help: "node name" },
    { name: "description", aliases: ["desc"], help: "task action description", shownBy: "detailed" },
  ],
  rows({ cluster, clock }) {
    const node = cluster.nodes()[0]!;
    const nowMs = clock.now();
    return [
      {
        id: 1,
        action: LIST_ACTION,
        task_id: `${node.id}:1`,
        parent_task_id: "-",
        type: "transport",
        start_time: nowMs,
        timestamp: new Date(nowMs).toISOString().slice(11, 19),
        running_time: { ms: 0 },
        ip: node.host,
        node: node.name,
        description: "",
      },
    ];
  },
};
