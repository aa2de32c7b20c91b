/** `_tasks` and `_remote/info`. The list holds changes by query and the listing request itself. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { maySeeTasksOf, printOutcome, printTask, type Task, taskHeaders } from "#hub/api/context/tasks.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { meantNodes, printedRoles } from "#hub/api/parameters/meant-nodes.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import { speedOf } from "#hub/api/routes/by-query/start-change.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Name of the action that lists tasks. */
export const LIST_ACTION = "cluster:monitor/tasks/lists";

/** Maximum time that a request waits for a task to end. */
const MAX_WAIT_MS = 30_000;

const LIST_PARAMS = [
  "nodes",
  "actions",
  "detailed",
  "parent_task_id",
  "wait_for_completion",
  "group_by",
  "timeout",
];

export function taskRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_tasks"],
      params: LIST_PARAMS,
      action: "monitor",
      summary: "Lists the running tasks.",
      handle: (request) => listTasks(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_tasks/{task_id}"],
      params: ["wait_for_completion", "timeout"],
      action: "monitor",
      summary: "Shows a task, and its answer when it has ended.",
      handle: (request) => getTask(parts, request),
    },
    {
      methods: ["POST"],
      paths: ["/_tasks/{task_id}/_cancel", "/_tasks/_cancel"],
      params: ["nodes", "actions", "parent_task_id", "group_by"],
      action: "ingest",
      summary: "Ends tasks before they are done.",
      handle: (request) => cancelTasks(parts, request),
    },
    {
      methods: ["POST"],
      paths: ["_reindex", "_update_by_query", "_delete_by_query"].map(
        (name) => `/${name}/{task_id}/_rethrottle`,
      ),
      params: ["requests_per_second", "group_by"],
      action: "ingest",
      summary: "Sets how many documents a second a running change by query takes.",
      handle: (request) => rethrottle(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_remote/info"],
      params: [],
      action: "monitor",
      summary: "Lists remote clusters, of which there are none.",
      handle: () => json({}),
    },
  ];
}

function listTasks(parts: ApiContext, request: ApiRequest): ApiResponse {
  const { cluster, clock, tasks } = parts;
  const [node] = meantNodes(cluster.nodes(), request.query["nodes"]);
  const detailed = request.flag("detailed") ?? false;
  const wanted = actionTest(request);
  const asking = {
    node: node?.id,
    id: tasks.nextId(),
    type: "transport",
    action: LIST_ACTION,
    start_time_in_millis: clock.now(),
    running_time_in_nanos: 0,
    cancellable: false,
    headers: taskHeaders(request),
  };
  const seen = tasks.running().filter((task) => maySeeTasksOf(request, task.work.owner));
  const running = seen.map((task) => printTask(task, node?.id ?? "", detailed));
  const listed: JsonObject[] = [asking, ...running].filter(({ action }) => wanted(String(action)));
  return grouped(listed, node, request);
}

function actionTest(request: ApiRequest): (action: string) => boolean {
  const patterns = (request.list("actions") ?? ["*"]).map((pattern) => compileWildcard(pattern));
  return (action) => patterns.some((pattern) => pattern.matches(action));
}

function grouped(
  listed: readonly JsonObject[],
  node: NodeInfo | undefined,
  request: ApiRequest,
): ApiResponse {
  const groupBy = request.query["group_by"] ?? "nodes";
  if (!["nodes", "parents", "none"].includes(groupBy))
    throw new AppError(
      "request_invalid",
      `group_by should be one of 'nodes', 'parents' or 'none', but is [${groupBy}]`,
    );
  if (groupBy === "none") return json({ tasks: node === undefined ? [] : listed });
  const tasks = Object.fromEntries(
    node === undefined ? [] : listed.map((task) => [`${node.id}:${String(task["id"])}`, task]),
  );
  if (groupBy === "parents") return json({ tasks });
  if (node === undefined || listed.length === 0) return json({ nodes: {} });
  const { id, name, host, transportAddress, attributes } = node;
  const roles = printedRoles();
  const body = { name, transport_address: transportAddress, host, ip: transportAddress, roles };
  return json({ nodes: { [id]: { ...body, ...(answersAs(714) && { attributes }), tasks } } });
}

async function getTask(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const given = request.segment("task_id");
  const stored =
    parts.tasks.get(taskNumber(parts, given)) === undefined ? await parts.taskResults?.get(given) : undefined;
  if (stored !== undefined && maySeeTasksOf(request, stored.owner)) {
    const { owner: _, ...result } = stored;
    return json(result);
  }
  const { task, node } = findTask(parts, request, given);
  if (request.flag("wait_for_completion") === true) {
    const timeoutMs = Math.min(MAX_WAIT_MS, request.duration("timeout") ?? MAX_WAIT_MS);
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, request.signal]);
    await Promise.race([task.ended, parts.clock.sleep(timeoutMs, signal)]);
    over.abort();
  }
  const outcome = printOutcome(task);
  const completed = Object.keys(outcome).length > 0;
  return json({ completed, task: printTask(task, node.id), ...outcome });
}

/**
 * Returns the number of a task of this node, NaN for a task of another node. Throws request_invalid for a malformed
 * task id.
 */
function taskNumber({ cluster }: ApiContext, given: string): number {
  const match = /^(.+):(\d{1,15})$/.exec(given);
  if (match === null) throw new AppError("request_invalid", `malformed task id ${given}`);
  return match[1] === cluster.nodes()[0]!.id ? Number(match[2]) : Number.NaN;
}

/** Throws request_invalid for a malformed task id, not_found. */
function findTask(parts: ApiContext, request: ApiRequest, given: string): { task: Task; node: NodeInfo } {
  const task = parts.tasks.get(taskNumber(parts, given));
  const { cluster } = parts;
  const node = cluster.nodes()[0]!;
  if (task !== undefined && maySeeTasksOf(request, task.work.owner)) return { task, node };
  const itsNode = given.slice(0, given.lastIndexOf(":"));
  const isElsewhere = !cluster.nodes().some(({ id }) => id === itsNode);
  const why = isElsewhere
    ? `belongs to the node [${itsNode}] which isn't part of the cluster and there is no record of the task`
    : "isn't running and hasn't stored its results";
  throw new AppError("not_found", `task [${given}] ${why}`, {
    data: { type: "resource_not_found_exception" },
  });
}

function rethrottle(parts: ApiContext, request: ApiRequest): ApiResponse {
  const speed = request.query["requests_per_second"];
  if (speed === undefined)
    throw new AppError("request_invalid", "requests_per_second is a required parameter");
  const perSecond = speedOf(speed);
  const { task, node } = findTask(parts, request, request.segment("task_id"));
  task.work.rethrottle?.(perSecond);
  return grouped([printTask(task, node.id)], node, request);
}

function cancelTasks(parts: ApiContext, request: ApiRequest): ApiResponse {
  const { tasks, cluster } = parts;
  const given = request.path["task_id"];
  const wanted = actionTest(request);
  const meant =
    given === undefined
      ? tasks.running().filter((task) => maySeeTasksOf(request, task.work.owner))
      : [findTask(parts, request, given).task];
  const [node] = meantNodes(cluster.nodes(), request.query["nodes"]);
  const cancelled = meant.filter(
    (task) => node !== undefined && wanted(task.work.action) && tasks.cancel(task.id),
  );
  return grouped(
    cancelled.map((task) => printTask(task, node?.id ?? "")),
    node,
    request,
  );
}
