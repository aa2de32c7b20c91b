/** `_tasks` and `_remote/info`: the list holds the request that asks; others end when their client goes away. */

import type { JsonObject } from "#hub/search/json.ts";
import { compileWildcard } from "#hub/search/regexp/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { ApiParts } from "../parts.ts";
import type { ApiRequest } from "../request.ts";
import { type ApiResponse, json, type Route } from "../route.ts";
import { meantNodes } from "./nodes.ts";

/** Name of the action that lists tasks. */
export const LIST_ACTION = "cluster:monitor/tasks/lists";

export function taskRoutes(parts: ApiParts): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_tasks"],
      params: [
        "nodes",
        "actions",
        "detailed",
        "parent_task_id",
        "wait_for_completion",
        "group_by",
        "timeout",
      ],
      action: "monitor",
      summary: "Lists what the nodes are doing.",
      handle: (request) => listTasks(parts, request),
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

function listTasks({ cluster, clock }: ApiParts, request: ApiRequest): ApiResponse {
  const groupBy = request.query["group_by"] ?? "nodes";
  if (!["nodes", "parents", "none"].includes(groupBy))
    throw new AppError(
      "request_invalid",
      `group_by should be one of 'nodes', 'parents' or 'none', but is [${groupBy}]`,
    );
  const [node] = meantNodes(cluster.nodes(), request.query["nodes"]);
  const patterns = (request.list("actions") ?? ["*"]).map((pattern) => compileWildcard(pattern));
  const isWanted = patterns.some((pattern) => pattern.matches(LIST_ACTION));
  const task = {
    node: node?.id,
    id: 1,
    type: "transport",
    action: LIST_ACTION,
    start_time_in_millis: clock.now(),
    running_time_in_nanos: 0,
    cancellable: false,
    headers: {},
  };
  const tasks: JsonObject = node !== undefined && isWanted ? { [`${node.id}:1`]: task } : {};
  if (groupBy === "none") return json({ tasks: Object.values(tasks) });
  if (groupBy === "parents") return json({ tasks });
  if (node === undefined) return json({ nodes: {} });
  const { id, name, host, transportAddress } = node;
  const roles = ["master", "data", "ingest"];
  return json({
    nodes: { [id]: { name, transport_address: transportAddress, host, ip: transportAddress, roles, tasks } },
  });
}
