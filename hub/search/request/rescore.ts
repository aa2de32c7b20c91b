/** The option `rescore` of a search: second queries that score the best hits of a shard again. */

import { contextFault } from "#hub/search/options/context-fault.ts";
import { anything, integer, number, oneOf, readOptions } from "#hub/search/options/options.ts";
import type { QueryParser } from "#hub/search/parse/query-parser.ts";
import type { Query } from "#hub/search/query/query.ts";
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

/** Second passes of one search: each walks its query over the window of every shard. */
const MAX_PASSES = 20;

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
  if (list.length > MAX_PASSES)
    throw new AppError("request_invalid", `[rescore] has ${list.length} passes, more than ${MAX_PASSES}`);
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
    throw contextFault(
      `Rescore window [${windowSize}] is too large. It must be less than [${maxWindow}]. This prevents allocating massive heaps for storing the results to be rescored. This limit can be set by changing the [index.max_rescore_window] index level setting.`,
      "query_phase_execution_exception",
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
