/** `_async_search`: searches whose answer is fetched later, with progress by shard. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { AsyncFound, AsyncSearch, AsyncWork } from "#hub/api/context/async-searches.ts";
import { type Task, taskHeaders } from "#hub/api/context/tasks.ts";
import { errorDetail, errorIn } from "#hub/api/http/error-body.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { keyOf } from "#hub/auth/accounts/principal.ts";
import { answersAs, requestVersion } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";
import { readPoint, runOwnedSearch } from "./point-search.ts";
import { answerOptions, checkCounted, checkPointRequest, targetOf } from "./search.ts";
import { hasObjectTotals, searchAnswer } from "./search-answer.ts";
import { bodyWithParams, SEARCH_PARAMS } from "./search-params.ts";
import {
  checkedIndices,
  checkStillReadable,
  grantedNames,
  type SearchTarget,
  searchLimits,
} from "./search-target.ts";
import { skipsAbove } from "./skipped-shards.ts";

/** Default time that a submission waits for the answer, and the maximum for any request. */
const DEFAULT_WAIT_MS = 1_000;
const MAX_WAIT_MS = HOUR_MS;
/** Default and maximum time that an answer is kept. */
const MAX_KEEP_ALIVE_MS = 5 * DAY_MS;
const MIN_KEEP_ALIVE_MS = 1_000;
/** Maximum characters of a request that are shown with its task. */
const MAX_DESCRIPTION = 1_000;

const SUBMIT_PARAMS = [
  ...SEARCH_PARAMS.filter((name) => name !== "scroll"),
  "wait_for_completion_timeout",
  "keep_on_completion",
  "keep_alive",
  "ccs_minimize_roundtrips",
];

export function asyncSearchRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/_async_search", "/{index}/_async_search"],
      params: SUBMIT_PARAMS,
      action: "search",
      summary: "Begins a search in the background, and answers it if it ends soon.",
      handle: (request) => submit(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_async_search/{id}"],
      params: ["wait_for_completion_timeout", "keep_alive", "typed_keys", "rest_total_hits_as_int"],
      action: "search",
      summary: "Returns the answer of a search in the background, or how far it is.",
      handle: (request) => show(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_async_search/status/{id}"],
      params: ["keep_alive"],
      action: "search",
      summary: "Returns how far a search in the background is, without its answer.",
      handle: (request) => showStatus(parts, request),
    },
    {
      methods: ["DELETE"],
      paths: ["/_async_search/{id}"],
      params: [],
      action: "search",
      summary: "Ends a search in the background and deletes its answer.",
      handle: (request) => remove(parts, request),
    },
    ...openSearchRoutes(parts),
  ];
}

/** Routes of the same interface in OpenSearch's form. */
function openSearchRoutes(parts: ApiContext): Route[] {
  const [path, one] = ["/_plugins/_asynchronous_search", "/_plugins/_asynchronous_search/{id}"];
  return [
    {
      methods: ["POST"],
      paths: [path],
      params: [...SUBMIT_PARAMS, "index"],
      action: "search",
      summary: "Begins a search in the background, as OpenSearch does.",
      handle: (request) => {
        const target = { ...targetOf(parts, request), expression: request.query["index"] };
        return submit(parts, request, target, openSearchState);
      },
    },
    {
      methods: ["GET"],
      paths: [one],
      params: ["wait_for_completion_timeout", "keep_alive", "typed_keys", "rest_total_hits_as_int"],
      action: "search",
      summary: "Returns the answer of a search in the background, as OpenSearch does.",
      handle: (request) => show(parts, request, openSearchState),
    },
    {
      methods: ["DELETE"],
      paths: [one],
      params: [],
      action: "search",
      summary: "Ends a search in the background, as OpenSearch does.",
      handle: (request) => remove(parts, request),
    },
  ];
}

function remove(parts: ApiContext, request: ApiRequest): ApiResponse {
  const { asyncSearches } = parts;
  // The owner may end a search even without the right to read its result.
  asyncSearches.delete(asyncSearches.get(request.segment("id"), keyOf(request.principal)));
  return json({ acknowledged: true });
}

function openSearchState(
  { id, found, startMs, expiresMs, endedMs }: AsyncSearch,
  isKept: boolean,
): JsonObject {
  const ended = found === undefined ? "FAILED" : isKept ? "STORE_RESIDENT" : "SUCCEEDED";
  return {
    ...(isKept && { id }),
    state: endedMs === undefined ? "RUNNING" : ended,
    start_time_in_millis: startMs,
    expiration_time_in_millis: expiresMs,
  };
}

/** Prints a search; the id is omitted if the search isn't kept. */
type Print = (search: AsyncSearch, isKept: boolean) => JsonObject;

async function submit(
  parts: ApiContext,
  request: ApiRequest,
  target: SearchTarget = targetOf(parts, request),
  print: Print = state,
): Promise<ApiResponse> {
  const { asyncSearches } = parts;
  const keepAliveMs = keepAliveOf(request) ?? MAX_KEEP_ALIVE_MS;
  const waitMs = request.duration("wait_for_completion_timeout") ?? DEFAULT_WAIT_MS;
  const keeps = request.flag("keep_on_completion") ?? false;
  const body = bodyWithParams(await request.objectInSlices(), request);
  checkCounted(body, request);
  if (body["pit"] !== undefined) checkPointRequest(request);
  const searched = await checkedShards(parts, request, target, body);
  const search = asyncSearches.submit({
    owner: keyOf(request.principal),
    description: describe(target, body),
    headers: taskHeaders(request),
    keepAliveMs,
    ...searched,
    typedKeys: request.flag("typed_keys") ?? false,
    run: searchOf(parts, request, target, body),
    done: (progress) => parts.shards.progress(progress),
    forget: (progress) => parts.shards.closeContexts([progress]),
  });
  await waitFor(parts, request, search.task, waitMs);
  if (request.signal.aborted) {
    // The id was never sent to a client.
    asyncSearches.delete(search);
    throw new AppError("cancelled", "the client disconnected before the answer");
  }
  if (search.endedMs === undefined) {
    void search.task.ended.then(() => asyncSearches.keep(search));
    return answer(parts, request, search, print);
  }
  if (keeps) asyncSearches.keep(search);
  else asyncSearches.delete(search);
  return answer(parts, request, search, (each) => print(each, keeps));
}

async function show(parts: ApiContext, request: ApiRequest, print: Print = state): Promise<ApiResponse> {
  const search = own(parts, request);
  checkValid(
    request.flag("typed_keys") === true &&
      !search.work.typedKeys &&
      "[typed_keys] is a parameter of the submission: the answer is kept as it was wanted there",
  );
  const waitMs = request.duration("wait_for_completion_timeout") ?? 0;
  if (waitMs > 0) await waitFor(parts, request, search.task, waitMs);
  return answer(parts, request, search, print);
}

async function showStatus(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const search = own(parts, request);
  const { found, error } = search;
  const status = error?.status ?? (found === undefined ? undefined : 200);
  return json({
    ...state(search, true),
    _shards: await shardsOf(search),
    ...(status !== undefined && { completion_status: status }),
  });
}

/** Returns the search that a request names, and extends its life. Throws not_found, forbidden. */
function own(parts: ApiContext, request: ApiRequest): AsyncSearch {
  const { asyncSearches } = parts;
  const search = asyncSearches.get(request.segment("id"), keyOf(request.principal), keepAliveOf(request));
  checkStillReadable(parts, search.work.names);
  return search;
}

/** Throws request_invalid. */
function keepAliveOf(request: ApiRequest): number | undefined {
  const ms = request.duration("keep_alive");
  checkValid(
    ms !== undefined &&
      ms < MIN_KEEP_ALIVE_MS &&
      `[keep_alive] must be greater or equals than 1 second, got:${request.query["keep_alive"]}`,
    ms !== undefined &&
      ms > MAX_KEEP_ALIVE_MS &&
      "[keep_alive] must be at most 5 days: answers are kept in memory",
  );
  return ms;
}

/** Returns the indices and the number of shards of a search. Throws the errors of an invalid body or of its indices. */
async function checkedShards(
  parts: ApiContext,
  request: ApiRequest,
  target: SearchTarget,
  body: JsonObject,
): Promise<Pick<AsyncWork, "names" | "shards">> {
  const { pit, slice: _slice, ...plain } = body;
  const limits = searchLimits(parts, target);
  await parts.shards.check({ body: plain, limits });
  if (pit === undefined) {
    const { indices, targets } = await checkedIndices(parts, target, () => Promise.resolve());
    const shards = targets.reduce(
      (sum, { shards }, at) => sum + (shards?.length ?? indices[at]!.settings.numberOfShards),
      0,
    );
    return { names: grantedNames(indices), shards };
  }
  const { id } = readPoint(pit);
  const names =
    parts.points.list(keyOf(request.principal)).find((point) => point.id === id)?.view.names ?? [];
  const found = names.map((name) => parts.indices.get(name)).filter((index) => index !== undefined);
  return {
    names: grantedNames(found),
    shards: found.reduce((sum, { settings }) => sum + settings.numberOfShards, 0),
  };
}

function searchOf(
  parts: ApiContext,
  request: ApiRequest,
  target: SearchTarget,
  body: JsonObject,
): (signal: AbortSignal, progress: string) => Promise<AsyncFound> {
  const run = {
    target,
    owner: keyOf(request.principal),
    body,
    typedKeys: request.flag("typed_keys") ?? false,
    objectTotals: hasObjectTotals(answerOptions(parts, request)),
    allowPartial: request.flag("allow_partial_search_results") ?? true,
    useCache: request.flag("request_cache") ?? true,
    ...skipsAbove(request, body),
  };
  const isCountOnly = body["size"] === 0;
  return async (signal, progress) => {
    const found = await runOwnedSearch(parts, { ...run, signal, progress });
    return { ...found, isCountOnly };
  };
}

function describe({ expression }: SearchTarget, body: JsonObject): string {
  const text = `async_search{indices[${expression ?? ""}], source[${JSON.stringify(body)}]}`;
  return text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION)}…`;
}

/** Resolves when a search has ended, the time is over, or the client has disconnected. */
async function waitFor(
  { clock }: ApiContext,
  { signal }: ApiRequest,
  task: Task,
  waitMs: number,
): Promise<void> {
  const over = new AbortController();
  const sleeping = clock.sleep(Math.min(MAX_WAIT_MS, waitMs), AbortSignal.any([over.signal, signal]));
  await Promise.race([task.ended, sleeping]);
  over.abort();
}

/** Returns the answer as far as it is available. */
async function answer(
  parts: ApiContext,
  request: ApiRequest,
  search: AsyncSearch,
  print: Print,
): Promise<ApiResponse> {
  const { found, error: thrown } = search;
  const options = answerOptions(parts, request);
  if (found !== undefined) {
    const { response, pointId, isCountOnly } = found;
    const form = { ...options, pointId, countOnly: isCountOnly };
    return json({ ...print(search, true), response: searchAnswer(response, form) });
  }
  const objects = hasObjectTotals(options);
  const response = {
    took: Math.round(search.task.runningMs()),
    timed_out: false,
    num_reduce_phases: 0,
    _shards: await shardsOf(search),
    hits: { total: objects ? { value: 0, relation: "gte" } : 0, max_score: null, hits: [] },
  };
  const error = thrown === undefined ? undefined : errorIn(thrown, requestVersion());
  const body = {
    ...print(search, true),
    response,
    ...(error !== undefined && { error: errorDetail(error, parts.errors) }),
  };
  return json(body, error?.status ?? 200);
}

function state({ id, found, startMs, expiresMs, endedMs }: AsyncSearch, isKept: boolean): JsonObject {
  return {
    ...(isKept && { id }),
    is_partial: found === undefined || found.response.shards.failures.length > 0 || found.response.timedOut,
    is_running: endedMs === undefined,
    start_time_in_millis: startMs,
    expiration_time_in_millis: expiresMs,
    ...(endedMs !== undefined && answersAs(800) && { completion_time_in_millis: endedMs }),
  };
}

async function shardsOf({ id, work, found, error, endedMs }: AsyncSearch): Promise<JsonObject> {
  if (found !== undefined) {
    const { total, successful, skipped = 0, failures } = found.response.shards;
    return { total, successful, skipped, failed: failures.length };
  }
  const failures = error?.data["failures"];
  const failed = error === undefined ? 0 : Array.isArray(failures) ? failures.length : work.shards;
  const done = endedMs === undefined ? Math.min(work.shards, await progressOf(work, id)) : 0;
  return { total: work.shards, successful: done, skipped: 0, failed };
}

/** If a host is too busy to report its progress, it adds no shards. */
async function progressOf(work: AsyncSearch["work"], id: string): Promise<number> {
  try {
    return await work.done(id);
  } catch {
    return 0;
  }
}
