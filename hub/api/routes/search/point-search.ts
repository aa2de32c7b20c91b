/** Searches of a point in time that the body names. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { keepAliveLimitMs } from "#hub/api/context/keep-alive.ts";
import type { PointView } from "#hub/api/context/point-contexts.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import type { SearchCall } from "#hub/host/contract/calls.ts";
import type { Found } from "#hub/host/contract/found.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { readOptions, required, text } from "#hub/search/options/options.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { resolveLookups } from "./lookups.ts";
import { withTiebreak } from "./point-order.ts";
import {
  checkPartial,
  countedSearch,
  runSearch,
  type SearchRun,
  timedBody,
  withBoostedIndices,
} from "./run-search.ts";
import { searchLimits } from "./search-target.ts";

const POINT_OPTIONS = {
  id: required(text("of the point in time", undefined)),
  keep_alive: text("for how long it is kept from now on", undefined),
} as const;

/** Parses the option `pit` of a search. Throws parsing, request_invalid. */
export function readPoint(given: unknown): { readonly id: string; readonly keepAliveMs: number | undefined } {
  const { id, keep_alive: keepAlive } = readOptions("pit", objectOf(given, "pit"), POINT_OPTIONS, "option");
  if (keepAlive === undefined) return { id, keepAliveMs: undefined };
  try {
    return { id, keepAliveMs: parseDuration(keepAlive, 1) };
  } catch (cause) {
    const why = `failed to parse setting [keep_alive] with value [${keepAlive}] as a time value; write for example 1m`;
    throw new AppError("request_invalid", why, { cause });
  }
}

/** A search with its sender. */
export interface OwnedSearch extends SearchRun {
  /** Principal.id. */
  readonly owner: string;
}

/** Result of a search. */
export interface Searched {
  readonly response: Found;
  /** Id of the point in time that was searched. */
  readonly pointId?: string;
}

/**
 * Searches the point in time that the body names, else the currently visible documents. Throws what `runSearch` throws,
 * not_found.
 */
export async function runOwnedSearch(parts: ApiContext, run: OwnedSearch): Promise<Searched> {
  if (run.body["pit"] === undefined) return { response: await runSearch(parts, run) };
  const { pit, slice, ...given } = run.body;
  const { id, keepAliveMs } = readPoint(pit);
  const keepAlive =
    keepAliveMs === undefined ? undefined : { ms: keepAliveMs, limitMs: keepAliveLimitMs(parts) };
  const response = await parts.points.during(id, run.owner, keepAlive, ({ view }) =>
    searchView(
      parts,
      run,
      view,
      {
        point: id,
        slice,
        ...(run.progress !== undefined && { progress: run.progress }),
        ...(run.skipsAbove !== undefined && { skipsAbove: run.skipsAbove }),
      },
      given,
    ),
  );
  checkPartial(response, run.allowPartial);
  return { response, pointId: id };
}

async function searchView(
  parts: ApiContext,
  { target, typedKeys, objectTotals, signal }: SearchRun,
  view: PointView,
  point: Pick<SearchCall, "point" | "slice" | "progress" | "skipsAbove">,
  given: JsonObject,
): Promise<Found> {
  const indices = indicesOf(parts, view);
  const expression = view.names.join(",");
  const limits = searchLimits(parts, { ...target, expression });
  const resolved = await resolveLookups(parts, withTiebreak(given), expression);
  const body = withBoostedIndices(parts, resolved, target.options);
  const { maxSlices, targets } = view;
  // Cached results belong to the newest snapshot.
  const form = { limits, typedKeys, objectTotals, useCache: false, nodeId: parts.errors.nodeId };
  const call = { ...point, targets, maxSlices, ...timedBody(parts, body), ...form };
  return countedSearch(parts, indices, body, () => parts.shards.search(call, signal));
}

/** Returns the indices of a point in time. Throws index_missing if one was deleted, or the sender may not read it. */
export function indicesOf(
  { indices }: Pick<ApiContext, "indices">,
  { names, targets }: PointView,
): IndexInfo[] {
  return names.map((name, at) => {
    const index = indices.get(name);
    if (index?.uuid === targets[at]!.uuid) return index;
    throw new AppError("index_missing", `no such index [${name}]`, {
      data: { index: name, index_uuid: targets[at]!.uuid },
    });
  });
}
