/** `rescore`: the best hits of a shard get scores from a second, dearer query as well, and are ordered anew. */

import type { ShardResult } from "#hub/search/execute/collect-shard.ts";
import type { RankedHit } from "#hub/search/execute/hits/ranked-hit.ts";
import { compareHits } from "#hub/search/execute/hits/top-hits.ts";
import { anything, integer, number, oneOf, readOptions } from "#hub/search/options/options.ts";
import type { QueryParser } from "#hub/search/parse/query-parser.ts";
import type { Query, Weight } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";

/** One second pass. */
export interface Rescore {
  readonly query: Query;
  /** Best hits of each shard that it sees. */
  readonly windowSize: number;
  /** Factor of the scores before it. */
  readonly queryWeight: number;
  /** Factor of the scores that its query gives. */
  readonly rescoreQueryWeight: number;
  readonly combine: (first: number, second: number) => number;
  /** Name of `combine` in explanations. */
  readonly combineName: string;
}

const COMBINE: Readonly<Record<string, Rescore["combine"]>> = {
  total: (first, second) => first + second,
  multiply: (first, second) => first * second,
  avg: (first, second) => (first + second) / 2,
  max: Math.max,
  min: Math.min,
};

const OPTIONS = {
  window_size: integer("best hits of each shard that are scored again", 10, 1),
  query: anything("the second query and how scores are combined"),
} as const;

const QUERY_OPTIONS = {
  rescore_query: anything("the second query"),
  query_weight: number("factor of the scores before", 1),
  rescore_query_weight: number("factor of the second query's scores", 1),
  score_mode: oneOf("how both are combined", ["total", "multiply", "avg", "max", "min"], "total"),
} as const;

/** Parses the option: one second pass or a list of them, each for the result of the one before. Throws parsing, request_invalid. */
export function parseRescore(given: unknown, queries: QueryParser, maxWindow: number): Rescore[] {
  const list: unknown[] = Array.isArray(given) ? given : given === undefined || given === null ? [] : [given];
  return list.map((each) => parseOne(each, queries, maxWindow));
}

function parseOne(given: unknown, queries: QueryParser, maxWindow: number): Rescore {
  if (!isObject(given)) throw new AppError("parsing", "[rescore] must be an object with [query]");
  const { window_size: windowSize, query } = readOptions("rescore", given, OPTIONS);
  if (!isObject(query)) throw new AppError("parsing", "missing rescore type: [rescore] needs [query]");
  const options = readOptions("rescore_query", query, QUERY_OPTIONS);
  if (options.rescore_query === undefined)
    throw new AppError("request_invalid", "rescore_query cannot be null: give [rescore_query]");
  if (windowSize > maxWindow) {
    throw new AppError(
      "request_invalid",
      `Rescore window [${windowSize}] is too large. It must be less than [${maxWindow}]. This prevents allocating massive heaps for storing the results to be rescored. This limit can be set by changing the [index.max_rescore_window] index level setting.`,
    );
  }
  return {
    query: queries.parse(options.rescore_query),
    windowSize,
    queryWeight: options.query_weight ?? 1,
    rescoreQueryWeight: options.rescore_query_weight ?? 1,
    combine: COMBINE[options.score_mode ?? "total"]!,
    combineName:
      options.score_mode === undefined || options.score_mode === "total" ? "sum" : options.score_mode,
  };
}

/** Returns what a shard found with the scores and the order of the passes. Its hits are by score. */
export function rescored(result: ShardResult, passes: readonly Rescore[]): ShardResult {
  if (passes.length === 0 || result.hits.length === 0) return result;
  let { hits } = result;
  for (const pass of passes) {
    hits = runPass(result, hits, pass).sort((a, b) => compareHits(result.sources, a, b));
  }
  return { ...result, hits, maxScore: scoreOf(hits[0]!) };
}

function runPass(result: ShardResult, hits: readonly RankedHit[], pass: Rescore): RankedHit[] {
  const weight = pass.query.weight(result.shard, { scores: true, boost: 1 });
  const second = secondScores(hits.slice(0, pass.windowSize), weight);
  return hits.map((hit) => {
    const first = scoreOf(hit) * pass.queryWeight;
    const found = second.get(hit);
    const score = Math.fround(
      found === undefined ? first : pass.combine(first, found * pass.rescoreQueryWeight),
    );
    const done = {
      weight: pass.queryWeight,
      second: found === undefined ? undefined : { score: found, weight: pass.rescoreQueryWeight },
      combine: pass.combineName,
      score,
    };
    return {
      ...hit,
      score,
      ranks: [result.sources[0]!.rankOf(score)],
      sort: [score],
      passes: [...(hit.passes ?? []), done],
    };
  });
}

/** Scores of the hits that the query matches. */
function secondScores(hits: readonly RankedHit[], weight: Weight): Map<RankedHit, number> {
  const scores = new Map<RankedHit, number>();
  const ordered = [...hits].sort((a, b) => a.segmentOrder - b.segmentOrder || a.doc - b.doc);
  let segment: RankedHit["segment"] | undefined;
  let scorer: ReturnType<Weight["scorer"]> = null;
  for (const hit of ordered) {
    if (hit.segment !== segment) {
      segment = hit.segment;
      scorer = weight.scorer(segment);
    }
    if (scorer === null) continue;
    const at = scorer.doc < hit.doc ? scorer.advance(hit.doc) : scorer.doc;
    if (at === hit.doc) scores.set(hit, scorer.score());
  }
  return scores;
}

/** Hits by score carry it as their only sort value. */
function scoreOf(hit: RankedHit): number {
  return hit.sort[0] as number;
}
