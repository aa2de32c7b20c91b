/** `_cat/tasks`: changes by query, and the request that asks. */

import { LIST_ACTION } from "#hub/api/routes/cluster/tasks.ts";
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
  rows({ cluster, clock, tasks }) {
    const node = cluster.nodes()[0]!;
    const row = (id: number, action: string, startMs: number, runningMs: number, description: string) => ({
      id,
      action,
      task_id: `${node.id}:${id}`,
      parent_task_id: "-",
      type: "transport",
      start_time: startMs,
      timestamp: new Date(startMs).toISOString().slice(11, 19),
      running_time: { ms: runningMs },
      ip: node.host,
      node: node.name,
      description,
    });
    return [
      row(tasks.nextId(), LIST_ACTION, clock.now(), 0, ""),
      ...tasks
        .running()
        .map((task) => row(task.id, task.work.action, task.startMs, task.runningMs(), task.work.description)),
    ];
  },
};
