/** Span queries: terms of a text and conditions on their relative positions. */

import { TermsNode } from "#hub/search/execute/nodes/any-term.ts";
import { ExistsNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { FuzzyNode } from "#hub/search/execute/nodes/fuzzy.ts";
import { TermNode } from "#hub/search/execute/nodes/term.ts";
import { BoostNode, boosted, WrappedQuery } from "#hub/search/execute/nodes/wrapped-query.ts";
import { checkSearchable, fieldOf } from "#hub/search/fields/field-terms.ts";
import { PatternSource } from "#hub/search/intervals/pattern-source.ts";
import { nothing, termSource } from "#hub/search/intervals/source.ts";
import { anySpan } from "#hub/search/intervals/span-algebra.ts";
import { type BoundSpan, SpanNode } from "#hub/search/intervals/span-node.ts";
import {
  containingSpan,
  eitherSpan,
  firstSpan,
  gapOf,
  nearSpan,
  remainingSpan,
  type SpanGap,
  spanWithin,
} from "#hub/search/intervals/spans.ts";
import { objectOf, onlyEntry, scalarText } from "#hub/search/options/json.ts";
import { anything, flag, integer, text } from "#hub/search/options/options.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import {
  type QueryParser,
  type QueryType,
  readBody,
  readFieldBody,
  withBoost,
} from "#hub/search/parse/query-parser.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";

export const spanTerm: QueryType = {
  name: "span_term",
  summary: "The places of a term.",
  options: {},
  parse(body) {
    const { field, value, options } = readFieldBody("span_term", body, {}, ["value", "term"]);
    const term = scalarText(value, "span_term");
    return withBoost(new SpanNode("SpanTermQuery", (shard) => boundTerm(shard, field, term)), options);
  },
};

function boundTerm(shard: ShardContext, name: string, term: string): BoundSpan {
  const path = positionsOf(shard, name, "SpanTermQuery");
  const field = path ?? name;
  const source = path === undefined ? nothing() : termSource(path, term);
  return { field, scoredField: field, text: `${field}:${term}`, source };
}

/** Returns the path of a text field with positions; undefined if it isn't mapped. Throws query_shard. */
function positionsOf(shard: ShardContext, name: string, query: string): string | undefined {
  const field = fieldOf(shard, name);
  if (field === undefined) return undefined;
  checkSearchable(field, shard);
  if (field.type === "text" && field.positions) return field.path;
  throw new AppError(
    "query_shard",
    `field "${field.path}" was indexed without position data; cannot run ${query}`,
    { data: { index: shard.index, index_uuid: shard.indexUuid } },
  );
}

const NEAR_OPTIONS = {
  clauses: anything("span queries, or {span_gap: {<field>: <positions>}} between two of them"),
  slop: integer("maximum number of positions between the clauses", 0, Number.MIN_SAFE_INTEGER),
  in_order: flag("whether the clauses must be in the given order, without overlaps", true),
} as const;

export const spanNear: QueryType = {
  name: "span_near",
  summary: "Spans that are near each other.",
  options: NEAR_OPTIONS,
  parse(body, parser) {
    const options = readBody("span_near", body, NEAR_OPTIONS);
    const { slop, in_order: inOrder } = options;
    const clauses = clausesOf("span_near", options.clauses).map(
      (each) => gap(each) ?? clause("span_near", "clauses", each, parser),
    );
    checkGaps(clauses, inOrder);
    const [first] = clauses;
    if (clauses.length === 1 && first instanceof SpanNode) return withBoost(first, options);
    const bind = (shard: ShardContext): BoundSpan => nearSpan(boundAll(clauses, shard), { slop, inOrder });
    return withBoost(new SpanNode("SpanNearQuery", bind), options);
  },
};

/** Returns `{span_gap: {<field>: <positions>}}` as a gap; undefined for another clause. */
function gap(json: unknown): SpanGap | undefined {
  if (!isObject(json) || !Object.hasOwn(json, "span_gap")) return undefined;
  const [, body] = onlyEntry(json, "span_near");
  const [field, width] = onlyEntry(objectOf(body, "span_gap"), "span_gap");
  return { field, gap: integer("", 0).read(width, `[span_gap] [${field}]`) };
}

/** Throws request_invalid if gaps have no spans around them. */
function checkGaps(clauses: readonly (SpanNode | SpanGap)[], inOrder: boolean): void {
  if (clauses.every((each) => gapOf(each) === undefined)) return;
  if (!inOrder) throw new AppError("request_invalid", "Gaps can only be added to ordered near queries");
  if (gapOf(clauses[0]!) !== undefined)
    throw new AppError("request_invalid", "[span_near] can't begin with a [span_gap]");
}

function boundAll<T>(clauses: readonly (SpanNode | T)[], shard: ShardContext): (BoundSpan | T)[] {
  return clauses.map((each) => (each instanceof SpanNode ? each.bind(shard) : each));
}

const OR_OPTIONS = { clauses: anything("span queries") } as const;

export const spanOr: QueryType = {
  name: "span_or",
  summary: "The spans of any of several queries.",
  options: OR_OPTIONS,
  parse(body, parser) {
    const options = readBody("span_or", body, OR_OPTIONS);
    const clauses = clausesOf("span_or", options.clauses).map((each) =>
      clause("span_or", "clauses", each, parser),
    );
    const bind = (shard: ShardContext): BoundSpan => eitherSpan(clauses.map((each) => each.bind(shard)));
    return withBoost(new SpanNode("SpanOrQuery", bind), options);
  },
};

const NOT_OPTIONS = {
  include: anything("the spans"),
  exclude: anything("spans that must not overlap them"),
  pre: integer(
    "positions in front of a span that must be free of excluded ones as well",
    undefined,
    Number.MIN_SAFE_INTEGER,
  ),
  post: integer("positions behind it", undefined, Number.MIN_SAFE_INTEGER),
  dist: integer("[pre] and [post]", undefined, Number.MIN_SAFE_INTEGER),
} as const;

export const spanNot: QueryType = {
  name: "span_not",
  summary: "Spans that don't overlap those of another query.",
  options: NOT_OPTIONS,
  parse(body, parser) {
    const options = readBody("span_not", body, NOT_OPTIONS);
    const { pre, post, dist } = options;
    if (dist !== undefined && (pre !== undefined || post !== undefined)) {
      throw new AppError("request_invalid", "span_not can either use [dist] or [pre] & [post] (or none)");
    }
    const include = clause("span_not", "include", options.include, parser);
    const exclude = clause("span_not", "exclude", options.exclude, parser);
    const around = { before: Math.max(0, dist ?? pre ?? 0), after: Math.max(0, dist ?? post ?? 0) };
    const bind = (shard: ShardContext): BoundSpan =>
      remainingSpan(include.bind(shard), exclude.bind(shard), around);
    return withBoost(new SpanNode("SpanNotQuery", bind), options);
  },
};

const FIRST_OPTIONS = {
  match: anything("the spans"),
  end: integer("position, from 0, before which they must end", undefined),
} as const;

export const spanFirst: QueryType = {
  name: "span_first",
  summary: "Spans near the beginning of a text.",
  options: FIRST_OPTIONS,
  parse(body, parser) {
    const options = readBody("span_first", body, FIRST_OPTIONS);
    const match = clause("span_first", "match", options.match, parser);
    const { end } = options;
    if (end === undefined) throw new AppError("parsing", "span_first must have [end] set for it");
    return withBoost(new SpanNode("SpanFirstQuery", (shard) => firstSpan(match.bind(shard), end)), options);
  },
};

const CONTAINING_OPTIONS = {
  big: anything("the spans around"),
  little: anything("the spans within"),
} as const;

/** Returns the type of query that gives the big or the little ones. */
function containment(name: string, summary: string, type: string, make: typeof containingSpan): QueryType {
  return {
    name,
    summary,
    options: CONTAINING_OPTIONS,
    parse(body, parser) {
      const options = readBody(name, body, CONTAINING_OPTIONS);
      const big = clause(name, "big", options.big, parser);
      const little = clause(name, "little", options.little, parser);
      const bind = (shard: ShardContext): BoundSpan => make(big.bind(shard), little.bind(shard));
      return withBoost(new SpanNode(type, bind), options);
    },
  };
}

export const spanContaining = containment(
  "span_containing",
  "Spans that hold one of another query.",
  "SpanContainingQuery",
  containingSpan,
);

export const spanWithinType = containment(
  "span_within",
  "Spans that one of another query holds.",
  "SpanWithinQuery",
  spanWithin,
);

const MASKING_OPTIONS = {
  query: anything("the spans"),
  field: text("field that they count as one of", undefined),
} as const;

export const fieldMaskingSpan: QueryType = {
  name: "field_masking_span",
  summary: "Spans of a field, treated as spans of another field.",
  options: MASKING_OPTIONS,
  parse(body, parser) {
    const options = readBody("field_masking_span", body, MASKING_OPTIONS);
    const query = clause("field_masking_span", "query", options.query, parser);
    const name = options.field;
    if (name === undefined) throw new AppError("parsing", "field_masking_span must have [field] set for it");
    const bind = (shard: ShardContext): BoundSpan => {
      const inner = query.bind(shard);
      const field = fieldOf(shard, name)?.path ?? name;
      return { ...inner, field, text: `mask(${inner.text}) as ${field}` };
    };
    return withBoost(new SpanNode("FieldMaskingSpanQuery", bind), options);
  },
};

const MULTI_OPTIONS = {
  match: anything("a query of terms: prefix, wildcard, regexp, fuzzy or range"),
} as const;

/** Queries that match several terms of a field. */
const MULTI_TERM = new Set(["prefix", "wildcard", "regexp", "fuzzy", "range"]);

export const spanMulti: QueryType = {
  name: "span_multi",
  summary: "The positions of all terms that a query expands to.",
  options: MULTI_OPTIONS,
  parse(body, parser) {
    const options = readBody("span_multi", body, MULTI_OPTIONS);
    if (!isObject(options.match))
      throw new AppError("parsing", "span_multi must have [match] multi term query clause");
    const [name, inner] = onlyEntry(options.match, "span_multi");
    if (!MULTI_TERM.has(name)) throw new AppError("parsing", "[match] must be of type MultiTermQueryBuilder");
    const query = parser.parse(options.match);
    const [field] = Object.keys(objectOf(inner, name)).filter((key) => key !== "boost" && key !== "_name");
    const bind = (shard: ShardContext): BoundSpan => boundTerms(shard, field ?? "", query);
    const span = new SpanNode("SpanMultiTermQueryWrapper", bind);
    return withBoost(boosted(span, query instanceof BoostNode ? query.boost : 1), options);
  },
};

/** Throws query_shard if the query isn't one of terms on the shard. */
function boundTerms(shard: ShardContext, name: string, query: Query): BoundSpan {
  const path = positionsOf(shard, name, "SpanMultiTermQueryWrapper");
  const field = path ?? name;
  const about = (text: string): Omit<BoundSpan, "source"> => ({ field, scoredField: field, text });
  if (path === undefined) return { ...about(`${name}:*`), source: nothing() };
  const inner = query instanceof WrappedQuery ? query.unwrapped(shard) : query;
  if (inner instanceof NoneNode) return { ...about(`${name}:*`), source: nothing() };
  if (inner instanceof TermNode && typeof inner.term === "string")
    return { ...about(`${field}:${inner.term}`), source: termSource(path, inner.term) };
  const node =
    inner instanceof ExistsNode
      ? new TermsNode(path, {
          terms: (segment, each) => segment.terms(each)?.prefix("") ?? null,
          accepts: () => true,
          text: "*",
        })
      : inner;
  if (node instanceof TermsNode || node instanceof FuzzyNode) {
    node.checkCost(shard);
    const source = new PatternSource("[span_multi]", node, shard, anySpan);
    return { ...about(`SpanMultiTermQueryWrapper(${node.describe().text})`), source };
  }
  throw new AppError("query_shard", `unsupported inner query of [span_multi] on field [${field}]`, {
    data: { index: shard.index, index_uuid: shard.indexUuid },
  });
}

/** Throws parsing if there are no clauses. */
function clausesOf(owner: string, given: unknown): readonly unknown[] {
  if (Array.isArray(given) && given.length > 0) return given as readonly unknown[];
  throw new AppError("parsing", `${owner} must include [clauses]`);
}

/** Parses a span query within another one. Throws parsing for another query, and from 7.0 on for one with a boost. */
function clause(owner: string, key: string, json: unknown, parser: QueryParser): SpanNode {
  if (json === undefined || json === null)
    throw new AppError("parsing", `${owner} must have [${key}] span query clause`);
  const query = parser.parse(json);
  if (query instanceof SpanNode) return query;
  if (query instanceof BoostNode && query.query instanceof SpanNode && !answersAs(700)) {
    // The boost of a part has no effect on the score of the whole.
    warnDeprecated("setting boost on inner span queries is deprecated!", { from: 606 });
    return query.query;
  }
  const isBoosted =
    query instanceof BoostNode && /^span_|_span$/.test(Object.keys(objectOf(json, owner))[0]!);
  throw new AppError(
    "parsing",
    isBoosted
      ? `${owner} [${key}] as a nested span clause can't have non-default boost value`
      : `${owner} [${key}] must be of type span query`,
  );
}
