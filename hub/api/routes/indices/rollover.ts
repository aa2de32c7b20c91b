/** `_rollover`: gives an alias or a data stream a new write index when the current one is old or large enough. */

import { warnOfSettings } from "#hub/api/compat/interface-compatibility.ts";
import { checkTypeless, splitType, TYPE_SETTING } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { checkBlocks } from "#hub/api/context/index-blocks.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { parseAliases } from "#hub/api/parameters/alias-definition.ts";
import { flattenSettings } from "#hub/api/parameters/index-settings.ts";
import type { IndexDefinition, IndexInfo } from "#hub/api/ports/indices.ts";
import { acknowledgesShards, asksForCopies } from "#hub/api/stats/active-shards.ts";
import {
  type IndexSize,
  isRolloverDue,
  nextName,
  parseConditions,
  rollOver,
  rolloverSource,
  sizeOfShards,
} from "#hub/cluster/catalog/rollover.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

export function rolloverRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/{alias}/_rollover", "/{alias}/_rollover/{new_index}"],
      params: ["dry_run", "timeout", "master_timeout", "wait_for_active_shards", "include_type_name"],
      action: "index_manage",
      summary: "Gives an alias or a data stream a new index to write to when conditions are met.",
      handle: (request) => answerRollover(parts, request),
    },
  ];
}

async function answerRollover(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  asksForCopies(request); // throws before the index is made
  const body = request.metadata();
  const unknown = Object.keys(body).find(
    (key) => !["conditions", "settings", "mappings", "aliases"].includes(key),
  );
  if (unknown !== undefined)
    throw new AppError("parsing", `[rollover] unknown field [${unknown}], parser not found`, {
      data: { type: "x_content_parse_exception" },
    });
  const alias = request.segment("alias");
  const from = rolloverSource(parts.indices, alias);
  const source = from.index;
  checkBlocks([source], "metadata_write");
  const target = from.isStream
    ? nextOf(parts, request)
    : (request.path["new_index"] ?? nextName(source.name));
  checkMappings(body["mappings"], target, request);
  const conditions = parseConditions(objectOf(body["conditions"] ?? {}, "conditions"));
  const size = await sizeOf(parts, source);
  const ageMs = parts.clock.now() - source.settings.creationDate;
  const results = conditions.map((each) => [each, each.isMet(ageMs, size)] as const);
  const dryRun = request.flag("dry_run") ?? false;
  const taken = parts.indices.get(target);
  if (taken !== undefined) {
    throw new AppError("index_exists", `index [${target}/${taken.uuid}] already exists`, {
      data: { index_uuid: taken.uuid, index: target },
    });
  }
  parts.indices.checkName(target);
  const definition = definitionOf(body, target);
  warnOfSettings(definition.settings);
  const rolls = isRolloverDue(results) && !dryRun;
  if (rolls) await rollOver(parts.indices, alias, from, target, definition);
  return json({
    acknowledged: rolls,
    shards_acknowledged: rolls && (await acknowledgesShards(parts, request, [target])),
    old_index: source.name,
    new_index: target,
    rolled_over: rolls,
    dry_run: dryRun,
    conditions: Object.fromEntries(results.map(([{ label }, isMet]) => [label, isMet])),
  });
}

/** Throws parsing if the mappings are nested under a type that the request doesn't allow. */
function checkMappings(mappings: unknown, target: string, request: ApiRequest): void {
  try {
    checkTypeless(mappings, target, request.flag("include_type_name"));
  } catch (cause) {
    throw new AppError("parsing", "[mappings] failed to parse the mapping of the new index", { cause });
  }
}

/**
 * Returns the next index of the stream that a request names. Throws request_invalid if the request also names the
 * index.
 */
function nextOf({ indices }: ApiContext, request: ApiRequest): string {
  checkValid(
    request.path["new_index"] !== undefined &&
      "new index name may not be specified when rolling over a data stream",
  );
  return indices.nextBackingName(request.segment("alias"));
}

/** Returns the parts of the new index's definition that the request gives. */
function definitionOf(body: JsonObject, target: string): IndexDefinition {
  const { type, mapping } = splitType(body["mappings"], target);
  return {
    settings: { ...flattenSettings(body["settings"]), ...(type !== undefined && { [TYPE_SETTING]: type }) },
    mappings: mapping,
    aliases: isObject(body["aliases"]) ? parseAliases(body["aliases"]) : {},
  };
}

async function sizeOf({ shards }: ApiContext, index: IndexInfo): Promise<IndexSize> {
  return sizeOfShards((await shards.stats([index])).get(index.uuid) ?? []);
}
