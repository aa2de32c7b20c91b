/**
 * Restores indices of a snapshot as a task: each is created with its stored definition, in place of a closed one of its
 * name, and filled through the log.
 */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { IndexInfo, IndexTemplate } from "#hub/api/ports/indices.ts";
import type { DocumentPages } from "#hub/api/routes/by-query/change-by-query.ts";
import { startCopy } from "#hub/api/routes/by-query/copy-index.ts";
import type { ComponentTemplate, ComposableTemplate } from "#hub/cluster/catalog/composable-templates.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { IndexSnapshots, SnapshotIndex, SnapshotRecord } from "./index-snapshots.ts";
import { notRestorable, planRestore, type RestorePlan } from "./restore-plan.ts";

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
 * Creates the indices and starts to fill them. Throws request_invalid, not_found, index_exists, settings_invalid; then none
 * of them was created or replaced.
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
  const plans = planRestore(parts.indices, record, body);
  if (body["include_global_state"] !== undefined && isTrue(body["include_global_state"]))
    await restoreTemplates(parts, record);
  const made: MadeIndex[] = [];
  const remove = async (indices: readonly MadeIndex[]): Promise<void> => {
    for (const { target } of indices) await parts.indices.deleteExactly(target);
  };
  try {
    for (const plan of plans) {
      const { name, definition, dataStream, replaced } = plan;
      if (replaced !== undefined) await parts.indices.deleteExactly(replaced);
      made.push({ plan, target: await parts.indices.createExact(name, definition, dataStream) });
    }
  } catch (error) {
    await remove(made);
    throw error;
  }
  const run = async (): Promise<void> => {
    for (const [at, index] of made.entries()) {
      try {
        await fillIndex(parts, request, store, index);
      } catch (error) {
        await remove(made.slice(at + 1)); // they would stay empty
        throw error;
      }
    }
  };
  const done = run();
  done.catch(() => undefined);
  return {
    indices: plans.map(({ name }) => name),
    shards: plans.reduce((sum, { index }) => sum + index.shards, 0),
    done,
  };
}

/** An index without its documents. */
interface MadeIndex {
  readonly plan: RestorePlan;
  readonly target: IndexInfo;
}

async function fillIndex(
  parts: ApiContext,
  request: ApiRequest,
  store: IndexSnapshots,
  { plan: { index, later }, target }: MadeIndex,
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
