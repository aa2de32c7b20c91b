/** Queries for terms that match a pattern: `prefix`, `wildcard`, `regexp`, `fuzzy`. */

import { checkRegexp, patternQuery, regexpQuery, wildcardQuery } from "#hub/search/fields/pattern-query.ts";
import { caselessPrefixQuery, editsOf, fuzzyQuery, prefixQuery } from "#hub/search/fields/text-query.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { flag, hint, integer, text, withoutEffect } from "#hub/search/options/options.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";
import { checkRewrite } from "#hub/search/parse/rewrite-method.ts";
import { foldCase } from "#hub/search/patterns/ascii-case.ts";
import { parseRegexpFlags } from "#hub/search/patterns/regexp-flags.ts";
import type { Query } from "#hub/search/query/query.ts";

const CASELESS = flag("whether ASCII letters match in any case", false);

const PREFIX_OPTIONS = {
  rewrite: withoutEffect(text("all matches score alike", undefined)),
  case_insensitive: CASELESS,
} as const;

export const prefix: QueryType = {
  name: "prefix",
  summary: "Documents with a term that begins so.",
  options: PREFIX_OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("prefix", body, PREFIX_OPTIONS, ["value", "prefix"]);
    checkRewrite(options.rewrite);
    const start = scalarText(value, "prefix");
    const isCaseless = options.case_insensitive === true;
    const make = isCaseless ? caselessPrefixQuery : prefixQuery;
    const indexName = `${isCaseless ? foldCase(start) : start}*`;
    return withBoost(patternQuery("prefix", field, start, make, indexName), options);
  },
};

const WILDCARD_OPTIONS = {
  rewrite: withoutEffect(text("all matches score alike", undefined)),
  case_insensitive: CASELESS,
} as const;

export const wildcard: QueryType = {
  name: "wildcard",
  summary: "Documents with a term that fits a pattern with * and ?.",
  options: WILDCARD_OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("wildcard", body, WILDCARD_OPTIONS, [
      "value",
      "wildcard",
    ]);
    checkRewrite(options.rewrite);
    const pattern = scalarText(value, "wildcard");
    const make = (path: string, given: string): Query => wildcardQuery(path, given, options.case_insensitive);
    const indexName = options.case_insensitive === true ? foldCase(pattern) : pattern;
    return withBoost(patternQuery("wildcard", field, pattern, make, indexName), options);
  },
};

const REGEXP_OPTIONS = {
  case_insensitive: CASELESS,
  flags: text(
    "optional operators, divided by |: INTERSECTION, COMPLEMENT, EMPTY, ANYSTRING, INTERVAL",
    "ALL",
  ),
  flags_value: integer("the same as a sum of bits", undefined),
  max_determinized_states: hint(integer("the size of an automaton is bounded in any case", 10_000)),
  rewrite: withoutEffect(text("all matches score alike", undefined)),
} as const;

export const regexp: QueryType = {
  name: "regexp",
  summary: "Documents with a term that a regular expression matches completely.",
  options: REGEXP_OPTIONS,
  parse(body, { maxRegexLength }) {
    const { field, value, options } = readFieldBody("regexp", body, REGEXP_OPTIONS, ["value", "regexp"]);
    checkRewrite(options.rewrite);
    const source = scalarText(value, "regexp");
    // Faults of the expression fail the request, not its shards.
    const flags = options.flags_value ?? parseRegexpFlags(options.flags);
    checkRegexp(source, maxRegexLength, flags);
    const make = (path: string, text: string): Query =>
      regexpQuery(path, text, maxRegexLength, options.case_insensitive, flags);
    return withBoost(patternQuery("regexp", field, source, make), options);
  },
};

const FUZZY_OPTIONS = {
  fuzziness: text("edits: AUTO, 0, 1 or 2", "AUTO"),
  prefix_length: integer("leading characters without edits", 0),
  max_expansions: integer("maximum number of similar terms", 50, 1),
  transpositions: flag("whether two transposed letters are one edit; from 7.0 on they are", undefined),
  rewrite: withoutEffect(text("all matches score alike", undefined)),
} as const;

export const fuzzy: QueryType = {
  name: "fuzzy",
  summary: "Documents with a term that differs by few edits.",
  options: FUZZY_OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("fuzzy", body, FUZZY_OPTIONS, ["value"]);
    checkRewrite(options.rewrite);
    const term = scalarText(value, "fuzzy");
    editsOf(options.fuzziness, term);
    const transpositions = options.transpositions ?? answersAs(700);
    return withBoost(
      patternQuery("fuzzy", field, term, (path, text) =>
        fuzzyQuery(path, text, {
          edits: editsOf(options.fuzziness, text),
          prefixLength: options.prefix_length,
          maxExpansions: options.max_expansions,
          transpositions,
        }),
      ),
      options,
    );
  },
};
