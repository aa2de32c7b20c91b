/** Settings of the cluster. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { checkClusterSettings } from "#hub/api/parameters/cluster-settings.ts";
import { flattenSettings, nestSettings } from "#hub/api/parameters/index-settings.ts";
import { optionalText } from "#hub/api/parameters/values.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { attributeSettings } from "./nodes.ts";

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
    Object.entries(flattenSettings(value)).map(([key, each]) => [key, optionalText(each, key) ?? null]),
  );
}
