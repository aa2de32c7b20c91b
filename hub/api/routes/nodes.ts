/** The nodes of the cluster. */

import type { JsonObject } from "#hub/search/json.ts";
import { compileWildcard } from "#hub/search/regexp/wildcard.ts";
import { nestSettings } from "../index-settings.ts";
import type { ApiParts } from "../parts.ts";
import type { NodeInfo } from "../ports.ts";
import type { ApiRequest } from "../request.ts";
import { MAX_BODY_BYTES } from "../request-body.ts";
import { type ApiResponse, json, type Route } from "../route.ts";

export function nodeRoutes(parts: ApiParts): Route[] {
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
      methods: ["POST"],
      paths: ["/_nodes/reload_secure_settings", "/_nodes/{nodes}/reload_secure_settings"],
      params: ["timeout"],
      action: "administer",
      summary: "Answers for the nodes; secrets are read from the keystore each time that they are needed.",
      handle: (request) => reloadSecrets(parts, request),
    },
  ];
}

function nodes({ cluster, compatVersion }: ApiParts, request: ApiRequest): ApiResponse {
  const all = cluster.nodes();
  const bodies = all.map((node) => [node.id, nodeBody(node, compatVersion, request)]);
  return json({
    _nodes: { total: all.length, successful: all.length, failed: 0 },
    cluster_name: cluster.name,
    nodes: Object.fromEntries(bodies) as JsonObject,
  });
}

function reloadSecrets({ cluster }: ApiParts, request: ApiRequest): ApiResponse {
  const found = meantNodes(cluster.nodes(), request.path["nodes"]);
  return json({
    _nodes: { total: found.length, successful: found.length, failed: 0 },
    cluster_name: cluster.name,
    nodes: Object.fromEntries(found.map(({ id, name }) => [id, { name }])),
  });
}

function nodeBody(node: NodeInfo, version: string, request: ApiRequest): JsonObject {
  const isFlat = request.flag("flat_settings") ?? false;
  const settings = {
    "node.name": node.name,
    ...attributeSettings(node),
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
    build_hash: "d2ef93d",
    roles: ["master", "data", "ingest"],
    attributes: node.attributes,
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

/** Nodes that an expression means: ids, names, addresses with wildcards, _local, _master, _all. All without one. */
export function meantNodes(nodes: readonly NodeInfo[], expression: string | undefined): readonly NodeInfo[] {
  const parts = expression?.split(",").filter((part) => part !== "") ?? [];
  if (parts.length === 0 || parts.includes("_all")) return nodes;
  return nodes.filter((node, at) =>
    parts.some((part) => {
      if (part === "_local") return at === 0;
      if (part === "_master") return node.master;
      const pattern = compileWildcard(part);
      return [node.id, node.name, node.host, node.transportAddress].some((name) => pattern.matches(name));
    }),
  );
}
