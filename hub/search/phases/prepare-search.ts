/**
 * Prepares nested objects and runtime fields before a search reads them, in steps, so that the thread isn't blocked for
 * that long.
 */

import type { Searcher, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { untilTimeout, withPauses } from "#hub/search/aggregations/tree/steps.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import {
  type RuntimeField,
  runtimeMapping,
  withRuntimeFields,
} from "#hub/search/scripting/runtime-fields.ts";
import type { SearchShard } from "./contract.ts";

/** Makes the nested objects of paths in a shard, with pauses. Throws cancelled, memory_limit. */
export async function prepareNested(
  { scope }: ShardContext,
  control: SearchControl,
  ...paths: readonly (ReadonlySet<string> | undefined)[]
): Promise<void> {
  for (const set of paths) for (const path of set ?? []) await withPauses(scope.prepare(path), control);
}

/**
 * Returns the snapshot of a shard with runtime fields, computed with pauses; once the time of the request is over, only
 * the segments until then. Throws cancelled, memory_limit, script_failed, mapping_parse.
 */
export async function prepareRuntimeFields(
  fields: readonly RuntimeField[],
  shard: SearchShard,
  control: SearchControl,
): Promise<Searcher> {
  const { searcher } = shard;
  if (fields.length === 0) return searcher;
  const mapping = runtimeMapping(fields, searcher.mapping);
  const segments: SegmentReader[] = [];
  for (const segment of searcher.segments) {
    const seen = await untilTimeout(withRuntimeFields(fields, shard, segment), control);
    if (seen === undefined) break;
    segments.push(seen);
  }
  return { segments, mapping, totalDocs: searcher.totalDocs, close: () => searcher.close() };
}
