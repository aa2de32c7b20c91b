/** Nested objects are made before a search reads them, which must not keep the thread for as long as that takes. */

import { withPauses } from "#hub/search/aggregations/tree/steps.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";

/** Makes the nested objects of paths in a shard, with pauses. Throws cancelled, memory_limit. */
export async function prepareNested(
  { scope }: ShardContext,
  control: SearchControl,
  ...paths: readonly (ReadonlySet<string> | undefined)[]
): Promise<void> {
  for (const set of paths) for (const path of set ?? []) await withPauses(scope.prepare(path), control);
}
