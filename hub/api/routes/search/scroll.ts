/** `_search/scroll`: returns the next pages of a search over one snapshot, and closes the snapshot. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { keepAliveLimitMs } from "#hub/api/context/keep-alive.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { keyOf } from "#hub/auth/accounts/principal.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { SCROLL_ID, type ScrollContexts } from "./scroll-contexts.ts";
import { answerOptions } from "./search.ts";
import { hasObjectTotals, searchAnswer } from "./search-answer.ts";
import { checkStillReadable, searchLimits } from "./search-target.ts";

const PATHS = ["/_search/scroll", "/_search/scroll/{scroll_id}"];

export function scrollRoutes(parts: ApiContext, scrolls: ScrollContexts): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: PATHS,
      params: ["scroll", "scroll_id", "rest_total_hits_as_int", "batched_reduce_size"],
      action: "search",
      summary: "Returns the next page of a scroll.",
      body: "any",
      handle: (request) => nextPage(parts, scrolls, request),
    },
    {
      methods: ["DELETE"],
      paths: PATHS,
      params: ["scroll_id"],
      action: "search",
      summary: "Closes scrolls.",
      body: "any",
      handle: (request) => clear(scrolls, request),
    },
  ];
}

async function nextPage(
  parts: ApiContext,
  scrolls: ScrollContexts,
  request: ApiRequest,
): Promise<ApiResponse> {
  const { ids, keepAlive } = readScroll(request);
  const id = ids[0];
  checkValid(id === undefined && "scrollId is missing");
  checkReadable(ids);
  const { principal, signal } = request;
  const keepAliveMs = keepAliveOf(keepAlive ?? request.query["scroll"]);
  const context = scrolls.take(id!, keyOf(principal), keepAliveMs, keepAliveLimitMs(parts));
  checkStillReadable(parts, context.names);
  const answering = { ...answerOptions(parts, request), scrollId: id! };
  const page = { id: id!, limits: searchLimits(parts), objectTotals: hasObjectTotals(answering) };
  context.busy = true;
  try {
    return json(searchAnswer(await parts.shards.nextPage(page, signal), answering));
  } catch (error) {
    throw scrolls.failureOf(id!, error);
  } finally {
    scrolls.made(id!);
  }
}

function clear(scrolls: ScrollContexts, request: ApiRequest): ApiResponse {
  const { ids } = readScroll(request);
  checkValid(ids.length === 0 && "no scroll ids specified");
  if (!ids.includes("_all")) checkReadable(ids);
  const freed = scrolls.close(ids, request.may("administer") ? undefined : keyOf(request.principal));
  return json({ succeeded: true, num_freed: freed }, freed === 0 ? 404 : 200);
}

/** Throws request_invalid for a text that can't be the id of a scroll, as opposed to one of a scroll that has ended. */
function checkReadable(ids: readonly string[]): void {
  if (ids.every((id) => SCROLL_ID.test(id))) return;
  throw new AppError("request_invalid", "Cannot parse scroll id");
}

/** Returns ids from the path, the parameters, a JSON body, or a body that is an id. Throws parsing. */
function readScroll(request: ApiRequest): {
  readonly ids: readonly string[];
  readonly keepAlive: string | undefined;
} {
  const given = request.list("scroll_id") ?? [];
  const text = request.body.toString("utf8").trim();
  if (text === "") return { ids: given, keepAlive: undefined };
  if (!text.startsWith("{")) return { ids: text.split(",").map((id) => id.trim()), keepAlive: undefined };
  const body = request.value();
  if (!isObject(body)) return { ids: given, keepAlive: undefined };
  for (const key of Object.keys(body)) {
    if (key === "scroll" || key === "scroll_id") continue;
    throw new AppError(
      "request_invalid",
      `Unknown parameter [${key}] in request body or parameter is of the wrong type[${typeof body[key]}] `,
    );
  }
  const ids = body["scroll_id"];
  const keepAlive = body["scroll"];
  return {
    ids: ids === undefined ? given : (Array.isArray(ids) ? ids : [ids]).map(String),
    keepAlive: typeof keepAlive === "string" ? keepAlive : undefined,
  };
}

function keepAliveOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseDuration(text, 1);
}
