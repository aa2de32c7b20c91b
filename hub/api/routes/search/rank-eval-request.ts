/** The body of `_rank_eval`: searches, or templates of them, with the documents that people rated. */

import { optionalInteger, optionalText, texts } from "#hub/api/parameters/values.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type RankMetric, readMetric } from "./rank-metrics.ts";

/** Maximum number of searches of a request: all their hits are held in memory. */
const MAX_REQUESTS = 1000;
/** Maximum number of hits that all searches of a request may request together. */
const MAX_HITS = 100_000;
/** Maximum number of a request's searches that run at a time, unless it sets fewer. */
const MAX_RUNNING = 4;

const KEYS: readonly string[] = ["requests", "metric", "templates", "max_concurrent_searches"];
const REQUEST_KEYS: readonly string[] = [
  "id",
  "request",
  "ratings",
  "params",
  "template_id",
  "summary_fields",
];
const RATING_KEYS: readonly string[] = ["_index", "_id", "rating"];

export interface RatedRequest {
  readonly id: string;
  /** The search, or the template and params of one, as in `_search/template`. */
  readonly search: JsonObject;
  readonly isTemplate: boolean;
  /** Ratings by `documentKey`. */
  readonly ratings: ReadonlyMap<string, number>;
  /** Fields of each hit that the answer shows. */
  readonly summaryFields: readonly string[];
}

export interface RankEvaluation {
  readonly requests: readonly RatedRequest[];
  readonly metric: RankMetric;
  readonly running: number;
}

/** Returns the name of a document in messages. */
export function documentKey(index: string, id: string): string {
  return `{"_index":${JSON.stringify(index)},"_id":${JSON.stringify(id)}}`;
}

/** Parses a body. Throws parsing, request_invalid. */
export function readRankEvaluation(body: JsonObject): RankEvaluation {
  checkKeys(body, KEYS, "rank_eval");
  checkRequired(body, ["requests", "metric"]);
  const metric = readMetric(body["metric"]);
  const templates = readTemplates(body["templates"]);
  const given = listOf(body["requests"], "requests");
  if (given.length === 0)
    throw invalid(
      "Cannot evaluate ranking if no search requests with rated results are provided. Seen: []; add one to [requests]",
    );
  checkCount(given.length, metric.k);
  const requests = given.map((each) => readRequest(objectOf(each, "requests"), templates));
  const ids = new Set<string>();
  for (const { id } of requests) {
    if (ids.has(id)) throw invalid(`Found two requests with the id [${id}]: answers are told apart by it`);
    ids.add(id);
  }
  return { requests, metric, running: runningOf(body["max_concurrent_searches"]) };
}

/** Throws request_invalid for a search with parts that don't belong to a ranking. */
export function checkRanking(search: JsonObject): void {
  const { suggest, aggs, aggregations, highlight, explain, profile } = search;
  if (suggest !== undefined) throw invalid("Query in rated requests should not contain a suggest section.");
  if (aggs !== undefined || aggregations !== undefined)
    throw invalid("Query in rated requests should not contain aggregations.");
  if (highlight !== undefined)
    throw invalid("Query in rated requests should not contain a highlighter section.");
  if (explain === true || explain === "true")
    throw invalid("Query in rated requests should not use explain.");
  if (profile === true || profile === "true")
    throw invalid("Query in rated requests should not use profile.");
}

function checkCount(requests: number, k: number): void {
  if (requests > MAX_REQUESTS)
    throw invalid(
      `a rank_eval request may hold at most ${MAX_REQUESTS} searches, but has ${requests}; send the others in another one`,
    );
  if (requests * k > MAX_HITS)
    throw invalid(
      `the searches of a rank_eval request may ask for at most ${MAX_HITS} hits together, but [k] of ${k} times ${requests} searches is more; lower [k], or send fewer`,
    );
}

function runningOf(given: unknown): number {
  const running = optionalInteger(given, "max_concurrent_searches") ?? MAX_RUNNING;
  if (running < 1) throw invalid("max_concurrent_searches must be positive");
  return Math.min(running, MAX_RUNNING);
}

function readTemplates(given: unknown): ReadonlyMap<string, JsonObject> {
  const templates = new Map<string, JsonObject>();
  for (const each of given === undefined ? [] : listOf(given, "templates")) {
    const entry = objectOf(each, "templates");
    checkKeys(entry, ["id", "template"], "script_with_id");
    checkRequired(entry, ["id", "template"]);
    const { template } = entry;
    const named = typeof template === "string" ? { source: template } : objectOf(template, "template");
    templates.set(textOf(entry, "id"), named);
  }
  return templates;
}

function readRequest(given: JsonObject, templates: ReadonlyMap<string, JsonObject>): RatedRequest {
  checkKeys(given, REQUEST_KEYS, "request");
  checkRequired(given, ["id", "ratings"]);
  const id = textOf(given, "id");
  return {
    id,
    ...searchOf(given, id, templates),
    ratings: readRatings(given["ratings"], id),
    summaryFields: texts(given["summary_fields"], "summary_fields"),
  };
}

function searchOf(
  given: JsonObject,
  id: string,
  templates: ReadonlyMap<string, JsonObject>,
): Pick<RatedRequest, "search" | "isTemplate"> {
  const params = objectOf(given["params"] ?? {}, "params");
  const hasParams = Object.keys(params).length > 0;
  const templateId = optionalText(given["template_id"], "template_id");
  if (given["request"] !== undefined) {
    if (hasParams || templateId !== undefined)
      throw invalid(
        "Ambiguous rated request: Set both, evaluation request verbatim and request template parameters.",
      );
    const search = objectOf(given["request"], "request");
    checkRanking(search);
    return { search, isTemplate: false };
  }
  if (!hasParams) throw invalid("Need to set at least test request or request template parameters.");
  if (templateId === undefined)
    throw invalid("If template parameters are supplied need to set id of template to apply them to too.");
  const template = templates.get(templateId);
  if (template === undefined)
    throw invalid(`the rated request [${id}] names the template [${templateId}], which [templates] hasn't`);
  return { search: { ...template, params }, isTemplate: true };
}

function readRatings(given: unknown, id: string): ReadonlyMap<string, number> {
  const ratings = new Map<string, number>();
  for (const each of listOf(given, "ratings")) {
    const entry = objectOf(each, "ratings");
    checkKeys(entry, RATING_KEYS, "rated_document");
    checkRequired(entry, RATING_KEYS);
    const key = documentKey(textOf(entry, "_index"), textOf(entry, "_id"));
    if (ratings.has(key))
      throw invalid(`Found duplicate rated document key [${key}] in evaluation request [${id}]`);
    ratings.set(key, optionalInteger(entry["rating"], "rating")!);
  }
  return ratings;
}

function textOf(json: JsonObject, key: string): string {
  const text = optionalText(json[key], key) ?? "";
  if (text === "") throw invalid(`[${key}] must not be empty`);
  return text;
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (isObject(value)) return [value];
  throw new AppError("parsing", `[${what}] must be a list`);
}

function checkRequired(json: JsonObject, keys: readonly string[]): void {
  const missing = keys.filter((key) => json[key] === undefined || json[key] === null);
  if (missing.length > 0) throw invalid(`Required [${missing.join(", ")}]`);
}

function checkKeys(json: JsonObject, known: readonly string[], owner: string): void {
  const unknown = Object.keys(json).find((key) => !known.includes(key));
  if (unknown !== undefined) throw invalid(`[${owner}] unknown field [${unknown}], parser not found`);
}

function invalid(message: string): AppError {
  return new AppError("request_invalid", message);
}
