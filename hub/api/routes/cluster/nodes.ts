/** The nodes of the cluster. */

import { builtInModules } from "#hub/api/compat/built-in-modules.ts";
import { BUILD, INDEX_VERSION } from "#hub/api/compat/version.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, MAX_BODY_BYTES, type Route } from "#hub/api/http/route.ts";
import { nestSettings } from "#hub/api/parameters/index-settings.ts";
import { meantNodes, printedRoles } from "#hub/api/parameters/meant-nodes.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import { aggregationKinds } from "#hub/search/aggregations/kinds.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

export function nodeRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_nodes", "/_nodes/{nodes}", "/_nodes/{nodes}/{metric}"],
      params: ["flat_settings", "timeout"],
      action: "monitor",
      summary: "Shows the nodes of the cluster.",
      handle: (request) => nodes(parts, request),
    },
    {
      methods: ["GET"],
      paths: [
        "/_nodes/usage",
        "/_nodes/usage/{metric}",
        "/_nodes/{nodes}/usage",
        "/_nodes/{nodes}/usage/{metric}",
      ],
      params: ["timeout"],
      action: "monitor",
      summary:
        "Shows how often each action of the search interface was used since the start of this hub; uses of aggregations aren't counted.",
      handle: (request) => usage(parts, request),
    },
    {
      methods: ["POST"],
      paths: ["/_nodes/reload_secure_settings", "/_nodes/{nodes}/reload_secure_settings"],
      params: ["timeout"],
      action: "administer",
      summary:
        "Does nothing: secrets are read from the keystore whenever they are needed. It has no password, so that one given is wrong.",
      handle: (request) => reloadSecrets(parts, request),
    },
  ];
}

/** Parts of a node's body that may be requested alone; those not in PRINTED_METRICS are empty. */
const METRICS: ReadonlySet<string> = new Set([
  "_all",
  "settings",
  "os",
  "process",
  "jvm",
  "thread_pool",
  "transport",
  "http",
  "plugins",
  "ingest",
  "indices",
  "aggregations",
]);
/** The parts that have content. */
const PRINTED_METRICS = ["settings", "transport", "http", "plugins", "ingest", "aggregations"] as const;

function nodes({ cluster, compatVersion, ingest }: ApiContext, request: ApiRequest): ApiResponse {
  const { expression, metrics } = askedOf(request);
  const found = meantNodes(cluster.nodes(), expression);
  const bodies = found.map((node) => {
    const body = nodeBody(node, cluster.name, compatVersion, request);
    body["plugins"] = [];
    body["ingest"] = { processors: (ingest?.processorTypes ?? []).map((type) => ({ type })) };
    if (answersAs(710)) body["aggregations"] = aggregationKinds();
    for (const metric of PRINTED_METRICS)
      if (metrics !== undefined && !metrics.includes(metric)) delete body[metric];
    // Modules belong to the part that plugins are.
    if (body["plugins"] !== undefined) body["modules"] = builtInModules(compatVersion);
    return [node.id, body];
  });
  return json({
    _nodes: { total: found.length, successful: found.length, failed: 0 },
    cluster_name: cluster.name,
    nodes: Object.fromEntries(bodies) as JsonObject,
  });
}

/** Returns the nodes and the parts that a path names: a segment that names only parts is not the name of a node. */
function askedOf({ path }: ApiRequest): { expression: string | undefined; metrics: string[] | undefined } {
  const parts = (text: string | undefined): string[] | undefined =>
    text?.split(",").map((part) => part.trim());
  const first = parts(path["nodes"]);
  const isMetrics = path["metric"] === undefined && first?.every((part) => METRICS.has(part)) === true;
  const metrics = isMetrics ? first : parts(path["metric"]);
  return {
    expression: isMetrics ? undefined : path["nodes"],
    metrics: metrics?.includes("_all") === true ? undefined : metrics,
  };
}

function usage({ cluster, clock, usage: counted }: ApiContext, request: ApiRequest): ApiResponse {
  const metrics = request.list("metric") ?? ["_all"];
  const isAll = metrics.includes("_all");
  if (isAll && metrics.length > 1) {
    const [path] = request.uri.split("?", 1);
    const text = `request [${path}] contains _all and individual metrics [${request.path["metric"]}]`;
    throw new AppError("request_invalid", text);
  }
  const [self] = cluster.nodes();
  // Another node counts for itself.
  const found = meantNodes(cluster.nodes(), request.path["nodes"]).filter(({ id }) => id === self?.id);
  const counts = {
    timestamp: clock.now(),
    since: counted.sinceMs,
    ...((isAll || metrics.includes("rest_actions")) && { rest_actions: counted.counts }),
    // Clients of these versions can't read a node without it.
    ...(isAll && answersAs(708) && { aggregations: {} }),
  };
  return json({
    _nodes: { total: found.length, successful: found.length, failed: 0 },
    cluster_name: cluster.name,
    nodes: Object.fromEntries(found.map(({ id }) => [id, counts])),
  });
}

function reloadSecrets({ cluster }: ApiContext, request: ApiRequest): ApiResponse {
  const found = meantNodes(cluster.nodes(), request.path["nodes"]);
  const password = request.object()["secure_settings_password"] ?? "";
  const fault = { type: "security_exception", reason: "Provided keystore password was incorrect" };
  return json({
    _nodes: { total: found.length, successful: found.length, failed: 0 },
    cluster_name: cluster.name,
    nodes: Object.fromEntries(
      found.map(({ id, name }) => [id, { name, ...(password !== "" && { reload_exception: fault }) }]),
    ),
  });
}

function nodeBody(node: NodeInfo, clusterName: string, version: string, request: ApiRequest): JsonObject {
  const isFlat = request.flag("flat_settings") ?? false;
  const settings = {
    ...(answersAs(800) && {
      "cluster.name": clusterName,
      "cluster.election.strategy": "supports_voting_only",
    }),
    "node.name": node.name,
    ...attributeSettings(node),
    ...(answersAs(800) && Object.keys(node.attributes).length === 0 && { "node.attr": {} }),
    "client.type": "node",
    "http.type.default": "netty4",
    "transport.type.default": "netty4",
  };
  return {
    name: node.name,
    transport_address: node.transportAddress,
    host: node.host,
    ip: node.host,
    version,
    build_flavor: "default",
    build_type: "tar",
    build_hash: BUILD.build_hash,
    roles: printedRoles(),
    attributes: node.attributes,
    ...(answersAs(800) && {
      component_versions: {},
      index_version: INDEX_VERSION,
      transport_version: INDEX_VERSION,
    }),
    settings: isFlat ? settings : nestSettings(settings),
    transport: {
      bound_address: [node.transportAddress],
      publish_address: node.transportAddress,
      profiles: {},
    },
    http: {
      bound_address: [node.httpAddress],
      publish_address: node.httpAddress,
      max_content_length_in_bytes: MAX_BODY_BYTES,
    },
  };
}

/** Returns the attributes of a node as its settings. */
export function attributeSettings(node: NodeInfo | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(node?.attributes ?? {}).map(([name, value]) => [`node.attr.${name}`, value]),
  );
}
