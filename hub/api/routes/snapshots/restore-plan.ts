/** Decides which indices of a snapshot are restored, under which names and with which definitions. */

import { splitType } from "#hub/api/compat/mapping-types.ts";
import { flattenSettings, isSetAfterDocuments } from "#hub/api/parameters/index-settings.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { AliasInfo, IndexDefinition, IndexInfo, Indices } from "#hub/api/ports/indices.ts";
import { matchesWildcard } from "#hub/cluster/catalog/index-names.ts";
import { Pattern } from "#hub/scripts/library/patterns.ts";
import { valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { SnapshotIndex, SnapshotRecord } from "./index-snapshots.ts";

/** An index of a snapshot, and the index that is made of it. */
export interface RestorePlan {
  readonly index: SnapshotIndex;
  readonly name: string;
  readonly definition: IndexDefinition;
  /** The stream that it is added to. */
  readonly dataStream: string | undefined;
  /** Settings to be set after the documents. */
  readonly later: JsonObject;
  /** The closed index that it takes the place of. */
  readonly replaced: IndexInfo | undefined;
}

/**
 * Returns the indices to be made, those first that replace none: only these may fail once the plan is made. Throws
 * request_invalid, index_missing, settings_invalid.
 */
export function planRestore(
  indices: Pick<Indices, "get" | "checkExact">,
  record: SnapshotRecord,
  body: JsonObject,
): RestorePlan[] {
  const plans = chosenIndices(record, body).map((index): RestorePlan => {
    const name = newName(index.name, body);
    const replaced = indices.get(name);
    if (replaced !== undefined) checkReplaced(record, index, replaced);
    const dataStream = name === index.name ? index.dataStream : undefined;
    return { index, name, dataStream, replaced, ...definitionOf(index, name, body) };
  });
  const names = plans.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw notRestorable(record, `two indices would be called [${twice}]`);
  const replacing = plans.filter(({ replaced }) => replaced !== undefined);
  for (const { name, definition } of replacing) indices.checkExact(name, definition);
  return [...plans.filter(({ replaced }) => replaced === undefined), ...replacing];
}

/** Throws request_invalid unless the index is closed, of no stream and of as many shards. */
function checkReplaced(record: SnapshotRecord, index: SnapshotIndex, replaced: IndexInfo): void {
  const { name, state, dataStream, settings } = replaced;
  if (state === "open" || dataStream !== undefined)
    throw notRestorable(
      record,
      `cannot restore index [${name}] because an open index with same name already exists in the cluster. Either close or delete the existing index or restore the index under a different name by providing a rename pattern and replacement name`,
    );
  if (settings.numberOfShards !== index.shards)
    throw notRestorable(
      record,
      `cannot restore index [${name}] with [${settings.numberOfShards}] shards from a snapshot of index [${index.name}] with [${index.shards}] shards`,
    );
}

/** Returns the definition of an index without its documents, and the settings to be set after these. */
function definitionOf(
  index: SnapshotIndex,
  name: string,
  body: JsonObject,
): Pick<RestorePlan, "definition" | "later"> {
  const ignored = listOf(body["ignore_index_settings"]).map((key) => key.replace(/^index\./, ""));
  const own = Object.entries(index.settings).filter(
    ([key]) => !ignored.some((pattern) => matchesWildcard(pattern, key)),
  );
  const { number_of_shards: shards, ...given } = flattenSettings(body["index_settings"]);
  if (shards !== undefined)
    throw new AppError("request_invalid", "cannot modify setting [index.number_of_shards] on restore");
  const settings: JsonObject = { number_of_replicas: index.replicas, ...Object.fromEntries(own), ...given };
  const entries = Object.entries(settings);
  const keepsAliases = body["include_aliases"] === undefined || isTrue(body["include_aliases"]);
  return {
    definition: {
      settings: {
        ...Object.fromEntries(entries.filter(([key]) => !isSetAfterDocuments(key))),
        number_of_shards: index.shards,
      },
      mappings: splitType(index.mapping, name).mapping,
      aliases: keepsAliases ? (index.aliases as Record<string, AliasInfo>) : {},
    },
    later: Object.fromEntries(entries.filter(([key]) => isSetAfterDocuments(key))),
  };
}

/** Returns the indices of a snapshot that names and patterns select. Throws index_missing. */
export function chosenIndices(record: SnapshotRecord, body: JsonObject): SnapshotIndex[] {
  const patterns = listOf(body["indices"]);
  if (patterns.length === 0) return [...record.indices];
  const ignoresMissing = body["ignore_unavailable"] !== undefined && isTrue(body["ignore_unavailable"]);
  const found = new Set<SnapshotIndex>();
  for (const given of patterns) {
    const isLeftOut = given.startsWith("-");
    const pattern = isLeftOut ? given.slice(1) : given === "_all" ? "*" : given;
    const matching = record.indices.filter(({ name }) => matchesWildcard(pattern, name));
    if (matching.length === 0 && !pattern.includes("*") && !ignoresMissing)
      throw new AppError("index_missing", `no such index [${pattern}]`, { data: { index: pattern } });
    for (const index of matching) {
      if (isLeftOut) found.delete(index);
      else found.add(index);
    }
  }
  return [...found];
}

/** Returns a list of names, given as a list or as comma-separated text. */
export function listOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value.map(valueText) : valueText(value).split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function newName(
  name: string,
  { rename_pattern: pattern, rename_replacement: replacement }: JsonObject,
): string {
  if (pattern === undefined) return name;
  if (typeof pattern !== "string" || typeof replacement !== "string")
    throw new AppError("request_invalid", "rename_pattern and rename_replacement must both be texts");
  try {
    return name.replace(new Pattern(pattern, "").part, replacement);
  } catch (error) {
    throw new AppError("request_invalid", `[rename_pattern] can't be used: ${(error as Error).message}`);
  }
}

export function notRestorable({ snapshot }: SnapshotRecord, why: string): AppError {
  return new AppError("request_invalid", `[${snapshot}] ${why}`, {
    data: { type: "snapshot_restore_exception", status: 500 },
  });
}
