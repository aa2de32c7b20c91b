/** `_msearch`: several searches in one request, each with a header line and a body line. */

import { warnOfParameters } from "#hub/api/compat/interface-compatibility.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { errorDetail, errorIn } from "#hub/api/http/error-body.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { ResolveOptions } from "#hub/api/ports/indices.ts";
import { keyOf } from "#hub/auth/accounts/principal.ts";
import { parseJson } from "#hub/search/options/json.ts";
import { RawJson, writeJson } from "#hub/search/options/json-writer.ts";
import { answersAs, requestVersion } from "#hub/search/options/request-version.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";
import { MIB } from "#proto/kit/units.ts";
import { runOwnedSearch } from "./point-search.ts";
import { answerOptions, checkCounted, checkPointTarget } from "./search.ts";
import { hasObjectTotals, searchAnswer } from "./search-answer.ts";
import { checkSearchParams, checkSearchType, findsNoHits, withoutNegatives } from "./search-params.ts";
import { parsePreference, type SearchTarget, searchLimits } from "./search-target.ts";
import { skipsAbove } from "./skipped-shards.ts";

/** Maximum number of searches of a request: all their answers are held in memory. */
const MAX_SEARCHES = 1000;
/** Maximum size of all bodies together, the same as for one search. */
const MSEARCH_BODY_BYTES = 10 * MIB;

/** Parameters of _msearch. */
export const MSEARCH_PARAMS: readonly string[] = [
  "search_type",
  "max_concurrent_searches",
  "max_concurrent_shard_requests",
  "pre_filter_shard_size",
  "batched_reduce_size",
  "typed_keys",
  "rest_total_hits_as_int",
  "ccs_minimize_roundtrips",
  "ignore_unavailable",
  "allow_no_indices",
  "expand_wildcards",
  "ignore_throttled",
];

const NEWLINE = 0x0a;

interface Item {
  readonly header: JsonObject;
  readonly body: JsonObject;
}

export function msearchRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_msearch", "/{index}/_msearch", "/{index}/{type}/_msearch"],
      params: MSEARCH_PARAMS,
      action: "search",
      maxBodyBytes: MSEARCH_BODY_BYTES,
      summary: "Answers several searches in one request.",
      body: "ndjson",
      handle: (request) => multiSearch(parts, request),
    },
  ];
}

/** Lines that aren't searches, but make them. */
export interface BodyMaker {
  /** Throws what is wrong with a line before any is answered. */
  readonly check: (line: JsonObject) => void;
  /** Makes the search of a line. */
  readonly make: (line: JsonObject) => Promise<JsonObject>;
}

/** Answers the searches of a request. Throws only errors of the whole request. */
export async function multiSearch(
  parts: ApiContext,
  request: ApiRequest,
  maker?: BodyMaker,
): Promise<ApiResponse> {
  request.requireBody();
  checkSearchParams(request);
  if ((request.integer("max_concurrent_searches") ?? 1) < 1)
    throw new AppError("request_invalid", "maxConcurrentSearchRequests must be positive");
  const startMs = parts.clock.monotonic();
  const items = await readItems(request.body);
  checkValid(items.length === 0 && "no requests added");
  const slices = new TimeSlices();
  for (const { body } of items) {
    if (slices.isDue) await slices.pause();
    checkCounted(body, request);
    if (maker === undefined) await checkParsed(parts, body);
    else maker.check(body);
  }
  const answers: Buffer[] = [];
  for (const item of items) {
    // Refused searches never wait, so others get no time without this pause.
    if (slices.isDue) await slices.pause();
    if (request.signal.aborted) throw new AppError("cancelled", "the client disconnected before the answer");
    // As bytes: an answer as values, or all answers as texts, takes several times as much memory.
    answers.push(Buffer.from(writeJson(await searchOne(parts, request, item, maker))));
  }
  return json(joined(answers, Math.round(parts.clock.monotonic() - startMs)));
}

const COMMA = Buffer.from(",");
const END = Buffer.from("]}");

function joined(answers: readonly Buffer[], tookMs: number): RawJson {
  const head = Buffer.from(`{${answersAs(700) ? `"took":${tookMs},` : ""}"responses":[`);
  const items = answers.flatMap((answer, at) => (at > 0 ? [COMMA, answer] : [answer]));
  return new RawJson(Buffer.concat([head, ...items, END]));
}

async function searchOne(
  parts: ApiContext,
  request: ApiRequest,
  { header, body: given }: Item,
  maker: BodyMaker | undefined,
): Promise<JsonObject> {
  try {
    const body = withoutNegatives(maker === undefined ? given : await maker.make(given));
    if (maker !== undefined) checkCounted(body, request);
    if (body["pit"] !== undefined) checkPointTarget({ index: request.path["index"], ...header });
    const { response, pointId } = await runOwnedSearch(parts, {
      target: targetOf(parts, header, request),
      owner: keyOf(request.principal),
      body,
      typedKeys: request.flag("typed_keys") ?? false,
      objectTotals: hasObjectTotals(answerOptions(parts, request)),
      allowPartial: header["allow_partial_search_results"] !== false,
      useCache: header["request_cache"] !== false,
      ...skipsAbove(request, body, header["search_type"]),
      signal: request.signal,
    });
    const options = { ...answerOptions(parts, request), countOnly: findsNoHits(body), pointId };
    return { ...searchAnswer(response, options), status: 200 };
  } catch (error) {
    const failure = errorIn(toAppError(error), requestVersion());
    if (failure.code === "cancelled") throw failure;
    return { error: errorDetail(failure, parts.errors), status: failure.status };
  }
}

/** A search that can't be read is an error of the whole request, as with the reference. Throws parsing. */
async function checkParsed(parts: ApiContext, body: JsonObject): Promise<void> {
  // Hosts parse searches: this thread loads the parser with the first request that needs it.
  const { parseSearchRequest } = await import("#hub/search/request/search-request.ts");
  const { pit: _, ...search } = body;
  try {
    parseSearchRequest(withoutNegatives(search), searchLimits(parts));
  } catch (error) {
    // All else is an error of the item.
    if (error instanceof AppError && error.code === "parsing") throw error;
  }
}

/** Parses pairs of lines; an empty first line is an empty header. Throws parsing, request_invalid. */
async function readItems(bytes: Buffer): Promise<Item[]> {
  if (bytes.at(-1) !== NEWLINE) {
    throw new AppError("request_invalid", "The msearch request must be terminated by a newline [\n]");
  }
  const lines = bytes.toString("utf8").split("\n").slice(0, -1);
  const items: Item[] = [];
  const slices = new TimeSlices();
  for (let at = 0; at < lines.length; at += 2) {
    const header = lines[at]!.trim();
    const body = lines[at + 1]?.trim();
    if (body === undefined) {
      if (header === "") break;
      throw new AppError(
        "request_invalid",
        `line ${at + 1} of the msearch request has no body line after it`,
      );
    }
    if (items.length >= MAX_SEARCHES) {
      throw new AppError(
        "request_invalid",
        `an msearch request may hold at most ${MAX_SEARCHES} searches; send the others in another one`,
      );
    }
    if (slices.isDue) await slices.pause();
    const item = { header: lineOf(header, at + 1), body: lineOf(body, at + 2) };
    const type = item.header["search_type"] ?? item.header["searchType"];
    checkSearchType(type);
    if (typeof type === "string") warnOfParameters("/_msearch", { search_type: type });
    items.push(item);
  }
  return items;
}

function lineOf(text: string, number: number): JsonObject {
  const value = text === "" ? {} : parseJson(text);
  if (isObject(value)) return value;
  throw new AppError("request_invalid", `line ${number} of the msearch request must be a JSON object`);
}

function targetOf(parts: ApiContext, header: JsonObject, request: ApiRequest): SearchTarget {
  const defaults = resolveOptions(request);
  const {
    ignore_unavailable: ignoreUnavailable,
    allow_no_indices: allowNoIndices,
    expand_wildcards: states,
  } = header;
  const options: ResolveOptions = {
    ...defaults,
    ...(typeof ignoreUnavailable === "boolean" && { ignoreUnavailable }),
    ...(typeof allowNoIndices === "boolean" && { allowNoIndices }),
    ...((states === "all" || states === "open" || states === "closed" || states === "none") && {
      expandWildcards: states,
    }),
  };
  return {
    expression: names(header["index"] ?? header["indices"]) ?? request.path["index"],
    types: names(header["type"] ?? header["types"]) ?? request.path["type"],
    options,
    ...parsePreference(names(header["preference"]), parts.cluster.nodes()),
  };
}

function names(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = (Array.isArray(value) ? value : [value]).map(String).join(",");
  return text === "" ? undefined : text;
}
