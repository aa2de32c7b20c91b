/** Checks of a change of aliases against the other aliases of all indices, and against the blocks of the changed ones. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { checkBlocks } from "#hub/api/context/index-blocks.ts";
import type { AliasAction, IndexInfo, Indices } from "#hub/api/ports/indices.ts";
import { searchLimits } from "#hub/api/routes/search/search-target.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { checkDeletable } from "./indices.ts";

/**
 * Throws what checkBlocks throws for the indices that the steps change, and request_invalid for those that mustn't be
 * deleted.
 */
export function checkTargets(indices: Indices, steps: readonly AliasAction[]): void {
  const targets = (isRemoval: boolean): IndexInfo[] => {
    const names = steps.flatMap(({ kind, index }) =>
      (kind === "remove_index") === isRemoval ? [index] : [],
    );
    return [...new Set(names)].flatMap((name) => indices.get(name) ?? []);
  };
  checkBlocks(targets(false), "metadata_write");
  checkDeletable(indices, targets(true));
}

/** Throws illegal_state_exception if after the steps an alias had several write indices. */
export function checkWriteIndices(indices: Indices, steps: readonly AliasAction[]): void {
  for (const [alias, writes] of writeIndicesAfter(indices, steps)) {
    if (writes.size <= 1) continue;
    const names = [...writes].sort().join(",");
    throw new AppError("request_invalid", `alias [${alias}] has more than one write index [${names}]`, {
      data: { type: "illegal_state_exception", status: 500 },
    });
  }
}

/** Returns the names of the write indices of each alias that the steps add. Indices are removed before other steps. */
function writeIndicesAfter(indices: Indices, steps: readonly AliasAction[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const removed = new Set<string>();
  for (const step of steps) {
    if (step.kind === "add") found.set(step.alias, new Set());
    else if (step.kind === "remove_index") removed.add(step.index);
  }
  if (found.size === 0) return found;
  for (const { name, aliases } of indices.all()) {
    if (removed.has(name)) continue;
    for (const [alias, info] of Object.entries(aliases))
      if (info.is_write_index === true) found.get(alias)?.add(name);
  }
  for (const step of steps) {
    if (step.kind === "remove_index") continue;
    if (step.kind === "add" && step.info.is_write_index === true) found.get(step.alias)?.add(step.index);
    else found.get(step.alias)?.delete(step.index);
  }
  return found;
}

/** Throws request_invalid for a filter that isn't a query. */
export async function checkFilters(parts: ApiContext, steps: readonly AliasAction[]): Promise<void> {
  const limits = searchLimits(parts);
  for (const { filter, alias } of distinctFilters(steps)) {
    try {
      await parts.shards.check({ body: { query: filter }, limits });
    } catch (cause) {
      throw new AppError("request_invalid", `failed to parse filter for alias [${alias}]`, { cause });
    }
  }
}

/** Returns each filter once, with the first alias that has it. The aliases of one action share an object. */
function distinctFilters(
  steps: readonly AliasAction[],
): Iterable<{ readonly filter: JsonObject; readonly alias: string }> {
  const objects = new Map<JsonObject, string>();
  for (const step of steps) {
    if (step.kind !== "add") continue;
    const { alias, info } = step;
    if (info.filter !== undefined && !objects.has(info.filter)) objects.set(info.filter, alias);
  }
  const found = new Map<string, { readonly filter: JsonObject; readonly alias: string }>();
  for (const [filter, alias] of objects) {
    const text = writeJson(filter);
    if (!found.has(text)) found.set(text, { filter, alias });
  }
  return found.values();
}
