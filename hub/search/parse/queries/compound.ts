/** Queries made of other queries: `bool`, `boosting`, `constant_score`, `dis_max`, `wrapper`. */

import { bestOf } from "#hub/search/execute/nodes/best-of.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { BoostingNode, ConstantNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { minimumShouldMatch } from "#hub/search/fields/minimum-should-match.ts";
import { parseJson } from "#hub/search/options/json.ts";
import { anything, flag, number, required, text, withoutEffect } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";
import { AppError } from "#proto/kit/errors.ts";

const BOOL_OPTIONS = {
  must: anything("queries that all have to match; their scores are added"),
  filter: anything("queries that all have to match and don't score"),
  should: anything("queries of which some have to match; their scores are added"),
  must_not: anything("queries that mustn't match"),
  mustNot: anything("must_not"),
  minimum_should_match: text("how many of [should] have to match", undefined),
  adjust_pure_negative: withoutEffect(
    flag("a query of must_not alone always matches all other documents", true),
  ),
} as const;

export const bool: QueryType = {
  name: "bool",
  summary: "Required, optional, filtering and forbidden queries together.",
  options: BOOL_OPTIONS,
  parse(body, parser) {
    const options = readBody("bool", body, BOOL_OPTIONS);
    const minimum = minimumShouldMatch(options.minimum_should_match);
    const query = new BooleanNode({
      must: parser.parseList(options.must),
      filter: parser.parseList(options.filter),
      should: parser.parseList(options.should),
      mustNot: parser.parseList(options.must_not ?? options.mustNot),
      ...(minimum === undefined ? {} : { minimumShouldMatch: minimum }),
    });
    return withBoost(query, options);
  },
};

const BOOSTING_OPTIONS = {
  positive: required(anything("the query")),
  negative: required(anything("documents of it are scored lower")),
  negative_boost: required(number("factor of their scores, 0..1", undefined)),
} as const;

export const boosting: QueryType = {
  name: "boosting",
  summary: "The documents of a query, those that fit another one scored lower.",
  options: BOOSTING_OPTIONS,
  parse(body, parser) {
    const options = readBody("boosting", body, BOOSTING_OPTIONS);
    const positive = parser.parse(options.positive);
    return withBoost(
      new BoostingNode(positive, parser.parse(options.negative), options.negative_boost),
      options,
    );
  },
};

const CONSTANT_OPTIONS = { filter: required(anything("the query")) } as const;

export const constantScore: QueryType = {
  name: "constant_score",
  summary: "The documents of a query, all with the same score.",
  options: CONSTANT_OPTIONS,
  parse(body, parser) {
    const options = readBody("constant_score", body, CONSTANT_OPTIONS);
    return withBoost(new ConstantNode(parser.parse(options.filter)), options);
  },
};

const DIS_MAX_OPTIONS = {
  queries: required(anything("the queries")),
  tie_breaker: number("share of the other scores that is added", 0),
} as const;

export const disMax: QueryType = {
  name: "dis_max",
  summary: "Documents of any of several queries, scored by the best one.",
  options: DIS_MAX_OPTIONS,
  parse(body, parser) {
    const options = readBody("dis_max", body, DIS_MAX_OPTIONS);
    const queries = parser.parseList(options.queries);
    if (queries.length === 0)
      throw new AppError("parsing", "[dis_max] requires 'queries' field with at least one clause");
    return withBoost(bestOf(queries, options.tie_breaker ?? 0), options);
  },
};

const WRAPPER_OPTIONS = { query: required(text("base64 of the query's JSON", undefined)) } as const;

export const wrapper: QueryType = {
  name: "wrapper",
  summary: "A query as base64 of its JSON.",
  options: WRAPPER_OPTIONS,
  parse(body, parser) {
    const options = readBody("wrapper", body, WRAPPER_OPTIONS);
    const json = Buffer.from(options.query, "base64").toString();
    if (json === "") throw new AppError("request_invalid", "query text missing");
    return withBoost(parser.parse(parseJson(json)), options);
  },
};
