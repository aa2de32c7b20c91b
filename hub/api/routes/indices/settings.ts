/** Settings of indices. */

import { warnOfSettings } from "#hub/api/compat/interface-compatibility.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { checkBlocks, INDEX_BLOCKS } from "#hub/api/context/index-blocks.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { flatSettings, flattenSettings, nestSettings } from "#hub/api/parameters/index-settings.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

export function settingsRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: [
        "/_settings",
        "/_settings/{name}",
        "/{index}/_settings",
        "/{index}/_settings/{name}",
        "/{index}/_setting/{name}",
      ],
      params: [...RESOLVE_PARAMS, "local", "flat_settings", "include_defaults", "master_timeout"],
      action: "monitor",
      summary: "Shows the settings of indices.",
      handle: (request) => getSettings(parts, request),
    },
    {
      methods: ["PUT"],
      paths: ["/_settings", "/{index}/_settings"],
      params: [...RESOLVE_PARAMS, "timeout", "master_timeout", "preserve_existing", "flat_settings"],
      action: "index_manage",
      summary: "Changes settings of indices.",
      handle: (request) => putSettings(parts, request),
    },
    {
      methods: ["PUT"],
      paths: ["/{index}/_block/{block}"],
      params: [...RESOLVE_PARAMS, "timeout", "master_timeout"],
      action: "index_manage",
      summary: "Lets indices refuse writes, reads or changes.",
      handle: (request) => addBlock(parts, request),
    },
  ];
}

/** Shown with include_defaults; other settings of 6.5 don't apply here. */
const DEFAULTS: JsonObject = {
  "index.refresh_interval": "1s",
  "index.max_result_window": "10000",
  "index.mapping.total_fields.limit": "1000",
};

function getSettings({ indices, compatVersion }: ApiContext, request: ApiRequest): ApiResponse {
  const names = request.list("name")?.filter((name) => name !== "_all");
  const patterns =
    names === undefined || names.length === 0 ? undefined : names.map((name) => compileWildcard(name));
  const isFlat = request.flag("flat_settings") ?? false;
  const human = request.flag("human") ?? false;
  const withDefaults = request.flag("include_defaults") ?? false;
  const answer: JsonObject = {};
  const found = indices.resolve(request.path["index"], resolveOptions(request, { expandWildcards: "all" }));
  checkBlocks(found, "metadata_read");
  for (const index of found) {
    const keep = (all: JsonObject): JsonObject =>
      Object.fromEntries(
        Object.entries(all).filter(
          ([key]) => patterns === undefined || patterns.some((pattern) => pattern.matches(key)),
        ),
      );
    const own = keep(flatSettings(index, compatVersion, human));
    const defaults = keep(Object.fromEntries(Object.entries(DEFAULTS).filter(([key]) => !(key in own))));
    if (Object.keys(own).length === 0) continue;
    const shape = isFlat ? (all: JsonObject) => all : nestSettings;
    answer[index.name] = { settings: shape(own), ...(withDefaults && { defaults: shape(defaults) }) };
  }
  return json(answer);
}

/** Blocks that can be set on an index. */
const BLOCKS: readonly string[] = ["metadata", "read", "read_only", "write"];

async function addBlock({ indices }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const block = request.path["block"]!;
  checkValid(!BLOCKS.includes(block) && `No block type [${block}]; there are ${BLOCKS.join(", ")}`);
  const blocked: JsonObject[] = [];
  for (const { name } of indices.resolve(request.path["index"], resolveOptions(request))) {
    await indices.putSettings(name, { [`blocks.${block}`]: true });
    blocked.push({ name, blocked: true });
  }
  return json({ acknowledged: true, shards_acknowledged: true, indices: blocked });
}

/** Whether settings are changed as blocked indices allow it: one block at a time. */
function isRelease(changes: JsonObject): boolean {
  const [name, ...others] = Object.keys(changes);
  const block = INDEX_BLOCKS.find(({ setting }) => setting === name?.replace(/^index\./, ""));
  return others.length === 0 && block?.levels.includes("metadata_write") === true;
}

async function putSettings(
  { indices, compatVersion }: ApiContext,
  request: ApiRequest,
): Promise<ApiResponse> {
  const body = request.metadata();
  request.requireBody();
  const given = isObject(body["settings"]) && Object.keys(body).length === 1 ? body["settings"] : body;
  const changes = flattenSettings(given);
  checkValid(Object.keys(changes).length === 0 && "no settings to update");
  warnOfSettings(changes);
  const keepsExisting = request.flag("preserve_existing") ?? false;
  const found = indices.resolve(request.path["index"], resolveOptions(request, { expandWildcards: "all" }));
  if (!isRelease(changes)) checkBlocks(found, "metadata_write");
  for (const index of found) {
    const existing = flatSettings(index, compatVersion);
    const kept = Object.entries(changes).filter(([key]) => !keepsExisting || !(`index.${key}` in existing));
    await indices.putSettings(index.name, Object.fromEntries(kept));
  }
  return json({ acknowledged: true });
}
