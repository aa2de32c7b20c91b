/** Settings of the cluster, and `_cluster/voting_config_exclusions` of 7.x. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { MAX_EXCLUSIONS } from "#hub/api/context/voting-exclusions.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, empty, json, type Route } from "#hub/api/http/route.ts";
import { checkClusterSettings } from "#hub/api/parameters/cluster-settings.ts";
import { flattenSettings, nestSettings } from "#hub/api/parameters/index-settings.ts";
import { optionalText } from "#hub/api/parameters/values.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { attributeSettings } from "./nodes.ts";

const PATH = "/_cluster/voting_config_exclusions";

export function clusterSettingsRoutes(parts: ApiContext): Route[] {
  return [
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
  ];
}

function getSettings({ cluster }: ApiContext, request: ApiRequest): ApiResponse {
  const isFlat = request.flag("flat_settings") ?? false;
  const shape = isFlat ? (all: JsonObject) => all : nestSettings;
  const { persistent, transient } = cluster.settings();
  const withDefaults = request.flag("include_defaults") ?? false;
  const [own] = cluster.nodes();
  const node = { "node.name": own?.name ?? "", "cluster.name": cluster.name, ...attributeSettings(own) };
  return json({
    persistent: shape(persistent),
    transient: shape(transient),
    ...(withDefaults && { defaults: shape(node) }),
  });
}

async function putSettings({ cluster }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const body = request.metadata();
  request.requireBody();
  const unknown = Object.keys(body).find((key) => key !== "persistent" && key !== "transient");
  if (unknown !== undefined)
    throw new AppError("request_invalid", `request may hold [persistent] and [transient], not [${unknown}]`);
  const persistent = flattenCluster(body["persistent"]);
  const transient = flattenCluster(body["transient"]);
  checkValid(Object.keys({ ...persistent, ...transient }).length === 0 && "no settings to update");
  checkClusterSettings(persistent, "persistent");
  checkClusterSettings(transient, "transient");
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
    Object.entries(flattenSettings(value)).map(([key, each]) => [key, settingValue(each, key)]),
  );
}

/** Returns a setting's value as text, or a list as texts. Throws parsing. */
function settingValue(value: unknown, name: string): string | readonly string[] | null {
  if (Array.isArray(value)) return value.map((each) => scalarText(each, name));
  return optionalText(value, name) ?? null;
}

export function votingExclusionRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: [PATH, `${PATH}/{node_name}`],
      params: ["node_ids", "node_names", "timeout", "master_timeout"],
      action: "administer",
      summary: "Keeps names of absent nodes; a node that is there can't be left out of votes.",
      handle: (request) => add(parts, request),
    },
    {
      methods: ["DELETE"],
      paths: [PATH],
      params: ["wait_for_removal", "master_timeout"],
      action: "administer",
      summary: "Forgets the names of absent nodes.",
      handle: () => {
        parts.votingExclusions.clear();
        return empty(200);
      },
    },
  ];
}

function add({ cluster, votingExclusions }: ApiContext, request: ApiRequest): ApiResponse {
  const ids = request.list("node_ids");
  const names = request.list("node_names");
  const nodes = [ids, names, request.list("node_name")].filter((each) => each !== undefined);
  const [asked, second] = nodes;
  if (asked === undefined || second !== undefined) {
    throw new AppError(
      "request_invalid",
      "Please set node identifiers correctly. One and only one of [node_name], [node_names] and [node_ids] has to be set",
    );
  }
  const present = cluster.nodes().find(({ id, name }) => asked.includes(ids === undefined ? name : id));
  if (present !== undefined) {
    throw new AppError(
      "request_invalid",
      `node [${present.name}] can't be left out of votes: the journal elects its leaders by itself; stop the hub instead`,
    );
  }
  if (votingExclusions.add(ids === undefined ? "name" : "id", asked)) return empty(200);
  throw new AppError(
    "request_invalid",
    `add voting config exclusions request for [${asked.join(",")}] would exceed the maximum of [${MAX_EXCLUSIONS}] set by [cluster.max_voting_config_exclusions]`,
  );
}
