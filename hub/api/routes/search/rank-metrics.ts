/** Metrics of `_rank_eval`: the quality of the order of a search's hits, given the ratings of documents. */

import { optionalInteger } from "#hub/api/parameters/values.ts";
import { describe, objectOf, onlyEntry } from "#hub/search/options/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction, type NumberText } from "#proto/kit/number-text.ts";

/** Maximum number of hits of one search that are rated, as many as a search may return. */
const MAX_K = 10_000;
const DEFAULT_K = 10;

/** Ratings of the hits of one search, best hit first; undefined for unrated hits. */
export type HitRatings = readonly (number | undefined)[];

interface Quality {
  readonly score: number;
  /** Details that the answer prints below the metric's name. */
  readonly details: JsonObject;
}

export interface RankMetric {
  readonly name: string;
  /** Number of hits that are rated. */
  readonly k: number;
  /** `known` are all ratings of the request, in any order. */
  rate(hits: HitRatings, known: readonly number[]): Quality;
}

type Rate = RankMetric["rate"];

interface Kind {
  readonly keys: readonly string[];
  /** Parses the options. Throws request_invalid. */
  make(options: JsonObject): Rate;
}

const KINDS: Readonly<Record<string, Kind>> = {
  precision: { keys: ["relevant_rating_threshold", "ignore_unlabeled"], make: precision },
  recall: { keys: ["relevant_rating_threshold"], make: recall },
  mean_reciprocal_rank: { keys: ["relevant_rating_threshold"], make: reciprocalRank },
  dcg: { keys: ["normalize", "unknown_doc_rating"], make: discountedGain },
  expected_reciprocal_rank: {
    keys: ["maximum_relevance", "unknown_doc_rating"],
    make: expectedReciprocalRank,
  },
};

/** Parses `metric` of a body. Throws parsing, request_invalid. */
export function readMetric(given: unknown): RankMetric {
  const [name, value] = onlyEntry(objectOf(given, "metric"), "metric");
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind === undefined)
    throw new AppError(
      "parsing",
      `unable to parse EvaluationMetric with name [${name}]: parser not found; known are ${Object.keys(KINDS).join(", ")}`,
    );
  const options = objectOf(value, name);
  const unknown = Object.keys(options).find((key) => key !== "k" && !kind.keys.includes(key));
  if (unknown !== undefined)
    throw new AppError("request_invalid", `[${name}] unknown field [${unknown}], parser not found`);
  return { name, k: windowOf(options["k"]), rate: kind.make(options) };
}

function windowOf(given: unknown): number {
  const k = optionalInteger(given, "k") ?? DEFAULT_K;
  if (k <= 0) throw new AppError("request_invalid", "Window size k must be positive.");
  if (k <= MAX_K) return k;
  throw new AppError("request_invalid", `Window size k must be at most [${MAX_K}], but is [${k}]`);
}

function precision(options: JsonObject): Rate {
  const threshold = thresholdOf(options);
  const ignoresUnrated = flagOf(options, "ignore_unlabeled");
  return (hits) => {
    const counted = ignoresUnrated ? hits.filter((rating) => rating !== undefined) : hits;
    const relevant = countRelevant(counted, threshold);
    return {
      score: share(relevant, counted.length),
      details: { relevant_docs_retrieved: relevant, docs_retrieved: counted.length },
    };
  };
}

function recall(options: JsonObject): Rate {
  const threshold = thresholdOf(options);
  return (hits, known) => {
    const found = countRelevant(hits, threshold);
    const relevant = countRelevant(known, threshold);
    return {
      score: share(found, relevant),
      details: { relevant_docs_retrieved: found, relevant_docs: relevant },
    };
  };
}

function reciprocalRank(options: JsonObject): Rate {
  const threshold = thresholdOf(options);
  return (hits) => {
    const index = hits.findIndex((rating) => rating !== undefined && rating >= threshold);
    return {
      score: index < 0 ? 0 : 1 / (index + 1),
      details: { first_relevant: index < 0 ? -1 : index + 1 },
    };
  };
}

function discountedGain(options: JsonObject): Rate {
  const normalizes = flagOf(options, "normalize");
  const unknownRating = optionalInteger(options["unknown_doc_rating"], "unknown_doc_rating");
  return (hits, known) => {
    const gain = gainOf(hits.map((rating) => rating ?? unknownRating));
    const best = normalizes ? gainOf(known.toSorted((a, b) => b - a).slice(0, hits.length)) : 0;
    const normalized = best === 0 ? 0 : gain / best;
    return {
      score: normalizes ? normalized : gain,
      details: {
        dcg: numberOrName(gain),
        ...(best !== 0 && { ideal_dcg: numberOrName(best), normalized_dcg: numberOrName(normalized) }),
        unrated_docs: countUnrated(hits),
      },
    };
  };
}

/** Hits without a rating add nothing but keep their rank. */
function gainOf(ratings: HitRatings): number {
  return ratings.reduce<number>(
    (sum, rating, index) => sum + (rating === undefined ? 0 : (2 ** rating - 1) / Math.log2(index + 2)),
    0,
  );
}

function expectedReciprocalRank(options: JsonObject): Rate {
  const maximum = optionalInteger(options["maximum_relevance"], "maximum_relevance");
  if (maximum === undefined) throw new AppError("request_invalid", "Required [maximum_relevance]");
  const unknownRating = optionalInteger(options["unknown_doc_rating"], "unknown_doc_rating");
  return (hits) => {
    let stillLooking = 1;
    let score = 0;
    for (const [index, given] of hits.entries()) {
      const rating = given ?? unknownRating;
      if (rating === undefined) continue;
      const satisfies = (2 ** rating - 1) / 2 ** maximum;
      score += (stillLooking * satisfies) / (index + 1);
      stillLooking *= 1 - satisfies;
    }
    return { score, details: { unrated_docs: countUnrated(hits) } };
  };
}

function thresholdOf(options: JsonObject): number {
  const threshold = optionalInteger(options["relevant_rating_threshold"], "relevant_rating_threshold") ?? 1;
  if (threshold >= 0) return threshold;
  throw new AppError("request_invalid", "Relevant rating threshold for precision must be positive integer.");
}

function flagOf(options: JsonObject, name: string): boolean {
  const value = options[name] ?? false;
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw new AppError("request_invalid", `[${name}] must be true or false, but is ${describe(value)}`);
}

function countRelevant(ratings: HitRatings, threshold: number): number {
  return ratings.filter((rating) => rating !== undefined && rating >= threshold).length;
}

function countUnrated(ratings: HitRatings): number {
  return ratings.filter((rating) => rating === undefined).length;
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** Returns numbers that JSON doesn't have by name, as clients expect. */
export function numberOrName(value: number): NumberText | number | string {
  return Number.isFinite(value) ? fraction(value) : String(value);
}
