/** `_rank_eval`: measures the quality of the hits of searches by documents that people rated. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { errorDetail, errorIn } from "#hub/api/http/error-body.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { RESOLVE_PARAMS } from "#hub/api/parameters/shared-parameters.ts";
import { TemplateBudget } from "#hub/scripts/mustache.ts";
import { parseJsonSteps } from "#hub/search/options/json-steps.ts";
import type { RawJson } from "#hub/search/options/json-writer.ts";
import { requestVersion } from "#hub/search/options/request-version.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";
import { MIB } from "#proto/kit/units.ts";
import {
  checkRanking,
  documentKey,
  type RankEvaluation,
  type RatedRequest,
  readRankEvaluation,
} from "./rank-eval-request.ts";
import { numberOrName, type RankMetric } from "./rank-metrics.ts";
import { runSearch } from "./run-search.ts";
import { targetOf } from "./search.ts";
import { checkSearchType } from "./search-params.ts";
import { renderedJson } from "./template-search.ts";

/** Maximum bytes of the hits of all searches of a request, which its answer lists. */
const MAX_HIT_BYTES = 32 * MIB;

export function rankEvalRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_rank_eval", "/{index}/_rank_eval"],
      params: [...RESOLVE_PARAMS, "search_type"],
      action: "search",
      summary: "Measures the quality of searches by documents that people rated.",
      handle: (request) => evaluate(parts, request),
    },
  ];
}

interface Hit {
  readonly _index: string;
  readonly _id: string;
}

/** Result of a search: its hits, or why there are none. */
type Outcome = { readonly hits: readonly Hit[] } | { readonly error: AppError };

async function evaluate(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  request.requireBody();
  checkSearchType(request.query["search_type"]);
  const evaluation = readRankEvaluation(await request.objectInSlices());
  const searches = await searchesOf(parts, evaluation);
  const outcomes = await new Run(parts, request, evaluation.running).all(searches);
  const details: JsonObject = Object.create(null) as JsonObject;
  const failures: JsonObject = Object.create(null) as JsonObject;
  const scores: number[] = [];
  const slices = new TimeSlices();
  for (const [at, outcome] of outcomes.entries()) {
    if (slices.isDue) await slices.pause();
    const rated = evaluation.requests[at]!;
    if ("error" in outcome) failures[rated.id] = { error: errorDetail(outcome.error, parts.errors) };
    else details[rated.id] = qualityOf(rated, outcome.hits, evaluation.metric, scores);
  }
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return json({ metric_score: numberOrName(mean), details, failures });
}

/** Returns the bodies of the searches. Throws the errors of invalid templates and searches. */
async function searchesOf(
  parts: ApiContext,
  { requests, metric }: RankEvaluation,
): Promise<readonly JsonObject[]> {
  const budget = new TemplateBudget();
  const slices = new TimeSlices();
  const searches: JsonObject[] = [];
  for (const { search, isTemplate, summaryFields } of requests) {
    if (slices.isDue) await slices.pause();
    const body = isTemplate ? await renderedJson(parts, search, budget) : search;
    checkRanking(body);
    searches.push({
      ...body,
      size: metric.k,
      _source: summaryFields.length === 0 ? false : summaryFields,
    });
  }
  return searches;
}

/** Runs the searches of one request, several at a time. */
class Run {
  readonly #parts: ApiContext;
  readonly #request: ApiRequest;
  readonly #running: number;
  #bytes = 0;

  constructor(parts: ApiContext, request: ApiRequest, running: number) {
    this.#parts = parts;
    this.#request = request;
    this.#running = running;
  }

  /** Returns the outcomes in the order of `searches`. Throws cancelled, forbidden, request_invalid. */
  async all(searches: readonly JsonObject[]): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    const waiting = [...searches.entries()];
    const runNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        outcomes[next[0]] = await this.#one(next[1]);
    };
    try {
      await Promise.all(Array.from({ length: this.#running }, runNext));
    } finally {
      waiting.length = 0;
    }
    return outcomes;
  }

  async #one(body: JsonObject): Promise<Outcome> {
    const { signal } = this.#request;
    if (signal.aborted) throw new AppError("cancelled", "the client disconnected before the answer");
    let hits: RawJson;
    try {
      const target = targetOf(this.#parts, this.#request);
      const form = { typedKeys: false, objectTotals: false, allowPartial: true, useCache: true };
      ({ hits } = await runSearch(this.#parts, { target, body, ...form, signal }));
    } catch (error) {
      const failure = errorIn(toAppError(error), requestVersion());
      if (failure.code === "cancelled" || failure.code === "forbidden") throw failure;
      return { error: failure };
    }
    this.#bytes += hits.bytes.length;
    if (this.#bytes > MAX_HIT_BYTES)
      throw new AppError(
        "request_invalid",
        `the hits of a rank_eval request may have at most ${MAX_HIT_BYTES} bytes; name fewer [summary_fields], or lower [k]`,
      );
    return { hits: await parsed(hits) };
  }
}

/** Parses hits; other requests are served meanwhile. */
async function parsed(hits: RawJson): Promise<readonly Hit[]> {
  const slices = new TimeSlices();
  const steps = parseJsonSteps(hits.text);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value as readonly Hit[];
    if (slices.isDue) await slices.pause();
  }
}

/** Returns the entry of `details` for one search, and adds its score to `scores`. */
function qualityOf(
  { ratings }: RatedRequest,
  hits: readonly Hit[],
  metric: RankMetric,
  scores: number[],
): JsonObject {
  const ratingOf = hits.map(({ _index, _id }) => ratings.get(documentKey(_index, _id)));
  const { score, details } = metric.rate(ratingOf, [...ratings.values()]);
  scores.push(score);
  const unrated = hits.filter((_hit, at) => ratingOf[at] === undefined);
  return {
    metric_score: numberOrName(score),
    unrated_docs: unrated.map(({ _index, _id }) => ({ _index, _id })),
    hits: hits.map((hit, at) => ({ hit, rating: ratingOf[at] ?? null })),
    metric_details: { [metric.name]: details },
  };
}
