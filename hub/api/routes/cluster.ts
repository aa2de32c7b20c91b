/** The cluster: health, state, settings, nodes. */

import { setTimeout } from "node:timers/promises";
import type { JsonObject } from "#hub/search/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import { clusterHealth, type Health, indexHealth } from "../index-health.ts";
import { flatSettings, flattenSettings, nestSettings } from "../index-settings.ts";
import { printMapping } from "../index-type.ts";
import type { ApiParts } from "../parts.ts";
import type { IndexInfo, NodeInfo } from "../ports.ts";
import type { ApiRequest } from "../request.ts";
import { MAX_BODY_BYTES } from "../request-body.ts";
import { RESOLVE_PARAMS, resolveOptions } from "../resolve-options.ts";
import { type ApiResponse, json, type Route } from "../route.ts";
import { isTrue } from "../scalars.ts";

const DEFAULT_HEALTH_TIMEOUT_MS = 30_000;
const HEALTH_POLL_MS = 100;
const HEALTH_ORDER: readonly Health[] = ["red", "yellow", "green"];

export function clusterRoutes(parts: ApiParts): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_cluster/health", "/_cluster/health/{index}"],
      params: [
        ...RESOLVE_PARAMS,
        "level",
        "local",
        "master_timeout",
        "timeout",
        "wait_for_active_shards",
        "wait_for_events",
        "wait_for_no_relocating_shards",
        "wait_for_no_initializing_shards",
        "wait_for_nodes",
        "wait_for_status",
      ],
      action: "monitor",
      summary: "Says how well the cluster and its indices are off.",
      handle: (request) => health(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_cluster/state", "/_cluster/state/{metric}", "/_cluster/state/{metric}/{index}"],
      params: [...RESOLVE_PARAMS, "local", "master_timeout", "flat_settings"],
      action: "monitor",
      summary: "Shows what the cluster knows of its nodes and indices.",
      handle: (request) => state(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_cluster/settings"],
      params: ["flat_settings", "master_timeout", "timeout", "include_defaults"],
      action: "monitor",
      summary: "Shows the settings of the cluster.",
      handle: (request) => getSettings(parts, request),
    },
    {
      methods: ["PUT"],
      paths: ["/_cluster/settings"],
      params: ["flat_settings", "master_timeout", "timeout"],
      action: "administer",
      summary: "Changes the settings of the cluster.",
      handle: (request) => putSettings(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_cluster/pending_tasks"],
      params: ["local", "master_timeout"],
      action: "monitor",
      summary: "Shows changes of metadata that wait; none do.",
      handle: () => json({ tasks: [] }),
    },
    {
      methods: ["GET"],
      paths: ["/_nodes", "/_nodes/{nodes}", "/_nodes/{nodes}/{metric}"],
      params: ["flat_settings", "timeout"],
      action: "monitor",
      summary: "Shows the nodes of the cluster.",
      handle: (request) => nodes(parts, request),
    },
  ];
}

async function health(parts: ApiParts, request: ApiRequest): Promise<ApiResponse> {
  const deadlineMs = parts.clock.monotonic() + (request.duration("timeout") ?? DEFAULT_HEALTH_TIMEOUT_MS);
  for (;;) {
    const found = healthTargets(parts, request);
    const reached = found !== undefined && isHealthy(parts, request, found);
    if (reached || parts.clock.monotonic() >= deadlineMs || request.signal.aborted) {
      return json(healthBody(parts, request, found ?? [], !reached), reached ? 200 : 408);
    }
    await setTimeout(HEALTH_POLL_MS, undefined, { signal: request.signal }).catch(() => undefined);
  }
}

/** Undefined where an index isn't there, or not yet. */
function healthTargets({ indices }: ApiParts, request: ApiRequest): IndexInfo[] | undefined {
  try {
    return indices.resolve(request.path["index"], resolveOptions(request, { expandWildcards: "open" }));
  } catch (error) {
    if (error instanceof AppError && error.code === "index_missing") return undefined;
    throw error;
  }
}

function isHealthy({ cluster }: ApiParts, request: ApiRequest, found: readonly IndexInfo[]): boolean {
  const { status, active, unassigned } = clusterHealth(found);
  const wanted = request.query["wait_for_status"]?.toLowerCase();
  if (wanted !== undefined && !HEALTH_ORDER.includes(wanted as Health))
    throw new AppError("request_invalid", `unknown cluster health status [${wanted}]`);
  if (wanted !== undefined && HEALTH_ORDER.indexOf(status) < HEALTH_ORDER.indexOf(wanted as Health))
    return false;
  const shards = request.query["wait_for_active_shards"];
  if (shards === "all" && unassigned > 0) return false;
  if (shards !== undefined && /^\d+$/.test(shards) && active < Number(shards)) return false;
  return fitsCount(request.query["wait_for_nodes"], cluster.nodes().length);
}

/** `3`, `>=3`, `ge(3)` … */
function fitsCount(wanted: string | undefined, count: number): boolean {
  if (wanted === undefined) return true;
  const [, sign = "", digits = ""] = /^(>=|<=|>|<|ge|le|gt|lt)?\(?(\d+)\)?$/.exec(wanted) ?? [];
  if (digits === "")
    throw new AppError(
      "request_invalid",
      `wait_for_nodes [${wanted}] is no number, with or without >=, <=, > or <`,
    );
  const number = Number(digits);
  if (sign === ">=" || sign === "ge") return count >= number;
  if (sign === "<=" || sign === "le") return count <= number;
  if (sign === ">" || sign === "gt") return count > number;
  return sign === "<" || sign === "lt" ? count < number : count === number;
}

function healthBody(
  parts: ApiParts,
  request: ApiRequest,
  found: readonly IndexInfo[],
  timedOut: boolean,
): JsonObject {
  const { cluster } = parts;
  const sum = clusterHealth(found);
  const total = sum.active + sum.unassigned;
  const level = request.query["level"];
  return {
    cluster_name: cluster.name,
    status: timedOut && found.length === 0 && request.path["index"] !== undefined ? "red" : sum.status,
    timed_out: timedOut,
    number_of_nodes: cluster.nodes().length,
    number_of_data_nodes: cluster.nodes().length,
    active_primary_shards: sum.primaries,
    active_shards: sum.active,
    relocating_shards: 0,
    initializing_shards: 0,
    unassigned_shards: sum.unassigned,
    delayed_unassigned_shards: 0,
    number_of_pending_tasks: 0,
    number_of_in_flight_fetch: 0,
    task_max_waiting_in_queue_millis: 0,
    active_shards_percent_as_number: total === 0 ? 100 : (sum.active * 100) / total,
    ...((level === "indices" || level === "shards") && {
      indices: Object.fromEntries(
        found.map((index) => [index.name, indexHealthBody(index, level === "shards")]),
      ),
    }),
  };
}

function indexHealthBody(index: IndexInfo, withShards: boolean): JsonObject {
  const { status, primaries, active, unassigned } = indexHealth(index);
  const replicas = index.settings.numberOfReplicas;
  const shard = {
    status,
    primary_active: true,
    active_shards: 1,
    relocating_shards: 0,
    initializing_shards: 0,
    unassigned_shards: replicas,
  };
  return {
    status,
    number_of_shards: primaries,
    number_of_replicas: replicas,
    active_primary_shards: primaries,
    active_shards: active,
    relocating_shards: 0,
    initializing_shards: 0,
    unassigned_shards: unassigned,
    ...(withShards && {
      shards: Object.fromEntries(Array.from({ length: primaries }, (_, at) => [String(at), shard])),
    }),
  };
}

const METRICS = [
  "version",
  "master_node",
  "nodes",
  "routing_table",
  "routing_nodes",
  "metadata",
  "blocks",
  "customs",
];

function state(parts: ApiParts, request: ApiRequest): ApiResponse {
  const { cluster, indices } = parts;
  const asked = request.list("metric") ?? ["_all"];
  const wanted = (metric: string): boolean => asked.includes("_all") || asked.includes(metric);
  const unknown = asked.find((metric) => metric !== "_all" && !METRICS.includes(metric));
  if (unknown !== undefined)
    throw new AppError(
      "request_invalid",
      `unknown metric [${unknown}] of the cluster state; there are ${METRICS.join(", ")}`,
    );
  const found = indices.resolve(request.path["index"], resolveOptions(request, { expandWildcards: "all" }));
  const [node] = cluster.nodes();
  return json({
    cluster_name: cluster.name,
    cluster_uuid: cluster.uuid,
    ...(wanted("version") && { version: 1, state_uuid: cluster.uuid }),
    ...(wanted("master_node") && { master_node: node?.id }),
    ...(wanted("blocks") && { blocks: blocksOf(found) }),
    ...(wanted("nodes") && {
      nodes: Object.fromEntries(
        cluster
          .nodes()
          .map((each) => [
            each.id,
            {
              name: each.name,
              ephemeral_id: each.id,
              transport_address: each.transportAddress,
              attributes: {},
            },
          ]),
      ),
    }),
    ...(wanted("metadata") && { metadata: metadataOf(parts, found) }),
    ...(wanted("routing_table") && {
      routing_table: {
        indices: Object.fromEntries(found.map((index) => [index.name, { shards: routingOf(index, node) }])),
      },
    }),
    ...(wanted("routing_nodes") && { routing_nodes: { unassigned: [], nodes: {} } }),
  });
}

function blocksOf(found: readonly IndexInfo[]): JsonObject {
  const blocked = found.flatMap((index) => {
    const blocks: JsonObject = {};
    for (const [setting, id, levels] of BLOCKS) {
      if (isTrue(index.settings.raw[setting]))
        blocks[id] = {
          description: `index ${setting.slice("blocks.".length)} (api)`,
          retryable: false,
          levels,
        };
    }
    return Object.keys(blocks).length === 0 ? [] : [[index.name, blocks] as const];
  });
  return blocked.length === 0 ? {} : { indices: Object.fromEntries(blocked) };
}

const BLOCKS = [
  ["blocks.read_only", "5", ["write", "metadata_write"]],
  ["blocks.read", "7", ["read"]],
  ["blocks.write", "8", ["write"]],
  ["blocks.metadata", "9", ["metadata_read", "metadata_write"]],
] as const;

function metadataOf({ cluster, compatVersion }: ApiParts, found: readonly IndexInfo[]): JsonObject {
  const bodies = found.map((index) => [
    index.name,
    {
      state: index.state,
      settings: nestSettings(flatSettings(index, compatVersion)),
      mappings: printMapping(index, true),
      aliases: Object.keys(index.aliases),
    },
  ]);
  return { cluster_uuid: cluster.uuid, templates: {}, indices: Object.fromEntries(bodies) as JsonObject };
}

function routingOf({ name, settings }: IndexInfo, node: NodeInfo | undefined): JsonObject {
  const shards = Array.from({ length: settings.numberOfShards }, (_, shard) => [
    String(shard),
    [
      { state: "STARTED", primary: true, node: node?.id, relocating_node: null, shard, index: name },
      ...Array.from({ length: settings.numberOfReplicas }, () => ({
        state: "UNASSIGNED",
        primary: false,
        node: null,
        relocating_node: null,
        shard,
        index: name,
      })),
    ],
  ]);
  return Object.fromEntries(shards) as JsonObject;
}

function getSettings({ cluster }: ApiParts, request: ApiRequest): ApiResponse {
  const isFlat = request.flag("flat_settings") ?? false;
  const shape = isFlat ? (all: JsonObject) => all : nestSettings;
  const { persistent, transient } = cluster.settings();
  const withDefaults = request.flag("include_defaults") ?? false;
  const node = { "node.name": cluster.nodes()[0]?.name ?? "", "cluster.name": cluster.name, "node.attr": {} };
  return json({
    persistent: shape(persistent),
    transient: shape(transient),
    ...(withDefaults && { defaults: shape(node) }),
  });
}

async function putSettings({ cluster }: ApiParts, request: ApiRequest): Promise<ApiResponse> {
  const body = request.requiredObject();
  const unknown = Object.keys(body).find((key) => key !== "persistent" && key !== "transient");
  if (unknown !== undefined)
    throw new AppError("request_invalid", `request may hold [persistent] and [transient], not [${unknown}]`);
  const persistent = flattenCluster(body["persistent"]);
  const transient = flattenCluster(body["transient"]);
  await cluster.putSettings({ persistent, transient });
  const isFlat = request.flag("flat_settings") ?? false;
  const shape = (all: JsonObject): JsonObject => {
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
    return isFlat ? given : nestSettings(given);
  };
  return json({ acknowledged: true, persistent: shape(persistent), transient: shape(transient) });
}

function flattenCluster(value: unknown): JsonObject {
  return Object.fromEntries(
    Object.entries(flattenSettings(value)).map(([key, each]) => [key, each === null ? null : String(each)]),
  );
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

function nodeBody(node: NodeInfo, version: string, request: ApiRequest): JsonObject {
  const isFlat = request.flag("flat_settings") ?? false;
  const settings = {
    "node.name": node.name,
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
