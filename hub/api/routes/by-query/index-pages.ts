/** Pages of documents of this hub's indices, read from one snapshot. */

import { randomUUID } from "node:crypto";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import {
  checkedIndices,
  maxSlicesOf,
  type SearchTarget,
  searchLimits,
} from "#hub/api/routes/search/search-target.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { DocumentPages, FoundDocument } from "./change-by-query.ts";

/** Documents of a page unless the request sets the size. */
export const DEFAULT_PAGE = 1000;

/**
 * Time during which refreshes of an index are repeated before it is read. A refresh waits a few seconds for copies that
 * aren't up to date, but fails immediately while the log is unreachable, so there is a pause after it.
 */
const WHOLE_MS = 30_000;
const WHOLE_PAUSE_MS = 500;

/**
 * Refreshes an index of which no document may be missed. Throws unavailable if the copies aren't up to date after half
 * a minute, and the reason of an aborted `signal`.
 */
export async function refreshWhole(
  { maintenance, clock }: Pick<ApiContext, "maintenance" | "clock">,
  index: IndexInfo,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonic() + WHOLE_MS;
  for (;;) {
    signal.throwIfAborted();
    const { behind } = await maintenance.refresh([index]);
    if (behind === undefined) return;
    if (clock.monotonic() >= untilMs) throw behind;
    await clock.sleep(WHOLE_PAUSE_MS, signal);
  }
}

/**
 * Opens the documents of `body` (query, sort, _source); with `slice` only those of one slice. Throws index_missing,
 * parsing.
 */
export async function openIndexPages(
  parts: ApiContext,
  target: SearchTarget,
  body: JsonObject,
  pageSize: number,
  signal: AbortSignal,
  slice?: unknown,
): Promise<DocumentPages> {
  const { shards } = parts;
  const limits = searchLimits(parts);
  const search = {
    ...body,
    sort: body["sort"] ?? ["_doc"],
    size: pageSize,
    version: true,
    seq_no_primary_term: true,
  };
  const { targets } = await checkedIndices(parts, target, () => shards.check({ body: search, limits }));
  const id = randomUUID();
  const form = { typedKeys: false, objectTotals: false };
  const { total, documents } = await shards.openDocuments(
    { ...form, id, targets, body: search, limits, slice, maxSlices: maxSlicesOf(parts, target) },
    signal,
  );
  let first: readonly FoundDocument[] | undefined = documents;
  return {
    total,
    async next(stop) {
      const ready = first;
      first = undefined;
      return ready ?? (await shards.nextDocuments({ ...form, id, limits }, stop)).documents;
    },
    async close() {
      shards.closeContexts([id]);
    },
  };
}

/** Returns the number of slices of `auto`: the shards of the index that has the fewest. Throws index_missing. */
export function shardsOf({ indices }: ApiContext, { expression, options }: SearchTarget): number {
  const counts = indices.resolve(expression, options).map(({ settings }) => settings.numberOfShards);
  return counts.length === 0 ? 1 : Math.min(...counts);
}
