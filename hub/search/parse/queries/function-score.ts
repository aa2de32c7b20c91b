/** `function_score`: the documents of a query, their scores combined with functions of the documents. */

import { AllNode } from "#hub/search/execute/nodes/documents.ts";
import { FunctionScoreNode, type WeightedFunction } from "#hub/search/execute/nodes/function-score.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { anything, number, object, oneOf, required } from "#hub/search/options/options.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { type QueryParser, type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";
import type { Query } from "#hub/search/query/query.ts";
import {
  checkedScore,
  FUNCTION_NAMES,
  parseFunction,
  readWeight,
  scriptFunction,
  withoutNulls,
} from "#hub/search/scoring/score-functions.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

const SINGLE = Object.fromEntries(
  FUNCTION_NAMES.map((name) => [name, object("the only function, instead of [functions]")]),
);

const OPTIONS = {
  query: anything("the query; all documents without it"),
  functions: anything("functions, each with the filter of the documents it is for"),
  weight: number("factor of the only function", undefined),
  score_mode: oneOf(
    "how the functions are joined",
    ["multiply", "sum", "avg", "first", "max", "min"],
    "multiply",
  ),
  boost_mode: oneOf(
    "how they are joined with the query's score",
    ["multiply", "replace", "sum", "avg", "max", "min"],
    undefined,
  ),
  max_boost: number("largest value of the functions together", undefined),
  min_score: number("documents below it don't match", undefined),
  ...SINGLE,
} as const;

export const functionScore: QueryType = {
  name: "function_score",
  summary: "The documents of a query, their scores combined with functions of the documents.",
  options: OPTIONS,
  parse(body, parser) {
    const json = withoutNulls(objectOf(body, "function_score"));
    const options = readBody("function_score", json, OPTIONS);
    const single = FUNCTION_NAMES.some((name) => json[name] !== undefined) || json["weight"] !== undefined;
    if (single && options.functions !== undefined) {
      throw new AppError(
        "parsing",
        "failed to parse [function_score] query. already found [functions] array, now encountering a function; give either",
      );
    }
    const functions = single
      ? [readFunction({ ...pickFunctions(json) }, parser)]
      : readFunctions(options.functions, parser);
    const inner = options.query === undefined ? new AllNode() : parser.parse(options.query);
    return withBoost(
      new FunctionScoreNode(inner, {
        functions,
        scoreMode: options.score_mode ?? "multiply",
        boostMode: options.boost_mode ?? defaultBoostMode(functions, json, options.functions),
        maxBoost: options.max_boost ?? Number.MAX_VALUE,
        minScore: options.min_score,
        refusesNegative: answersAs(700),
      }),
      options,
    );
  },
};

/**
 * If the only function is a script, its value replaces the score because it may use the query's. Otherwise functions
 * are factors of it.
 */
function defaultBoostMode(
  functions: readonly WeightedFunction[],
  json: JsonObject,
  given: unknown,
): "multiply" | "replace" {
  const [only] = Array.isArray(given) ? (given as unknown[]) : [json];
  const isScript = isObject(only) && only["script_score"] !== undefined;
  const isAlone = functions.length === 1 && functions[0]!.filter === undefined;
  return isAlone && isScript && isObject(only) && only["weight"] === undefined ? "replace" : "multiply";
}

function pickFunctions(json: JsonObject): JsonObject {
  const names = [...FUNCTION_NAMES, "weight"];
  return Object.fromEntries(Object.entries(json).filter(([name]) => names.includes(name)));
}

function readFunctions(given: unknown, parser: QueryParser): WeightedFunction[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw new AppError("parsing", "[function_score] [functions] must be a list");
  parser.countClauses(given.length);
  return given.map((each: unknown) => {
    if (!isObject(each)) throw new AppError("parsing", "[function_score] [functions] must hold objects");
    return readFunction(withoutNulls(each), parser);
  });
}

function readFunction({ filter, weight, ...rest }: JsonObject, parser: QueryParser): WeightedFunction {
  const [entry, second] = Object.entries(rest);
  if (second !== undefined)
    throw new AppError(
      "parsing",
      `failed to parse function_score functions. already found [${entry![0]}], now encountering [${second[0]}].`,
    );
  if (entry !== undefined && !FUNCTION_NAMES.includes(entry[0]))
    throw new AppError("parsing", `no [function_score] registered for [${entry[0]}]`);
  if (entry === undefined && weight === undefined) {
    throw new AppError(
      "parsing",
      "an entry in functions list is missing a function: give one of field_value_factor, gauss, exp, linear, random_score or weight",
    );
  }
  return {
    filter: readFilter(filter, parser),
    score: entry === undefined ? undefined : parseFunction(entry[0], entry[1]),
    weight: weight === undefined ? 1 : readWeight(weight),
  };
}

/** A list counts for its last query, as in 6.5 and later. */
function readFilter(given: unknown, parser: QueryParser): Query | undefined {
  const filter: unknown = Array.isArray(given) ? given.at(-1) : given;
  return filter === undefined ? undefined : parser.parse(filter);
}

const SCRIPT_OPTIONS = {
  query: required(anything("the query")),
  script: required(anything("script that makes the scores; it may use that of the query as _score")),
  min_score: number("documents below it don't match", undefined),
} as const;

export const scriptScore: QueryType = {
  name: "script_score",
  summary: "The documents of a query, with scores computed by a script.",
  options: SCRIPT_OPTIONS,
  parse(body, parser) {
    const options = readBody("script_score", body, SCRIPT_OPTIONS);
    const score = checkedScore(scriptFunction(options.script), invalidScore);
    const functions = [{ filter: undefined, score, weight: 1 }];
    const node = new FunctionScoreNode(parser.parse(options.query), {
      functions,
      scoreMode: "multiply",
      boostMode: "replace",
      maxBoost: Number.MAX_VALUE,
      minScore: options.min_score,
      boostsResult: true,
    });
    const checked = new MappedNode((shard) => {
      shard.checkExpensive("[script score] queries");
      return node;
    });
    return withBoost(checked, options);
  },
};

/** The fault of a score of the query `script_score`, which may never be negative. */
function invalidScore(score: number, doc: number): string | undefined {
  return score >= 0
    ? undefined
    : `script_score script returned an invalid score [${score}] for doc [${doc}]. Must be a non-negative score!`;
}
