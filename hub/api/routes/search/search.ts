/** `_search`: finds documents. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { CountedContext, searchCounts } from "#hub/api/context/index-counters.ts";
import { keepAliveLimitMs } from "#hub/api/context/keep-alive.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import { keyOf } from "#hub/auth/accounts/principal.ts";
import { contextFault } from "#hub/search/options/context-fault.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { resolveLookups } from "./lookups.ts";
import { runOwnedSearch } from "./point-search.ts";
import { checkPartial, countedSearch } from "./run-search.ts";
import type { ScrollContexts } from "./scroll-contexts.ts";
import { hasObjectTotals, type SearchAnswerOptions, searchAnswer } from "./search-answer.ts";
import { bodyWithParams, findsNoHits, SEARCH_PARAMS } from "./search-params.ts";
import {
  checkedIndices,
  grantedNames,
  maxSlicesOf,
  parsePreference,
  type SearchTarget,
  searchLimits,
} from "./search-target.ts";
import { skipsAbove } from "./skipped-shards.ts";

export function searchRoutes(parts: ApiContext, scrolls: ScrollContexts): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_search", "/{index}/_search", "/{index}/{type}/_search"],
      params: SEARCH_PARAMS,
      action: "search",
      summary: "Finds documents and aggregates over them.",
      handle: (request) => search(parts, scrolls, request),
    },
  ];
}

async function search(parts: ApiContext, scrolls: ScrollContexts, request: ApiRequest): Promise<ApiResponse> {
  return answerSearch(parts, scrolls, request, await request.objectInSlices());
}

/** Answers a search with `given` instead of the request's own body. Throws the errors of _search. */
export async function answerSearch(
  parts: ApiContext,
  scrolls: ScrollContexts,
  request: ApiRequest,
  given: JsonObject,
): Promise<ApiResponse> {
  const body = bodyWithParams(given, request);
  checkCounted(body, request);
  if (body["pit"] !== undefined) checkPointRequest(request);
  const scroll = scrollOf(body, request);
  if (scroll !== undefined) return openScroll(parts, scrolls, scroll, request);
  const owner = keyOf(request.principal);
  const { response, pointId } = await runOwnedSearch(parts, {
    target: targetOf(parts, request),
    owner,
    body,
    typedKeys: request.flag("typed_keys") ?? false,
    objectTotals: hasObjectTotals(answerOptions(parts, request)),
    allowPartial: request.flag("allow_partial_search_results") ?? true,
    useCache: request.flag("request_cache") ?? true,
    ...skipsAbove(request, body),
    signal: request.signal,
  });
  const options = { ...answerOptions(parts, request), countOnly: findsNoHits(body), pointId };
  return json(searchAnswer(response, options));
}

/** Checks that a request with a point in time names no indices: the point determines them. Throws request_invalid. */
export function checkPointRequest({ query, path }: ApiRequest): void {
  checkPointTarget({ ...query, index: path["index"] });
}

/** The same for the target given by a request or by a header of _msearch. Throws validation errors. */
export function checkPointTarget(given: Readonly<Record<string, unknown>>): void {
  checkValid(
    given["index"] !== undefined &&
      "[indices] cannot be used with point in time. Do not specify any index with point in time.",
    ["ignore_unavailable", "allow_no_indices", "expand_wildcards"].some(
      (name) => given[name] !== undefined,
    ) && "[indicesOptions] cannot be used with point in time",
    given["routing"] !== undefined && "[routing] cannot be used with point in time",
    given["preference"] !== undefined && "[preference] cannot be used with point in time",
    given["scroll"] !== undefined && "using [point in time] is not allowed in a scroll context",
  );
}

/** Refuses a limited total printed as a number, which can't express that there are more hits. Throws request_invalid. */
export function checkCounted({ track_total_hits: limit }: JsonObject, request: ApiRequest): void {
  if (request.flag("rest_total_hits_as_int") !== true || !(Number(limit) >= 0) || typeof limit === "boolean")
    return;
  throw new AppError(
    "request_invalid",
    `[rest_total_hits_as_int] cannot be used if the tracking of total hits is not accurate, got ${Number(limit)}`,
  );
}

/** Returns the shards that a request's path and parameters select. Throws request_invalid. */
export function targetOf({ cluster }: Pick<ApiContext, "cluster">, request: ApiRequest): SearchTarget {
  return {
    expression: request.path["index"],
    types: request.path["type"],
    options: resolveOptions(request),
    ...parsePreference(request.query["preference"], cluster.nodes()),
  };
}

/** Returns the options of an answer that a request gives. */
export function answerOptions(parts: ApiContext, request: ApiRequest): SearchAnswerOptions {
  return {
    errors: parts.errors,
    totalAsInt: request.flag("rest_total_hits_as_int") ?? false,
    reduceSize: request.integer("batched_reduce_size"),
    countOnly: false,
  };
}

/** Refuses a target on other hubs because a context is kept by the hub that opens it. Throws request_invalid. */
export function checkHere(
  { copies }: SearchTarget,
  { cluster }: ApiContext,
  what: "scroll" | "point in time",
): void {
  const [own] = cluster.nodes();
  if (copies?.only === undefined || copies.only.includes(own!.id)) return;
  throw new AppError(
    "request_invalid",
    `a ${what} reads the copies of the hub that receives it: send it to the hub that [preference] names`,
  );
}

interface Scroll {
  readonly body: JsonObject;
  readonly keepAliveMs: number;
}

function scrollOf(body: JsonObject, request: ApiRequest): Scroll | undefined {
  const keepAliveMs = request.duration("scroll");
  return keepAliveMs === undefined ? undefined : { body, keepAliveMs };
}

/** Refuses options that a scroll can't have. Throws request_invalid. */
function checkScroll(body: JsonObject, request: ApiRequest): void {
  checkValid(
    typeof body["from"] === "number" && body["from"] > 0 && "using [from] is not allowed in a scroll context",
    body["size"] === 0 && "[size] cannot be [0] in a scroll context",
    body["rescore"] !== undefined && "using [rescore] is not allowed in a scroll context",
    body["track_total_hits"] === false && "disabling [track_total_hits] is not allowed in a scroll context",
  );
  if (request.flag("request_cache") === true) {
    checkValid(answersAs(700) && "[request_cache] cannot be used in a scroll context");
    warnDeprecated(
      "Explicitly set [request_cache] for a scroll query is deprecated and will return a 400 error in future versions",
    );
  }
}

/** Answers the first page of a scroll. */
async function openScroll(
  parts: ApiContext,
  scrolls: ScrollContexts,
  { body, keepAliveMs }: Scroll,
  request: ApiRequest,
): Promise<ApiResponse> {
  checkScroll(body, request);
  const target = targetOf(parts, request);
  checkHere(target, parts, "scroll");
  const limits = searchLimits(parts, target);
  const size = Number(body["size"] ?? 0);
  checkValid(
    size > limits.maxResultWindow &&
      `Batch size is too large, size must be less than or equal to: [${limits.maxResultWindow}] but was [${size}]. Scroll batch sizes cost as much memory as result windows so they are controlled by the [index.max_result_window] index level setting.`,
  );
  const { slice, ...search } = await resolveLookups(parts, body, target.expression);
  const call = { body: search, limits };
  const { indices, targets } = await checkedIndices(parts, target, () => parts.shards.check(call));
  const { principal, signal } = request;
  const answering = answerOptions(parts, request);
  const form = {
    typedKeys: request.flag("typed_keys") ?? false,
    objectTotals: hasObjectTotals(answering),
    maxSlices: maxSlicesOf(parts, target),
  };
  const opener = { owner: keyOf(principal), names: grantedNames(indices) };
  const context = new CountedContext(parts.shards, () =>
    parts.counters.begin(indices, (counts) => [
      counts.contexts,
      ...searchCounts(counts, body["stats"]).map(({ scrolling }) => scrolling),
    ]),
  );
  const id = scrolls.open(context, opener, keepAliveMs, keepAliveLimitMs(parts));
  context.begin();
  try {
    const response = await countedSearch(parts, indices, body, async () => {
      if (isObject(body["collapse"])) throw contextFault("cannot use `collapse` in a scroll context");
      return parts.shards.openContext({ ...call, ...form, id, targets, slice }, signal);
    });
    checkPartial(response, request.flag("allow_partial_search_results") ?? true);
    scrolls.made(id);
    return json(searchAnswer(response, { ...answering, scrollId: id }));
  } catch (error) {
    scrolls.close([id]);
    throw error;
  }
}
