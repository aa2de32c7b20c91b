/** Rules of `intervals` as requests write them: match, prefix, wildcard, fuzzy, all_of, any_of, and filters of each. */

import type { Field } from "#hub/engine/mapping/field.ts";
import { type TermSelection, TermsNode } from "#hub/search/execute/nodes/any-term.ts";
import { checkSearchable, fieldOf } from "#hub/search/fields/field-terms.ts";
import { checkRegexpLength } from "#hub/search/fields/pattern-query.ts";
import { analyze, editsOf, textParts } from "#hub/search/fields/text-query.ts";
import type { Way } from "#hub/search/fields/token-graph.ts";
import { objectOf, onlyEntry } from "#hub/search/options/json.ts";
import {
  anything,
  flag,
  integer,
  list,
  type Options,
  oneOf,
  readOptions,
  required,
  text,
  type Values,
  withoutEffect,
} from "#hub/search/options/options.ts";
import type { QueryParser } from "#hub/search/parse/query-parser.ts";
import { compileRegexp } from "#hub/search/patterns/automaton.ts";
import { withinEdits } from "#hub/search/patterns/edit-distance.ts";
import { compileCaselessWildcard, compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import type { Relation } from "./algebra.ts";
import { PatternSource } from "./pattern-source.ts";
import {
  allSource,
  anySource,
  extendedSource,
  type IntervalSource,
  nothing,
  relatedSource,
  termSource,
} from "./source.ts";

/** A rule; `field`: the field of the query. Throws query_shard if the mapping doesn't allow it. */
export type Rule = (shard: ShardContext, field: string) => IntervalSource;

/** Terms that begin with `prefix` and that `accepts` accepts. */
interface TermPattern extends Pick<TermSelection, "work"> {
  readonly prefix: string;
  readonly accepts: (term: string) => boolean;
}

/** Rules below rules. */
const MAX_DEPTH = 20;

const MAX_GAPS = integer("maximum number of positions between the parts; -1: no limit", -1, -1);
/** Relation of the parts to each other, in place of `ordered`. */
const MODE = oneOf(
  "ordered, unordered, or unordered_no_overlap: in any order, without words of one part within another",
  ["ordered", "unordered", "unordered_no_overlap"],
  undefined,
);
const FILTER = anything("{<containing | before | …>: <rule>}: which of the intervals count");
const USE_FIELD = text("field to search instead of the query's", undefined);
const EXPANSIONS = withoutEffect(integer("all words that fit count, or the search fails", undefined));
const ANALYZER = text("analyzer instead of the field's", undefined);

const MATCH = {
  query: required(text("text whose words are sought", undefined)),
  max_gaps: MAX_GAPS,
  ordered: flag("whether the words must be in the given order", false),
  mode: MODE,
  analyzer: ANALYZER,
  use_field: USE_FIELD,
  filter: FILTER,
} as const;
const PREFIX = {
  prefix: required(text("beginning of a word", undefined)),
  analyzer: ANALYZER,
  use_field: USE_FIELD,
} as const;
const WILDCARD = {
  pattern: required(text("word with * and ?", undefined)),
  case_insensitive: flag("whether ASCII letters match in any case", false),
  max_expansions: EXPANSIONS,
  analyzer: ANALYZER,
  use_field: USE_FIELD,
} as const;
const REGEXP = {
  pattern: required(text("regular expression that must match the whole word", undefined)),
  case_insensitive: flag("whether ASCII letters match in any case", false),
  flags: withoutEffect(text("the optional operators of Lucene are not there", undefined)),
  flags_value: withoutEffect(integer("the optional operators of Lucene are not there", undefined)),
  max_expansions: EXPANSIONS,
  use_field: USE_FIELD,
} as const;
/** Options of the rule `fuzzy`. */
export const FUZZY_RULE_OPTIONS = {
  term: required(text("word that may be misspelled", undefined)),
  fuzziness: text("edits: AUTO, 0, 1 or 2", "AUTO"),
  prefix_length: integer("leading characters without edits", 0),
  transpositions: withoutEffect(flag("two transposed letters are always one edit", true)),
  analyzer: ANALYZER,
  use_field: USE_FIELD,
} as const;
const ALL_OF = {
  intervals: required(list("rules that all must be met")),
  max_gaps: MAX_GAPS,
  ordered: flag("whether they must be met in their order", false),
  mode: MODE,
  filter: FILTER,
} as const;
const ANY_OF = { intervals: required(list("rules of which one must be met")), filter: FILTER } as const;

/** Names of filters with what they mean. */
const FILTERS: ReadonlyMap<string, readonly [relation: Relation, negated: boolean]> = new Map([
  ["containing", ["containing", false]],
  ["contained_by", ["contained_by", false]],
  ["overlapping", ["overlapping", false]],
  ["before", ["before", false]],
  ["after", ["after", false]],
  ["not_containing", ["containing", true]],
  ["not_contained_by", ["contained_by", true]],
  ["not_overlapping", ["overlapping", true]],
] as const);

/** Reads `{<rule>: {…}}`. Throws parsing, request_invalid. */
export function parseRule(json: unknown, parser: QueryParser, depth = 0): Rule {
  parser.countClauses(1);
  if (depth > MAX_DEPTH)
    throw new AppError("request_invalid", `rules of [intervals] are nested deeper than ${MAX_DEPTH} levels`);
  const [name, given] = onlyEntry(objectOf(json, "intervals"), "intervals");
  const body = objectOf(given, name);
  const read = READERS.get(name);
  if (read !== undefined) return read(body, parser, depth);
  const text = `Unknown interval type [${name}], expecting one of [${[...READERS.keys()].join(", ")}]`;
  throw new AppError("parsing", text + didYouMean(name, READERS.keys()), { data: { text } });
}

type Reader = (body: JsonObject, parser: QueryParser, depth: number) => Rule;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["match", matchRule],
  ["prefix", (body) => prefixRule(optionsOf("prefix", body, PREFIX))],
  ["wildcard", (body) => wildcardRule(optionsOf("wildcard", body, WILDCARD))],
  ["regexp", regexpRule],
  ["fuzzy", (body) => fuzzyRule(optionsOf("fuzzy", body, FUZZY_RULE_OPTIONS))],
  ["all_of", allOfRule],
  ["any_of", anyOfRule],
]);

function optionsOf<O extends Options>(name: string, body: JsonObject, options: O): Values<O> {
  return readOptions(`intervals] [${name}`, body, options, "option");
}

function matchRule(body: JsonObject, parser: QueryParser, depth: number): Rule {
  const options = optionsOf("match", body, MATCH);
  const rule: Rule = (shard, name) => {
    const field = textField(shard, options.use_field ?? name);
    if (field === undefined) return nothing();
    const parts = textParts(analyze(shard, field, options.query, options.analyzer));
    // Positions without a word, such as those of stop words, are counted before the next one.
    const sources = parts.map(({ gap, ways }) =>
      extendedSource(anySource(ways.map((way) => waySource(field.path, way))), gap),
    );
    return arranged(sources, options);
  };
  return filtered(rule, options.filter, parser, depth);
}

/** Returns the stretches that hold the words of a way one after the other. */
function waySource(path: string, way: Way): IntervalSource {
  const words = way.map(({ terms, offset }, at) =>
    extendedSource(
      anySource(terms.map((term) => termSource(path, term))),
      at === 0 ? 0 : offset - way[at - 1]!.offset - 1,
    ),
  );
  return allSource(words, { ordered: true, maxGaps: 0 });
}

function allOfRule(body: JsonObject, parser: QueryParser, depth: number): Rule {
  const options = optionsOf("all_of", body, ALL_OF);
  const rules = (options.intervals ?? []).map((each) => parseRule(each, parser, depth + 1));
  const rule: Rule = (shard, field) =>
    arranged(
      rules.map((each) => each(shard, field)),
      options,
    );
  return filtered(rule, options.filter, parser, depth);
}

/** Returns the stretches that hold all sources as the options say. */
function arranged(
  sources: readonly IntervalSource[],
  { ordered, mode, max_gaps: maxGaps }: Pick<Values<typeof ALL_OF>, "ordered" | "mode" | "max_gaps">,
): IntervalSource {
  if (mode !== "unordered_no_overlap")
    return allSource(sources, { ordered: mode === undefined ? ordered : mode === "ordered", maxGaps });
  const [first, ...others] = sources;
  if (first === undefined) return nothing();
  // Each part is before or after the matches of the parts before it.
  return others.reduce(
    (found, next) =>
      anySource([
        allSource([found, next], { ordered: true, maxGaps }),
        allSource([next, found], { ordered: true, maxGaps }),
      ]),
    first,
  );
}

function anyOfRule(body: JsonObject, parser: QueryParser, depth: number): Rule {
  const options = optionsOf("any_of", body, ANY_OF);
  const rules = (options.intervals ?? []).map((each) => parseRule(each, parser, depth + 1));
  const rule: Rule = (shard, field) => anySource(rules.map((each) => each(shard, field)));
  return filtered(rule, options.filter, parser, depth);
}

function prefixRule({ prefix, analyzer, use_field: other }: Values<typeof PREFIX>): Rule {
  return expanded("prefix", other, (shard, field) => {
    const plain = normalized(shard, field, prefix, analyzer);
    return { prefix: plain, accepts: (text) => text.startsWith(plain) };
  });
}

function wildcardRule(options: Values<typeof WILDCARD>): Rule {
  const { pattern, use_field: other, case_insensitive: isCaseless } = options;
  return expanded("wildcard", other, () => {
    // Analysis would split the pattern; words are in lower case mostly.
    const compiled = isCaseless ? compileCaselessWildcard(pattern) : compileWildcard(pattern);
    return { prefix: compiled.prefix, accepts: (term) => compiled.matches(term) };
  });
}

function regexpRule(body: JsonObject, { maxRegexLength }: QueryParser): Rule {
  const options = optionsOf("regexp", body, REGEXP);
  checkRegexpLength(options.pattern, maxRegexLength);
  const compiled = compileRegexp(options.pattern, options.case_insensitive);
  return expanded("regexp", options.use_field, () => ({
    prefix: compiled.prefix,
    accepts: (term) => compiled.matches(term),
    work: () => compiled.work,
  }));
}

function fuzzyRule(options: Values<typeof FUZZY_RULE_OPTIONS>): Rule {
  const { term, analyzer, use_field: other, fuzziness, prefix_length: length } = options;
  return expanded("fuzzy", other, (shard, field) => {
    const plain = normalized(shard, field, term, analyzer);
    const prefix = Array.from(plain).slice(0, length).join("");
    return { prefix, accepts: withinEdits(plain, editsOf(fuzziness, plain)) };
  });
}

/** A rule that matches several terms. */
function expanded(
  owner: string,
  other: string | undefined,
  select: (shard: ShardContext, field: Field) => TermPattern,
): Rule {
  return (shard, name) => {
    const field = textField(shard, other ?? name);
    if (field === undefined) return nothing();
    const { prefix, ...tests } = select(shard, field);
    const terms: TermSelection["terms"] = (segment, path) => segment.terms(path)?.prefix(prefix) ?? null;
    const node = new TermsNode(field.path, { terms, ...tests });
    return new PatternSource(`[intervals] [${owner}]`, node, shard);
  };
}

/** A word as the field's analysis leaves it; what that splits stays as it is. */
function normalized(shard: ShardContext, field: Field, word: string, analyzer: string | undefined): string {
  const tokens = analyze(shard, field, word, analyzer);
  return tokens.length === 1 ? tokens[0]!.text : word;
}

/** Returns a text field with positions; undefined if it isn't mapped. Throws query_shard. */
function textField(shard: ShardContext, name: string): Field | undefined {
  const field = fieldOf(shard, name);
  if (field === undefined) return undefined;
  checkSearchable(field, shard);
  if (field.type === "text" && field.positions) return field;
  throw new AppError(
    "query_shard",
    `Cannot create intervals over field [${field.path}] with no positions indexed; it must be of type [text]`,
  );
}

/** The rule with its filter. */
function filtered(rule: Rule, given: unknown, parser: QueryParser, depth: number): Rule {
  if (given === undefined || given === null) return rule;
  const [name, body] = onlyEntry(objectOf(given, "filter"), "filter");
  if (name === "script")
    throw new AppError(
      "request_invalid",
      "[intervals] [filter] [script] can't be used: scripts aren't offered",
    );
  const meaning = FILTERS.get(name);
  if (meaning === undefined) {
    const text = `Unknown filter type [${name}] of [intervals]; use one of ${[...FILTERS.keys()].join(", ")}`;
    throw new AppError("parsing", text + didYouMean(name, FILTERS.keys()), { data: { text } });
  }
  const [relation, negated] = meaning;
  const other = parseRule(body, parser, depth + 1);
  return (shard, field) => relatedSource(rule(shard, field), other(shard, field), relation, negated);
}
