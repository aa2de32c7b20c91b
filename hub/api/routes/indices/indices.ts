/** Indices: create, show, delete, open, close. */

import { warnOfFields, warnOfSettings } from "#hub/api/compat/interface-compatibility.ts";
import { checkTypeless, ownType, printMapping, splitType } from "#hub/api/compat/mapping-types.ts";
import { showsTypes } from "#hub/api/compat/version.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { checkBlocks } from "#hub/api/context/index-blocks.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, empty, json, type Route } from "#hub/api/http/route.ts";
import { parseAliases } from "#hub/api/parameters/alias-definition.ts";
import { checkWholeNames } from "#hub/api/parameters/cluster-settings.ts";
import { flatSettings, flattenSettings, nestSettings } from "#hub/api/parameters/index-settings.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { acknowledgesShards, asksForCopies } from "#hub/api/stats/active-shards.ts";
import { backingIndices } from "#hub/cluster/catalog/data-streams.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

const TIMEOUT_PARAMS = ["timeout", "master_timeout"];

export function indexRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["PUT"],
      paths: ["/{index}"],
      params: [...TIMEOUT_PARAMS, "wait_for_active_shards", "update_all_types", "include_type_name"],
      action: "index_manage",
      summary: "Creates an index.",
      handle: (request) => createIndex(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/{index}"],
      params: [
        ...RESOLVE_PARAMS,
        "local",
        "flat_settings",
        "include_defaults",
        "include_type_name",
        "master_timeout",
      ],
      action: "monitor",
      summary: "Shows aliases, mapping and settings of indices.",
      handle: (request) => getIndices(parts, request),
    },
    {
      methods: ["HEAD"],
      paths: ["/{index}"],
      params: [...RESOLVE_PARAMS, "local", "flat_settings", "include_defaults", "include_type_name"],
      action: "monitor",
      summary: "Checks whether indices exist.",
      handle: (request) => existsIndex(parts, request),
    },
    {
      methods: ["DELETE"],
      paths: ["/{index}", "/"],
      params: [...RESOLVE_PARAMS, ...TIMEOUT_PARAMS],
      action: "index_delete",
      summary: "Deletes indices with all their documents.",
      handle: (request) => deleteIndices(parts, request),
    },
    {
      methods: ["POST"],
      paths: ["/{index}/_open", "/_open"],
      params: [...RESOLVE_PARAMS, ...TIMEOUT_PARAMS, "wait_for_active_shards"],
      action: "index_manage",
      summary: "Opens closed indices.",
      handle: (request) => setState(parts, request, "open"),
    },
    {
      methods: ["POST"],
      paths: ["/{index}/_close", "/_close"],
      params: [...RESOLVE_PARAMS, ...TIMEOUT_PARAMS, "wait_for_active_shards"],
      action: "index_manage",
      summary: "Closes indices: they keep their documents and can't be read or written.",
      handle: (request) => setState(parts, request, "close"),
    },
  ];
}

async function createIndex(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { indices } = parts;
  asksForCopies(request); // throws before the index is made
  const name = request.segment("index");
  const body = request.metadata();
  checkKeys(body);
  checkTypeless(body["mappings"], name, request.flag("include_type_name"));
  const typed = splitType(body["mappings"], name);
  const hasParts = ["settings", "mappings", "aliases"].some((key) => key in body);
  const settings = flattenSettings(hasParts ? body["settings"] : body);
  if (settings["soft_deletes.enabled"] !== undefined && !isTrue(settings["soft_deletes.enabled"])) {
    warnDeprecated(
      "Creating indices with soft-deletes disabled is deprecated and will be removed in future Elasticsearch versions. " +
        `Please do not specify value for setting [index.soft_deletes.enabled] of index [${name}].`,
      { from: 706 },
    );
  }
  warnOfSettings(settings);
  warnOfFields(typed.mapping);
  const index = await indices.create(name, {
    settings: { ...settings, ...ownType(typed) },
    mappings: typed.mapping,
    aliases: parseAliases(body["aliases"]),
  });
  for (const warning of index.mapping.analysis.warnings) warnDeprecated(warning, { until: 700 });
  const acknowledged = await acknowledgesShards(parts, request, [index.name]);
  return json({ acknowledged: true, shards_acknowledged: acknowledged, index: index.name });
}

/** A body without any of the known parts contains only settings. */
function checkKeys(body: JsonObject): void {
  const known = ["settings", "mappings", "aliases", "warmers"];
  const keys = Object.keys(body);
  const unknown = keys.find((key) => !known.includes(key));
  if (unknown === undefined || !keys.some((key) => known.includes(key))) return;
  throw new AppError("parsing", `unknown key [${unknown}] for create index`, {
    data: { type: "parse_exception" },
  });
}

function getIndices(parts: ApiContext, request: ApiRequest): ApiResponse {
  const includeType = request.flag("include_type_name") ?? showsTypes();
  const flat = request.flag("flat_settings") ?? false;
  const human = request.flag("human") ?? false;
  const found = parts.indices.resolve(request.segment("index"), resolveOptions(request));
  checkBlocks(found, "metadata_read");
  const answer: JsonObject = {};
  for (const index of found) {
    answer[index.name] = {
      aliases: index.aliases,
      mappings: printMapping(index, includeType),
      settings: shownSettings(index, parts.compatVersion, flat, human),
      ...(index.dataStream !== undefined && { data_stream: index.dataStream }),
    };
  }
  return json(answer);
}

function shownSettings(index: IndexInfo, compatVersion: string, flat: boolean, human: boolean): JsonObject {
  const settings = flatSettings(index, compatVersion, human);
  return flat ? settings : nestSettings(settings);
}

function existsIndex({ indices }: ApiContext, request: ApiRequest): ApiResponse {
  try {
    const options = resolveOptions(request, { allowNoIndices: false });
    return empty(indices.resolve(request.segment("index"), options).length > 0 ? 200 : 404);
  } catch (error) {
    if (error instanceof AppError && error.code === "index_missing") return empty(404);
    throw error;
  }
}

async function deleteIndices({ indices, cluster }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const expression = namedIndices(request, "index / indices");
  checkWholeNames(cluster, expression);
  // Deletion by an alias is refused: the name doesn't show which indices it means.
  const found = indices.resolve(expression, {
    ...resolveOptions(request, { expandWildcards: "all" }),
    concreteOnly: true,
  });
  checkDeletable(indices, found);
  await indices.delete(found.map(({ name }) => name));
  return json({ acknowledged: true });
}

/** Returns the expression of a request that must name indices: one of commas alone, as of empty variables, would mean all. */
function namedIndices(request: ApiRequest, what: string): string {
  const expression = request.path["index"] ?? "";
  if (/[^,\s]/.test(expression)) return expression;
  throw new AppError("request_invalid", `Validation Failed: 1: ${what} is missing;`, {
    data: { type: "action_request_validation_exception" },
  });
}

/** Throws request_invalid, forbidden for indices that mustn't be deleted. */
export function checkDeletable(indices: ApiContext["indices"], found: readonly IndexInfo[]): void {
  refuseWritten(indices, found);
  checkBlocks(found, "delete");
}

/** Throws request_invalid for the write index of a data stream: deleting it would break the stream. */
function refuseWritten(indices: ApiContext["indices"], found: readonly IndexInfo[]): void {
  const [first] = writeIndicesIn(indices, found);
  if (first === undefined) return;
  throw new AppError(
    "request_invalid",
    `index [${first.name}] is the write index for data stream [${first.stream}] and cannot be deleted`,
  );
}

/** Throws request_invalid for write indices of data streams: nothing could be written to the streams. */
function refuseClosing(indices: ApiContext["indices"], found: readonly IndexInfo[]): void {
  const names = writeIndicesIn(indices, found).map(({ name }) => name);
  if (names.length === 0) return;
  throw new AppError(
    "request_invalid",
    `cannot close the following data stream write indices [${names.join(",")}]`,
  );
}

/** Returns which of the indices receive the writes of data streams, with the streams. */
function writeIndicesIn(
  indices: ApiContext["indices"],
  found: readonly IndexInfo[],
): { readonly name: string; readonly stream: string }[] {
  const streams = new Set(found.flatMap(({ dataStream }) => dataStream ?? []));
  const all = streams.size === 0 ? [] : indices.all();
  const names = new Set(found.map(({ name }) => name));
  return [...streams].flatMap((stream) => {
    const name = backingIndices(all, stream).at(-1)?.name;
    return name !== undefined && names.has(name) ? [{ name, stream }] : [];
  });
}

async function setState(
  parts: ApiContext,
  request: ApiRequest,
  state: "open" | "close",
): Promise<ApiResponse> {
  const expression = namedIndices(request, "index");
  if (state === "close") checkWholeNames(parts.cluster, expression);
  else asksForCopies(request); // throws before an index is opened
  const states = state === "open" ? "closed" : "open";
  const found = parts.indices.resolve(
    expression,
    resolveOptions(request, { expandWildcards: states, allowNoIndices: false }),
  );
  if (state === "close") refuseClosing(parts.indices, found);
  checkBlocks(found, "metadata_write");
  for (const index of found) {
    if (index.state !== state) await parts.indices.setState(index.name, state);
  }
  const names = found.map(({ name }) => name);
  if (state === "open")
    return json({ acknowledged: true, shards_acknowledged: await acknowledgesShards(parts, request, names) });
  if (!answersAs(700)) return json({ acknowledged: true });
  const closed = Object.fromEntries(found.map(({ name }) => [name, { closed: true }]));
  return json({ acknowledged: true, shards_acknowledged: true, indices: closed });
}
