/** `_cluster/state`: the nodes and indices of the cluster. */

import { promisify } from "node:util";
import { constants, deflate } from "node:zlib";
import { printMapping } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { blocksOf } from "#hub/api/context/index-blocks.ts";
import { printSize } from "#hub/api/http/printed-units.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { flatSettings, nestSettings } from "#hub/api/parameters/index-settings.ts";
import { printedNode } from "#hub/api/parameters/meant-nodes.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { type HealthSource, indexCopies } from "#hub/api/stats/index-health.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

const pack = promisify(deflate);

export function clusterStateRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_cluster/state", "/_cluster/state/{metric}", "/_cluster/state/{metric}/{index}"],
      params: [...RESOLVE_PARAMS, "local", "master_timeout", "flat_settings"],
      action: "monitor",
      summary: "Shows the state of the cluster: its nodes and indices.",
      handle: (request) => state(parts, request),
    },
  ];
}

/** Parts of the state that may be requested. */
export const STATE_METRICS: readonly string[] = [
  "version",
  "master_node",
  // OpenSearch's name of it; only on request.
  "cluster_manager_node",
  "nodes",
  "routing_table",
  "routing_nodes",
  "metadata",
  "blocks",
  "customs",
];

async function state(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { cluster, indices } = parts;
  const found = indices.resolve(request.path["index"], resolveOptions(request, { expandWildcards: "all" }));
  const state = clusterState(parts, request.list("metric") ?? ["_all"], found);
  return json({
    cluster_name: cluster.name,
    ...(!answersAs(607) && (await packedSize(state, request.flag("human") ?? false))),
    cluster_uuid: cluster.uuid,
    ...state,
  });
}

/** Returns the compressed size of the state, which later versions don't print. */
async function packedSize(state: JsonObject, human: boolean): Promise<JsonObject> {
  const { length } = await pack(writeJson(state), { level: constants.Z_BEST_SPEED });
  return {
    ...(human && { compressed_size: printSize(length, undefined) }),
    compressed_size_in_bytes: length,
  };
}

/** Returns the parts of the state that `asked` names; of the indices only `found`. Throws request_invalid. */
export function clusterState(
  parts: ApiContext,
  asked: readonly string[],
  found: readonly IndexInfo[],
): JsonObject {
  const { cluster } = parts;
  const wanted = (metric: string): boolean => asked.includes("_all") || asked.includes(metric);
  const unknown = asked.find((metric) => metric !== "_all" && !STATE_METRICS.includes(metric));
  if (unknown !== undefined)
    throw new AppError(
      "request_invalid",
      `unknown metric [${unknown}] of the cluster state; there are ${STATE_METRICS.join(", ")}`,
    );
  const master = cluster.nodes().find((node) => node.master)?.id;
  return {
    ...(wanted("version") && { version: 1, state_uuid: cluster.uuid }),
    ...(wanted("master_node") && { master_node: master }),
    ...(asked.includes("cluster_manager_node") && { cluster_manager_node: master }),
    ...(wanted("blocks") && { blocks: printBlocks(found) }),
    ...(wanted("nodes") && {
      nodes: Object.fromEntries(cluster.nodes().map((each) => [each.id, printedNode(each)])),
    }),
    ...(wanted("metadata") && { metadata: metadataOf(parts, found) }),
    ...(wanted("routing_table") && {
      routing_table: {
        indices: Object.fromEntries(
          found.map((index) => [index.name, { shards: routingOf(index, cluster) }]),
        ),
      },
    }),
    ...(wanted("routing_nodes") && { routing_nodes: { unassigned: [], nodes: {} } }),
  };
}

function printBlocks(found: readonly IndexInfo[]): JsonObject {
  const blocked = found.flatMap((index) => {
    const blocks = blocksOf(index).map(({ id, description, levels }) => [
      id,
      { description, retryable: false, levels: levels.filter((level) => level !== "delete") },
    ]);
    return blocks.length === 0 ? [] : [[index.name, Object.fromEntries(blocks) as JsonObject] as const];
  });
  return blocked.length === 0 ? {} : { indices: Object.fromEntries(blocked) };
}

function metadataOf(
  { cluster, compatVersion, votingExclusions }: ApiContext,
  found: readonly IndexInfo[],
): JsonObject {
  const bodies = found.map((index) => [
    index.name,
    {
      state: index.state,
      settings: nestSettings(flatSettings(index, compatVersion)),
      mappings: printMapping(index, true),
      aliases: Object.keys(index.aliases),
    },
  ]);
  const coordination = {
    term: 1,
    last_committed_config: cluster.nodes().map(({ id }) => id),
    last_accepted_config: cluster.nodes().map(({ id }) => id),
    voting_config_exclusions: votingExclusions.list(),
  };
  return {
    cluster_uuid: cluster.uuid,
    ...(answersAs(700) && { cluster_coordination: coordination }),
    templates: {},
    indices: Object.fromEntries(bodies) as JsonObject,
  };
}

function routingOf(index: IndexInfo, source: HealthSource): JsonObject {
  const shards = indexCopies(index, source).map((copies, shard) => {
    const { started, relocating, initializing, waiting } = copies;
    const copy = (state: string, primary: boolean, node: string | null, to: string | null = null) => {
      return { state, primary, node, relocating_node: to, shard, index: index.name };
    };
    return [
      String(shard),
      [
        ...started.map((node, at) => {
          const to = relocating.find(([from]) => from === node)?.[1].id;
          return copy(to === undefined ? "STARTED" : "RELOCATING", at === 0, node.id, to);
        }),
        ...initializing.map(({ id }) => copy("INITIALIZING", false, id)),
        ...Array.from({ length: waiting }, (_, at) =>
          copy("UNASSIGNED", at === 0 && started.length === 0, null),
        ),
      ],
    ];
  });
  return Object.fromEntries(shards) as JsonObject;
}
