/** `_pit` and `_search/point_in_time`: snapshots of indices that many searches read. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { CountedContext } from "#hub/api/context/index-counters.ts";
import { keepAliveLimitMs } from "#hub/api/context/keep-alive.ts";
import type { PointInTime, PointView } from "#hub/api/context/point-contexts.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { RESOLVE_PARAMS } from "#hub/api/parameters/shared-parameters.ts";
import { keyOf } from "#hub/auth/accounts/principal.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { checkHere, targetOf } from "./search.ts";
import { checkSearchParams } from "./search-params.ts";
import { maxSlicesOf, searchedIndices } from "./search-target.ts";

const OPEN_PARAMS = ["keep_alive", "preference", "routing", ...RESOLVE_PARAMS];

export function pointRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/{index}/_pit"],
      params: [...OPEN_PARAMS, "allow_partial_search_results", "max_concurrent_shard_requests"],
      action: "search",
      summary: "Opens a point in time, which searches name in their body.",
      handle: (request) => openPit(parts, request),
    },
    {
      methods: ["DELETE"],
      paths: ["/_pit"],
      params: [],
      action: "search",
      summary: "Closes a point in time.",
      handle: (request) => closePit(parts, request),
    },
    {
      methods: ["POST"],
      paths: ["/{index}/_search/point_in_time"],
      params: [...OPEN_PARAMS, "allow_partial_pit_creation"],
      action: "search",
      summary: "Opens a point in time, as OpenSearch does.",
      handle: (request) => openPoint(parts, request),
    },
    {
      methods: ["DELETE"],
      paths: ["/_search/point_in_time"],
      params: [],
      action: "search",
      summary: "Closes points in time.",
      handle: (request) => closePoints(parts, request, idsOf(request.object()["pit_id"], "pit_id")),
    },
    {
      methods: ["GET", "DELETE"],
      paths: ["/_search/point_in_time/_all"],
      params: [],
      action: "search",
      summary: "Lists the points in time that the caller has open, or closes them.",
      handle: (request) => allPoints(parts, request),
    },
  ];
}

async function openPit(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  if (request.object()["index_filter"] !== undefined)
    throw new AppError(
      "not_offered",
      "[index_filter] isn't offered: name the indices, or filter in the search",
    );
  // As in version 8, a point that lacks shards is refused unless the request allows it.
  const { id, view } = await open(parts, request, request.flag("allow_partial_search_results") ?? false);
  return json({ id, ...(answersAs(800) && { _shards: shardsOf(view) }) });
}

function closePit({ points }: ApiContext, request: ApiRequest): ApiResponse {
  const ids = idsOf(request.object()["id"], "id");
  const closed = points.close(ids, ownerOf(request));
  return json({ succeeded: true, num_freed: closed.length }, closed.length === 0 ? 404 : 200);
}

async function openPoint(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const isPartial = request.flag("allow_partial_pit_creation") ?? true;
  const { id, view, openedMs } = await open(parts, request, isPartial);
  return json({ pit_id: id, _shards: shardsOf(view), creation_time: openedMs });
}

function allPoints(parts: ApiContext, request: ApiRequest): ApiResponse {
  const own = parts.points.list(ownerOf(request));
  if (request.method === "DELETE")
    return closePoints(
      parts,
      request,
      own.map(({ id }) => id),
    );
  return json({ pits: own.map(printPoint) });
}

function closePoints({ points }: ApiContext, request: ApiRequest, ids: readonly string[]): ApiResponse {
  const closed = new Set(points.close(ids, ownerOf(request)));
  const pits = ids.map((id) => ({ successful: closed.has(id), pit_id: id }));
  return json({ pits }, pits.length > 0 && closed.size === 0 ? 404 : 200);
}

function printPoint({ id, openedMs, keepAliveMs }: PointInTime): JsonObject {
  return { pit_id: id, creation_time: openedMs, keep_alive: keepAliveMs };
}

/**
 * `isPartial`: a point may lack shards. Throws request_invalid, index_missing, index_closed, overloaded, and unavailable if it
 * would lack all shards, or some without `isPartial`.
 */
async function open(parts: ApiContext, request: ApiRequest, isPartial: boolean): Promise<PointInTime> {
  const ms = request.duration("keep_alive");
  checkValid(ms === undefined && "[keep_alive] is not specified");
  const target = targetOf(parts, request);
  checkHere(target, parts, "point in time");
  checkSearchParams(request);
  const { indices, targets: wanted } = searchedIndices(parts, target);
  const keepAlive = { ms: ms!, limitMs: keepAliveLimitMs(parts) };
  const maxSlices = maxSlicesOf(parts, target);
  const context = new CountedContext(parts.shards, () =>
    parts.counters.begin(indices, ({ contexts }) => [contexts]),
  );
  return parts.points.open(context, keyOf(request.principal), keepAlive, async (id) => {
    const { targets, failed } = await parts.shards.openPoint({ id, targets: wanted }, request.signal);
    const total = indices.reduce((sum, { settings }) => sum + settings.numberOfShards, 0);
    if (failed.length > 0 && (!isPartial || failed.length === total)) throw lacking(failed.length, total);
    context.begin();
    const shards = { total, failed: failed.length };
    return { targets, names: indices.map(({ name }) => name), maxSlices, shards };
  });
}

/** Administrators may see and close everybody's points. */
function ownerOf(request: ApiRequest): string | undefined {
  return request.may("administer") ? undefined : keyOf(request.principal);
}

function idsOf(given: unknown, name: string): string[] {
  checkValid(given === undefined && `[${name}] is not specified`);
  return (Array.isArray(given) ? (given as unknown[]) : [given]).map(String);
}

function lacking(failed: number, total: number): AppError {
  const which = failed === total ? "none of its shards answers" : `${failed} of ${total} shards don't answer`;
  return new AppError(
    "unavailable",
    `the point in time can't be opened: ${which}; try again in some seconds`,
  );
}

function shardsOf({ shards: { total, failed } }: PointView): JsonObject {
  return { total, successful: total - failed, skipped: 0, failed };
}
