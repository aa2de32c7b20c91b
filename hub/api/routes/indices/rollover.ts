/** `_rollover`: gives an alias or a data stream a new index to write to when the present one is old or large enough. */

import { checkTypeless, splitType, TYPE_SETTING } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { parseAliases } from "#hub/api/parameters/alias-definition.ts";
import { flattenSettings } from "#hub/api/parameters/index-settings.ts";
import type { AliasAction, IndexDefinition, IndexInfo } from "#hub/api/ports/indices.ts";
import { acknowledgesShards, asksForCopies } from "#hub/api/stats/active-shards.ts";
import { backingIndices } from "#hub/cluster/catalog/data-streams.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { parseDuration, parseSize } from "#proto/kit/units.ts";

/** Digits that made numbers of indices have. */
const DIGITS = 6;

export function rolloverRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/{alias}/_rollover", "/{alias}/_rollover/{new_index}"],
      params: ["dry_run", "timeout", "master_timeout", "wait_for_active_shards", "include_type_name"],
      action: "index_manage",
      summary: "Gives an alias or a data stream a new index to write to when conditions are met.",
      handle: (request) => rollOver(parts, request),
    },
  ];
}

async function rollOver(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  asksForCopies(request); // throws before the index is made
  const body = request.metadata();
  const unknown = Object.keys(body).find(
    (key) => !["conditions", "settings", "mappings", "aliases"].includes(key),
  );
  if (unknown !== undefined)
    throw new AppError("parsing", `[rollover] unknown field [${unknown}], parser not found`);
  const alias = request.segment("alias");
  const stream = backingIndices(parts.indices.all(), alias).at(-1);
  const source = stream ?? writeIndexOf(parts, alias);
  const target =
    stream === undefined ? (request.path["new_index"] ?? nextName(source.name)) : nextOf(parts, request);
  checkMappings(body["mappings"], target, request);
  const conditions = readConditions(body["conditions"] ?? {});
  const size = await sizeOf(parts, source);
  const results = conditions.map((each) => [each.label, each.isMet(source, size)] as const);
  const dryRun = request.flag("dry_run") ?? false;
  if (parts.indices.get(target) !== undefined) {
    throw new AppError("index_exists", `index [${target}] already exists`, { data: { index: target } });
  }
  parts.indices.checkName(target);
  const isDue = results.length === 0 || results.some(([, met]) => met);
  const rolls = isDue && !dryRun;
  if (rolls && stream !== undefined)
    await parts.indices.rollDataStream(alias, target, definitionOf(body, target));
  else if (rolls) await makeTarget(parts, alias, source, target, body);
  return json({
    acknowledged: rolls,
    shards_acknowledged: rolls && (await acknowledgesShards(parts, request, [target])),
    old_index: source.name,
    new_index: target,
    rolled_over: rolls,
    dry_run: dryRun,
    conditions: Object.fromEntries(results),
  });
}

/** Throws parsing where the mappings are nested under a type that the request doesn't allow. */
function checkMappings(mappings: unknown, target: string, request: ApiRequest): void {
  try {
    checkTypeless(mappings, target, request.flag("include_type_name"));
  } catch (cause) {
    throw new AppError("parsing", "[mappings] failed to parse the mapping of the new index", { cause });
  }
}

/** The index that an alias writes to. Throws request_invalid. */
function writeIndexOf({ indices }: ApiContext, alias: string): IndexInfo {
  const meant = indices.all().filter(({ aliases }) => Object.hasOwn(aliases, alias));
  checkValid(
    meant.length === 0 &&
      (indices.get(alias) === undefined ? "source alias does not exist" : "source alias is a concrete index"),
  );
  const writing = meant.find(({ aliases }) => aliases[alias]?.is_write_index === true);
  const found = writing ?? (meant.length === 1 ? meant[0] : undefined);
  if (found !== undefined) return found;
  throw new AppError(
    "request_invalid",
    `source alias [${alias}] maps to multiple indices, none of which is marked with is_write_index`,
  );
}

/** The following index of the stream that a request names. Throws request_invalid where it names the index too. */
function nextOf({ indices }: ApiContext, request: ApiRequest): string {
  checkValid(
    request.path["new_index"] !== undefined &&
      "new index name may not be specified when rolling over a data stream",
  );
  return indices.nextBackingName(request.segment("alias"));
}

/** "logs-000001" becomes "logs-000002". Throws request_invalid. */
function nextName(name: string): string {
  const match = /^(.*)-(\d{1,15})$/.exec(name);
  if (match !== null) return `${match[1]}-${String(Number(match[2]) + 1).padStart(DIGITS, "0")}`;
  throw new AppError(
    "request_invalid",
    `index name [${name}] does not match pattern '^.*-\\d+$'; name the new index in the path`,
  );
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

interface IndexSize {
  readonly docs: number;
  readonly bytes: number;
  readonly nowMs: number;
}

interface Condition {
  /** As answers name it. */
  readonly label: string;
  isMet(index: IndexInfo, size: IndexSize): boolean;
}

function readConditions(json: unknown): Condition[] {
  return Object.entries(objectOf(json, "conditions")).map(([name, value]): Condition => {
    const label = `[${name}: ${String(value)}]`;
    switch (name) {
      case "max_docs": {
        const docs = Number(value);
        if (!Number.isInteger(docs)) break;
        return { label, isMet: (_index, size) => size.docs >= docs };
      }
      case "max_size": {
        const bytes = read(() => parseSize(String(value)), label);
        return { label, isMet: (_index, size) => size.bytes >= bytes };
      }
      case "max_age": {
        const ageMs = read(() => parseDuration(String(value), 1), label);
        return { label, isMet: ({ settings }, { nowMs }) => nowMs - settings.creationDate >= ageMs };
      }
    }
    throw new AppError(
      "parsing",
      `[conditions] ${label} can't be read; there are max_age, max_docs and max_size`,
    );
  });
}

async function sizeOf({ shards, clock }: ApiContext, index: IndexInfo): Promise<IndexSize> {
  const stats = (await shards.stats([index])).get(index.uuid) ?? [];
  const total = (key: "docs" | "bytes"): number => stats.reduce((sum, shard) => sum + shard[key], 0);
  const docs = total("docs");
  // An index without documents has no size, whatever its files take. What isn't committed yet has no files; a document
  // takes at least a byte.
  return { docs, bytes: docs === 0 ? 0 : Math.max(docs, total("bytes")), nowMs: clock.now() };
}

function read<T>(parse: () => T, label: string): T {
  try {
    return parse();
  } catch (error) {
    throw new AppError("request_invalid", `[conditions] ${label} can't be read`, { cause: error });
  }
}

async function makeTarget(
  parts: ApiContext,
  alias: string,
  source: IndexInfo,
  target: string,
  body: JsonObject,
): Promise<void> {
  const { indices } = parts;
  await indices.create(target, definitionOf(body, target));
  const info = source.aliases[alias]!;
  const add = (index: string, isWriteIndex?: boolean): AliasAction => ({
    kind: "add",
    index,
    alias,
    info: { ...info, ...(isWriteIndex !== undefined && { is_write_index: isWriteIndex }) },
  });
  await indices.updateAliases(
    info.is_write_index === true
      ? [add(source.name, false), add(target, true)]
      : [add(target), { kind: "remove", index: source.name, alias }],
  );
}
