/** Checks of a change of aliases against the other aliases of all indices, and against the blocks of the changed ones. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { checkBlocks } from "#hub/api/context/index-blocks.ts";
import type { AliasAction, IndexInfo, Indices } from "#hub/api/ports/indices.ts";
import { searchLimits } from "#hub/api/routes/search/search-target.ts";
import { AppError } from "#proto/kit/errors.ts";
import { checkDeletable } from "./indices.ts";

/** Throws what checkBlocks throws for the indices that the steps change, and request_invalid for those that mustn't be deleted. */
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
  for (const alias of new Set(steps.flatMap((step) => (step.kind === "add" ? [step.alias] : [])))) {
    const writes = new Set(
      indices.all().flatMap(({ name, aliases }) => (aliases[alias]?.is_write_index === true ? [name] : [])),
    );
    for (const step of steps) {
      if (step.kind === "add" && step.alias === alias && step.info.is_write_index === true)
        writes.add(step.index);
      else if (step.kind === "remove_index" || step.alias === alias) writes.delete(step.index);
    }
    if (writes.size <= 1) continue;
    const names = [...writes].sort().join(",");
    throw new AppError("request_invalid", `alias [${alias}] has more than one write index [${names}]`, {
      data: { type: "illegal_state_exception", status: 500 },
    });
  }
}

/** Throws request_invalid for a filter that is no query. */
export async function checkFilters(parts: ApiContext, steps: readonly AliasAction[]): Promise<void> {
  const limits = searchLimits(parts);
  for (const step of steps) {
    if (step.kind !== "add" || step.info.filter === undefined) continue;
    try {
      await parts.shards.check({ body: { query: step.info.filter }, limits });
    } catch (cause) {
      throw new AppError("request_invalid", `failed to parse filter for alias [${step.alias}]`, { cause });
    }
  }
}
