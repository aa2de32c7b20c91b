/**
 * `_shrink`, `_split` and `_clone`: copy an index into a new one with fewer, more or the same number of shards.
 * Documents are copied through the log, so the source must refuse writes meanwhile.
 */

import { warnOfSettings } from "#hub/api/compat/interface-compatibility.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { parseAliases } from "#hub/api/parameters/alias-definition.ts";
import { flattenSettings, isSetAfterDocuments } from "#hub/api/parameters/index-settings.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { startCopy } from "./copy-index.ts";
import { DEFAULT_PAGE, openIndexPages, refreshWhole } from "./index-pages.ts";

type Resize = "shrink" | "split" | "clone";

export function resizeRoutes(parts: ApiContext): Route[] {
  return (["shrink", "split", "clone"] as const).map((kind) => ({
    methods: ["PUT", "POST"],
    paths: [`/{index}/_${kind}/{target}`],
    params: [
      "timeout",
      "master_timeout",
      "wait_for_active_shards",
      "wait_for_completion",
      ...(kind === "clone" ? [] : ["copy_settings"]),
    ],
    action: ["index_manage", "search", "ingest"],
    summary: SUMMARIES[kind],
    handle: (request) => resize(parts, request, kind),
  }));
}

const SUMMARIES: Readonly<Record<Resize, string>> = {
  shrink: "Copies an index that refuses writes into a new one with fewer shards.",
  split: "Copies an index that refuses writes into a new one with more shards.",
  clone: "Copies an index that refuses writes into a new one.",
};

async function resize(parts: ApiContext, request: ApiRequest, kind: Resize): Promise<ApiResponse> {
  const { indices } = parts;
  const body = bodyOf(request);
  const [source] = indices.resolve(request.segment("index"), { concreteOnly: true, allowNoIndices: false });
  const target = request.segment("target");
  const given = flattenSettings(body["settings"]);
  warnOfSettings(given);
  const copies = copiesSettings(request, kind);
  const shards = shardsOf(kind, source!, given["number_of_shards"]);
  // Those of the new index follow from the source, unless that has one shard, whose routing shards 7 allows to be
  // chosen again.
  const isFree = answersAs(700) && kind === "split" && source!.settings.numberOfShards === 1;
  if (!isFree && given["number_of_routing_shards"] !== undefined)
    throw new AppError("request_invalid", "cannot provide index.number_of_routing_shards on resize");
  requireBlocked(source!);
  const settings = { ...(copies ? source!.settings.raw : keptSettings(source!)), ...given };
  const isLater = ([key]: readonly [string, unknown]): boolean => isSetAfterDocuments(key);
  const made = await indices.createExact(target, {
    settings: {
      number_of_replicas: source!.settings.numberOfReplicas,
      ...Object.fromEntries(Object.entries(settings).filter((entry) => entry[1] !== null && !isLater(entry))),
      number_of_shards: shards,
    },
    mappings: source!.mapping.toJSON(),
    aliases: parseAliases(body["aliases"]),
  });
  const later = Object.fromEntries(Object.entries(settings).filter(isLater));
  const task = await startCopy(parts, request, {
    action: "indices:admin/resize",
    description: `${kind} from [${source!.name}] to [${made.name}]`,
    target: made,
    open: async (signal) => {
      await refreshWhole(parts, source!, signal);
      const from = { expression: source!.name, types: undefined, options: {} };
      return openIndexPages(parts, from, {}, DEFAULT_PAGE, signal);
    },
    finish: async () => {
      if (Object.keys(later).length > 0) await indices.putSettings(made.name, later);
    },
  });
  if (request.flag("wait_for_completion") === false)
    return json({ task: `${parts.cluster.nodes()[0]!.id}:${task.id}` });
  await task.done;
  return json({ acknowledged: true, shards_acknowledged: true, index: made.name });
}

/** Throws parsing, request_invalid. */
function bodyOf(request: ApiRequest): JsonObject {
  const body = request.metadata();
  const unknown = Object.keys(body).find(
    (key) => !["settings", "aliases", "max_primary_shard_size"].includes(key),
  );
  if (unknown !== undefined)
    throw new AppError("parsing", `[resize_request] unknown field [${unknown}], parser not found`, {
      data: { type: "x_content_parse_exception" },
    });
  if (body["max_primary_shard_size"] !== undefined)
    throw new AppError(
      "request_invalid",
      "[max_primary_shard_size] isn't offered; set index.number_of_shards",
    );
  return body;
}

/**
 * Returns true if the settings of the source are copied to the new index; 6 copied only those that the data needs.
 * Throws request_invalid.
 */
function copiesSettings(request: ApiRequest, kind: Resize): boolean {
  if (kind === "clone") return true;
  const copies = request.flag("copy_settings");
  if (copies === false)
    throw new AppError("request_invalid", "parameter [copy_settings] can not be explicitly set to [false]");
  if (answersAs(700)) {
    if (copies === true)
      warnDeprecated("parameter [copy_settings] is deprecated and will be removed in 8.0.0");
    return true;
  }
  if (copies !== true)
    warnDeprecated(
      "resize operations without copying settings is deprecated; set parameter [copy_settings] to [true] for future default behavior",
    );
  return copies === true;
}

/** Settings without which the copied documents couldn't be read as before. */
function keptSettings({ settings }: IndexInfo): JsonObject {
  const kept = /^(?:analysis|similarity|sort|mapping)\./;
  return Object.fromEntries(Object.entries(settings.raw).filter(([key]) => kept.test(key)));
}

/** Returns the number of shards of the new index. Throws request_invalid for a number that the operation can't produce. */
function shardsOf(kind: Resize, { settings }: IndexInfo, given: unknown): number {
  const from = settings.numberOfShards;
  const to = Number(given ?? (kind === "clone" ? from : 1));
  const fault = shardsFault(kind, from, to, Number(settings.raw["number_of_routing_shards"] ?? to));
  if (fault === undefined) return to;
  const isOfRouting = fault.startsWith("the number of routing shards");
  const data = isOfRouting ? { type: "illegal_state_exception", status: 500 } : {};
  throw new AppError("request_invalid", fault, { data });
}

function shardsFault(kind: Resize, from: number, to: number, routing: number): string | undefined {
  if (!Number.isInteger(to) || to < 1) return `[index.number_of_shards] must be at least 1, but is [${to}]`;
  switch (kind) {
    case "clone":
      if (from === to) return undefined;
      return `the number of target shards (${to}) must be the same as the number of source shards ( ${from})`;
    case "shrink":
      if (to > from || (to === from && from > 1))
        return `the number of target shards [${to}] must be less that the number of source shards [${from}]`;
      if (from % to === 0) return undefined;
      return `the number of source shards [${from}] must be a multiple of [${to}]`;
    case "split":
      if (to <= from)
        return `the number of source shards [${from}] must be less that the number of target shards [${to}]`;
      if (to % from !== 0) return `the number of source shards [${from}] must be a factor of [${to}]`;
      if (routing % to === 0) return undefined;
      return `the number of routing shards [${routing}] must be a multiple of the target shards [${to}]`;
  }
}

/** Throws request_invalid unless the index refuses writes: the copy could miss a write. */
function requireBlocked({ name, settings }: IndexInfo): void {
  const blocks = ["blocks.write", "blocks.read_only"];
  if (blocks.some((key) => settings.raw[key] !== undefined && isTrue(settings.raw[key]))) return;
  throw new AppError(
    "request_invalid",
    `index ${name} must be read-only to resize index. use "index.blocks.write=true"`,
    { data: { type: "illegal_state_exception", status: 500 } },
  );
}
