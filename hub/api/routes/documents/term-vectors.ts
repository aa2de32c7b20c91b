/** `_termvectors` and `_mtermvectors`: the terms of documents, stored or sent. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { errorDetail, validationError } from "#hub/api/http/error-body.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { isTrue, optionalInteger, optionalText, texts } from "#hub/api/parameters/values.ts";
import { routingOf } from "#hub/api/parameters/write-options.ts";
import { searchedIndices } from "#hub/api/routes/search/search-target.ts";
import { objectOf, scalarText } from "#hub/search/options/json.ts";
import { RawJson } from "#hub/search/options/json-writer.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import type { TermVectorFilter, TermVectorOptions } from "#hub/search/term-vectors.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { getDocument } from "./get-result.ts";

/** Maximum number of documents of one request. */
const MAX_DOCUMENTS = 1_000;

const PARAMS = [
  "fields",
  "field_statistics",
  "term_statistics",
  "offsets",
  "positions",
  "payloads",
  "preference",
  "parent",
  "routing",
  "realtime",
  "version",
  "version_type",
];

/** Keys of the body for one document; others are refused. */
const KEYS = [
  "_index",
  "_type",
  "_id",
  "doc",
  "fields",
  "filter",
  "field_statistics",
  "term_statistics",
  "offsets",
  "positions",
  "payloads",
  "per_field_analyzer",
  "routing",
  "_routing",
  "version",
  "_version",
  "version_type",
  "_version_type",
  "versionType",
];

const OLD_KEYS: Readonly<Record<string, string>> = {
  _routing: "routing",
  _version: "version",
  _version_type: "version_type",
  versionType: "version_type",
};

export function termVectorRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: [
        "/{index}/{type}/{id}/_termvectors",
        "/{index}/{type}/_termvectors",
        "/{index}/_termvectors",
        "/{index}/_termvectors/{id}",
      ],
      params: PARAMS,
      action: "search",
      summary: "Shows the terms of a document with their places and frequencies.",
      handle: async (request) => json(await vectorsOf(parts, request, request.object(), true)),
    },
    {
      methods: ["GET", "POST"],
      paths: ["/_mtermvectors", "/{index}/_mtermvectors", "/{index}/{type}/_mtermvectors"],
      params: [...PARAMS, "ids"],
      action: "search",
      summary: "Shows the terms of several documents.",
      handle: (request) => several(parts, request),
    },
  ];
}

async function several(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { docs, ids, parameters = {} } = request.object();
  const shared = objectOf(parameters, "parameters");
  const named = Array.isArray(ids) ? ids : request.list("ids");
  const items = Array.isArray(docs) ? docs : (named ?? []).map((id: unknown) => ({ _id: id }));
  if (items.length === 0) throw validationError(["multi term vectors: no documents requested"]);
  if (items.length > MAX_DOCUMENTS)
    throw new AppError(
      "request_invalid",
      `_mtermvectors takes at most ${MAX_DOCUMENTS} documents, but ${items.length} were asked for; send several requests`,
    );
  const bodies = items.map((item) => {
    if (!isObject(item)) throw new AppError("request_invalid", "docs array element should include an object");
    const body = { ...shared, ...item };
    // From 7 on an old name fails the whole request, not only its document.
    if (answersAs(700)) checkKeys(body);
    return body;
  });
  const answers: JsonObject[] = [];
  for (const body of bodies) answers.push(await oneOfSeveral(parts, request, body));
  return json({ docs: answers });
}

async function oneOfSeveral(parts: ApiContext, request: ApiRequest, item: JsonObject): Promise<JsonObject> {
  try {
    return await vectorsOf(parts, request, item, false);
  } catch (error) {
    const fault = toAppError(error);
    if (fault.status >= 500) throw fault;
    const { _index: index = request.path["index"], _type: type = request.path["type"], _id: id } = item;
    return { _index: index, _type: type ?? null, _id: id ?? null, error: errorDetail(fault, parts.errors) };
  }
}

/** `alone`: the document that the path names. Throws request_invalid, index_missing. */
async function vectorsOf(
  parts: ApiContext,
  request: ApiRequest,
  body: JsonObject,
  alone: boolean,
): Promise<JsonObject> {
  const startMs = parts.clock.monotonic();
  checkKeys(body);
  const index = optionalText(body["_index"], "_index") ?? request.path["index"] ?? "";
  const id = alone ? request.path["id"] : optionalText(body["_id"], "_id");
  if (index === "") throw validationError(["index is missing"]);
  const options = readOptions(request, body);
  const sent = body["doc"];
  if (id === undefined && sent === undefined) throw validationError(["_id or doc is missing"]);
  if (sent !== undefined) {
    const document = objectOf(sent, "doc");
    const { term_vectors, ...place } = await inShard(
      parts,
      index,
      undefined,
      document,
      options,
      request.signal,
    );
    return { ...place, _version: 0, found: true, took: tookOf(parts, startMs), term_vectors };
  }
  const spec = {
    index,
    type: optionalText(body["_type"], "_type") ?? request.path["type"],
    id: id!,
    routing: optionalText(body["routing"] ?? body["_routing"], "routing") ?? routingOf(request).routing,
    source: undefined,
    storedFields: undefined,
    realtime: request.flag("realtime"),
  };
  const read = await getDocument(parts, spec);
  if (read.document === null)
    return { ...read.body, _version: 0, found: false, took: tookOf(parts, startMs) };
  const source = objectOf(new RawJson(read.document.source).parse(), "_source");
  const name = read.document.index;
  const { term_vectors } = await inShard(parts, name, id, source, options, request.signal);
  const { _source, _seq_no, _primary_term, ...place } = read.body;
  return { ...place, took: tookOf(parts, startMs), term_vectors };
}

function tookOf({ clock }: ApiContext, startMs: number): number {
  return Math.round(clock.monotonic() - startMs);
}

/** Throws request_invalid. */
function checkKeys(body: JsonObject): void {
  const unknown = Object.keys(body).find((key) => !KEYS.includes(key));
  if (unknown !== undefined)
    throw new AppError(
      "request_invalid",
      unknown === "dfs"
        ? "[dfs] isn't offered for term vectors; their statistics are those of one shard"
        : `The parameter ${unknown} is not valid for a term vector request!`,
    );
  for (const [old, name] of Object.entries(OLD_KEYS)) {
    if (!(old in body)) continue;
    if (answersAs(700))
      throw new AppError("request_invalid", `The parameter ${old} is not valid for a term vector request!`);
    warnDeprecated(`Deprecated field [${old}] used, expected [${name}] instead`);
  }
}

function readOptions(request: ApiRequest, body: JsonObject): TermVectorOptions {
  const flag = (name: string, fallback: boolean): boolean =>
    body[name] === undefined ? (request.flag(name) ?? fallback) : isTrue(body[name]);
  return {
    fields: body["fields"] === undefined ? request.list("fields") : texts(body["fields"], "fields"),
    positions: flag("positions", true),
    offsets: flag("offsets", true),
    fieldStatistics: flag("field_statistics", true),
    termStatistics: flag("term_statistics", false),
    analyzers: readAnalyzers(body["per_field_analyzer"]),
    filter: body["filter"] === undefined ? undefined : readFilter(objectOf(body["filter"], "filter")),
  };
}

const FILTER_KEYS = [
  "max_num_terms",
  "min_term_freq",
  "max_term_freq",
  "min_doc_freq",
  "max_doc_freq",
  "min_word_length",
  "max_word_length",
];
const FILTERED_TERMS = 25;

/** Throws parsing, request_invalid. */
function readFilter(given: JsonObject): TermVectorFilter {
  const unknown = Object.keys(given).find((key) => !FILTER_KEYS.includes(key));
  if (unknown !== undefined)
    throw new AppError(
      "parsing",
      `failed to parse term vectors request. the field [${unknown}] is not valid for filter parameter for term vector request`,
      { data: { type: "parse_exception" } },
    );
  const whole = (key: string, fallback: number): number => {
    const value = optionalInteger(given[key], key) ?? fallback;
    if (value < 0) throw new AppError("request_invalid", `[${key}] must be at least 0, but is ${value}`);
    return value;
  };
  const endless = Number.MAX_SAFE_INTEGER;
  return {
    maxTerms: whole("max_num_terms", FILTERED_TERMS),
    termFreq: [whole("min_term_freq", 1), whole("max_term_freq", endless)],
    docFreq: [whole("min_doc_freq", 0), whole("max_doc_freq", endless)],
    length: [whole("min_word_length", 0), whole("max_word_length", 0) || endless],
  };
}

/** Throws parsing. */
function readAnalyzers(given: unknown): ReadonlyMap<string, string> {
  const entries = Object.entries(objectOf(given ?? {}, "per_field_analyzer"));
  return new Map(entries.map(([field, name]) => [field, scalarText(name, "per_field_analyzer")]));
}

/** Returns the terms with the index's name and type. Throws index_missing, index_closed, request_invalid. */
async function inShard(
  parts: ApiContext,
  expression: string,
  id: string | undefined,
  source: JsonObject,
  options: TermVectorOptions,
  signal: AbortSignal,
): Promise<JsonObject> {
  const target = { expression, types: undefined, options: { allowNoIndices: false } };
  const { targets } = searchedIndices(parts, target);
  const call = { targets, id, source, options };
  const { index, typeName, termVectors } = await parts.shards.termVectors(call, signal);
  return { _index: index, _type: typeName, term_vectors: termVectors };
}
