/** Tables of `_cat` of what nodes do: tasks, pending changes, thread pools. */

import { maySeeTasksOf, taskHeaders } from "#hub/api/context/tasks.ts";
import { LIST_ACTION } from "#hub/api/routes/cluster/tasks.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { type CatTable, column, HIDDEN, HIDDEN_RIGHT, RIGHT } from "./table.ts";

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
