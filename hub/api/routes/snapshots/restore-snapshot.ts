/** Restores indices of a snapshot as a task: each is created with its stored definition and filled through the log. */

import { splitType } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { flattenSettings, isSetAfterDocuments } from "#hub/api/parameters/index-settings.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { AliasOptions, IndexDefinition, IndexInfo, IndexTemplate } from "#hub/api/ports/indices.ts";
import type { DocumentPages } from "#hub/api/routes/by-query/change-by-query.ts";
import { startCopy } from "#hub/api/routes/by-query/copy-index.ts";
import type { ComponentTemplate, ComposableTemplate } from "#hub/cluster/catalog/composable-templates.ts";
import { Pattern } from "#hub/scripts/library/patterns.ts";
import { valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";
import type { IndexSnapshots, SnapshotIndex, SnapshotRecord } from "./index-snapshots.ts";

/** Keys of a request's body. */
const KEYS = [
  "indices",
  "ignore_unavailable",
  "include_global_state",
  "include_aliases",
  "rename_pattern",
  "rename_replacement",
  "index_settings",
  "ignore_index_settings",
  "partial",
];
/** Keys that the high-level client sends in addition: the names in the path, options for index names, and unused keys. */
const REPEATED = ["repository", "snapshot", "expand_wildcards", "allow_no_indices", "ignore_throttled"];
const UNUSED = ["settings", "feature_states"];

/** Throws parsing for a key that isn't among `known`. */
export function checkKeys(body: JsonObject, known: readonly string[]): void {
  const unknown = Object.entries(body).find(([key, value]) => {
    if (known.includes(key) || REPEATED.includes(key)) return false;
    return !UNUSED.includes(key) || Object.keys(Object(value) as object).length > 0;
  });
  if (unknown !== undefined) throw new AppError("parsing", `Unknown parameter ${unknown[0]}`);
}

/** A running restore. */
export interface Restoring {
  readonly indices: readonly string[];
  readonly shards: number;
  readonly done: Promise<void>;
}

/**
 * Creates the indices, in place of closed ones of their names, and starts to fill them. Throws request_invalid, not_found,
 * index_exists; then none of them was created.
 */
export async function restoreSnapshot(
  parts: ApiContext,
  request: ApiRequest,
  store: IndexSnapshots,
  record: SnapshotRecord,
  body: JsonObject,
): Promise<Restoring> {
  checkKeys(body, KEYS);
  if (record.state !== "SUCCESS") throw notRestorable(record, `its state is ${record.state}`);
  const chosen = chosenIndices(record, body).map((index): Chosen => {
    const name = newName(index.name, body);
    return { index, name, replaced: parts.indices.get(name) };
  });
  const names = chosen.map(({ name }) => name);
  for (const [at, each] of chosen.entries()) {
    if (names.indexOf(each.name) !== at)
      throw notRestorable(record, `two indices would be called [${each.name}]`);
    checkReplaced(record, each);
  }
  const planned = chosen.map((each) => planOf(each, body));
  for (const { replaced, definition } of planned)
    if (replaced !== undefined) parts.indices.checkReplace(replaced, definition);
  // Those that replace others last: a fault of another one leaves these as they are.
  planned.sort((a, b) => Number(a.replaced !== undefined) - Number(b.replaced !== undefined));
  if (body["include_global_state"] !== undefined && isTrue(body["include_global_state"]))
    await restoreTemplates(parts, record);
  const made = await makeAll(parts, planned);
  const done = fillAll(parts, request, store, made);
  done.catch(() => undefined);
  return { indices: names, shards: chosen.reduce((sum, { index }) => sum + index.shards, 0), done };
}

/** An index that was created, and what it is filled with. */
interface Filling {
  readonly index: SnapshotIndex;
  readonly made: MadeIndex;
}

/** Creates all indices or none. */
async function makeAll(parts: ApiContext, planned: readonly Planned[]): Promise<Filling[]> {
  const all: Filling[] = [];
  try {
    for (const each of planned) all.push({ index: each.index, made: await makeIndex(parts, each) });
  } catch (error) {
    await removeAll(parts, all);
    throw error;
  }
  return all;
}

/** Fills indices one after the other; where one can't be filled, those after it are removed. */
async function fillAll(
  parts: ApiContext,
  request: ApiRequest,
  store: IndexSnapshots,
  all: readonly Filling[],
): Promise<void> {
  for (const [at, { index, made }] of all.entries()) {
    try {
      await fillIndex(parts, request, store, index, made);
    } catch (error) {
      await removeAll(parts, all.slice(at + 1)); // they would stay empty
      throw error;
    }
  }
}

async function removeAll(parts: ApiContext, all: readonly Filling[]): Promise<void> {
  for (const { made } of all) await parts.indices.deleteExactly(made.target);
}

/** An index of the snapshot, the name that it gets, and the index of that name now. */
interface Chosen {
  readonly index: SnapshotIndex;
  readonly name: string;
  readonly replaced: IndexInfo | undefined;
}

/** Throws request_invalid unless the index that has the name may be replaced. */
function checkReplaced(record: SnapshotRecord, { index, name, replaced }: Chosen): void {
  if (replaced === undefined) return;
  if (replaced.state === "open")
    throw notRestorable(
      record,
      `cannot restore index [${name}] because an open index with same name already exists in the cluster. Either close or delete the existing index or restore the index under a different name by providing a rename pattern and replacement name`,
    );
  const { numberOfShards: shards } = replaced.settings;
  if (shards !== index.shards)
    throw notRestorable(
      record,
      `cannot restore index [${name}] with [${shards}] shards from a snapshot of index [${index.name}] with [${index.shards}] shards`,
    );
}

/** A chosen index with what it is created of. */
interface Planned extends Chosen {
  readonly definition: IndexDefinition;
  readonly dataStream: string | undefined;
  /** Settings to be set after the documents. */
  readonly later: JsonObject;
}

/** An index without its documents, and the settings to be set after these. */
interface MadeIndex {
  readonly target: IndexInfo;
  readonly later: JsonObject;
}

function planOf(chosen: Chosen, body: JsonObject): Planned {
  const { index, name, replaced } = chosen;
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
  const isRenamed = name !== index.name;
  const definition = {
    settings: {
      ...Object.fromEntries(entries.filter(([key]) => !isSetAfterDocuments(key))),
      number_of_shards: index.shards,
    },
    mappings: splitType(index.mapping, name).mapping,
    aliases: {
      ...(keepsAliases ? (index.aliases as Record<string, AliasOptions>) : replaced?.aliases),
    },
  };
  return {
    ...chosen,
    definition,
    dataStream: isRenamed ? undefined : index.dataStream,
    later: Object.fromEntries(entries.filter(([key]) => isSetAfterDocuments(key))),
  };
}

/** Creates an index without its documents; a closed one of its name is deleted. */
async function makeIndex({ indices }: ApiContext, planned: Planned): Promise<MadeIndex> {
  const { name, replaced, definition, dataStream, later } = planned;
  const target = await (replaced === undefined
    ? indices.createExact(name, definition, dataStream)
    : indices.replaceExact(replaced, definition, dataStream));
  return { target, later };
}

async function fillIndex(
  parts: ApiContext,
  request: ApiRequest,
  store: IndexSnapshots,
  index: SnapshotIndex,
  { target, later }: MadeIndex,
): Promise<void> {
  const copy = await startCopy(parts, request, {
    action: "cluster:admin/snapshot/restore",
    description: `restore [${index.name}] to [${target.name}]`,
    target,
    open: () => Promise.resolve(pagesOf(store, index)),
    finish: async () => {
      if (Object.keys(later).length > 0) await parts.indices.putSettings(target.name, later);
    },
  });
  await copy.done;
}

function pagesOf(store: IndexSnapshots, { name, docs, pages }: SnapshotIndex): DocumentPages {
  let next = 0;
  return {
    total: docs,
    next: () => (next < pages.length ? store.documents(name, pages[next++]!) : Promise.resolve([])),
    close: () => Promise.resolve(),
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

async function restoreTemplates(
  { indices }: ApiContext,
  { globalState = {}, snapshot }: SnapshotRecord,
): Promise<void> {
  if (Object.keys(globalState).length === 0)
    throw new AppError("request_invalid", `snapshot [${snapshot}] has no global state; restore it without`);
  const { templates, composable, components } = globalState as {
    templates: Record<string, IndexTemplate>;
    composable: Record<string, ComposableTemplate>;
    components: Record<string, ComponentTemplate>;
  };
  const { templateCatalog } = indices;
  for (const [name, component] of Object.entries(components))
    await templateCatalog.putComponent(name, component);
  for (const [name, template] of Object.entries(composable))
    await templateCatalog.putComposable(name, template);
  for (const [name, template] of Object.entries(templates)) await indices.putTemplate(name, template);
}

function notRestorable({ snapshot }: SnapshotRecord, why: string): AppError {
  return new AppError("request_invalid", `[${snapshot}] ${why}`, {
    data: { type: "snapshot_restore_exception", status: 500 },
  });
}
