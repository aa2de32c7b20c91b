/** Allowed keys and values in queries and aggregations. */

/** The keys and values that are valid at a position of a body. */
export interface Rule {
  /** The start of the key's value; `|` is the position of the cursor. Default `"|"`. */
  readonly start?: string;
  readonly keys?: Readonly<Record<string, Rule>>;
  /** Keys are names of fields, each with this rule. */
  readonly fields?: Rule;
  /** Keys are user-defined names, each with this rule. */
  readonly names?: Rule;
  /** The value is one of these, or a field's name. */
  readonly values?: readonly string[] | "fields";
}

/** Any text. */
export const TEXT: Rule = {};
/** A number, or a placeholder for one. */
export const NUMBER: Rule = { start: "|" };
/** Yes or no. */
export const FLAG: Rule = { start: "|", values: ["true", "false"] };
/** A field's name. */
export const FIELD: Rule = { values: "fields" };
/** Names of fields. */
export const FIELD_LIST: Rule = { start: '["|"]', values: "fields" };
/** An analyser's name. */
export const ANALYZER: Rule = {
  values: ["standard", "simple", "whitespace", "keyword", "stop", "english"],
};
const OPERATOR: Rule = { values: ["and", "or"] };
/** Formats of dates. */
export const FORMAT: Rule = { values: ["epoch_millis", "strict_date_optional_time", "yyyy-MM-dd"] };
const SHOULD_MATCH: Rule = TEXT;
const BOOST: Rule = NUMBER;

const MATCH: Rule = {
  start: "{|}",
  fields: {
    keys: {
      query: TEXT,
      operator: OPERATOR,
      fuzziness: { values: ["AUTO", "0", "1", "2"] },
      minimum_should_match: SHOULD_MATCH,
      analyzer: ANALYZER,
      zero_terms_query: { values: ["none", "all"] },
      boost: BOOST,
    },
  },
};
const PHRASE: Rule = {
  start: "{|}",
  fields: { keys: { query: TEXT, slop: NUMBER, analyzer: ANALYZER, boost: BOOST } },
};
const ONE_VALUE: Rule = { start: "{|}", fields: { keys: { value: TEXT, boost: BOOST } } };
const RANGE: Rule = {
  start: "{|}",
  fields: {
    start: "{|}",
    keys: {
      gte: NUMBER,
      gt: NUMBER,
      lte: NUMBER,
      lt: NUMBER,
      format: FORMAT,
      time_zone: TEXT,
      boost: BOOST,
    },
  },
};

const clauses: Record<string, Rule> = {};
/** A query. */
export const QUERY: Rule = { start: "{|}", keys: clauses };
const QUERIES: Rule = { start: "[{|}]", keys: clauses };
Object.assign(clauses, {
  match_all: { start: "{}", keys: { boost: BOOST } },
  match_none: { start: "{}" },
  match: MATCH,
  match_phrase: PHRASE,
  match_phrase_prefix: PHRASE,
  multi_match: {
    start: "{|}",
    keys: {
      query: TEXT,
      fields: FIELD_LIST,
      type: { values: ["best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix"] },
      operator: OPERATOR,
      minimum_should_match: SHOULD_MATCH,
      tie_breaker: NUMBER,
    },
  },
  bool: {
    start: "{|}",
    keys: {
      must: QUERIES,
      must_not: QUERIES,
      should: QUERIES,
      filter: QUERIES,
      minimum_should_match: { start: "|" },
      boost: BOOST,
    },
  },
  range: RANGE,
  term: ONE_VALUE,
  terms: { start: "{|}", fields: { start: '["|"]' } },
  exists: { start: '{"field": "|"}', keys: { field: FIELD } },
  prefix: ONE_VALUE,
  wildcard: ONE_VALUE,
  regexp: ONE_VALUE,
  fuzzy: ONE_VALUE,
  ids: { start: '{"values": ["|"]}', keys: { values: { start: '["|"]' } } },
  query_string: {
    start: '{"query": "|"}',
    keys: {
      query: TEXT,
      default_field: FIELD,
      fields: FIELD_LIST,
      default_operator: { values: ["AND", "OR"] },
      lenient: FLAG,
      analyze_wildcard: FLAG,
    },
  },
  simple_query_string: {
    start: '{"query": "|"}',
    keys: { query: TEXT, fields: FIELD_LIST, default_operator: { values: ["AND", "OR"] } },
  },
  constant_score: { start: '{"filter": {|}}', keys: { filter: QUERY, boost: BOOST } },
  dis_max: { start: '{"queries": [{|}]}', keys: { queries: QUERIES, tie_breaker: NUMBER } },
} satisfies Record<string, Rule>);

const kinds: Record<string, Rule> = {};
/** Aggregations by user-defined names. */
export const AGGREGATIONS: Rule = { start: "{|}", names: { start: "{|}", keys: kinds } };
const OF_FIELD: Rule = { start: '{"field": "|"}', keys: { field: FIELD, missing: TEXT } };
const ORDER: Rule = { start: '{"|": "desc"}', names: { values: ["asc", "desc"] } };
const RANGES: Rule = {
  start: "[{|}]",
  keys: { key: TEXT, from: NUMBER, to: NUMBER },
};
Object.assign(kinds, {
  aggs: AGGREGATIONS,
  aggregations: AGGREGATIONS,
  terms: {
    start: '{"field": "|"}',
    keys: {
      field: FIELD,
      size: NUMBER,
      order: ORDER,
      min_doc_count: NUMBER,
      include: TEXT,
      exclude: TEXT,
      missing: TEXT,
    },
  },
  date_histogram: {
    start: '{"field": "@timestamp", "interval": "|"}',
    keys: {
      field: FIELD,
      interval: { values: ["minute", "hour", "day", "week", "month", "1m", "5m", "1h", "1d"] },
      time_zone: TEXT,
      format: FORMAT,
      min_doc_count: NUMBER,
      extended_bounds: { start: "{|}", keys: { min: NUMBER, max: NUMBER } },
      offset: TEXT,
    },
  },
  histogram: {
    start: '{"field": "|", "interval": 10}',
    keys: { field: FIELD, interval: NUMBER, min_doc_count: NUMBER, offset: NUMBER },
  },
  range: {
    start: '{"field": "|", "ranges": []}',
    keys: { field: FIELD, ranges: RANGES, keyed: FLAG },
  },
  date_range: {
    start: '{"field": "@timestamp", "ranges": [{|}]}',
    keys: { field: FIELD, ranges: RANGES, format: FORMAT },
  },
  filter: QUERY,
  filters: { start: '{"filters": {|}}', keys: { filters: { start: "{|}", names: QUERY } } },
  missing: OF_FIELD,
  global: { start: "{}" },
  avg: OF_FIELD,
  sum: OF_FIELD,
  min: OF_FIELD,
  max: OF_FIELD,
  stats: OF_FIELD,
  extended_stats: OF_FIELD,
  value_count: OF_FIELD,
  cardinality: {
    start: '{"field": "|"}',
    keys: { field: FIELD, precision_threshold: NUMBER },
  },
  percentiles: {
    start: '{"field": "|"}',
    keys: { field: FIELD, percents: { start: "[|]" } },
  },
  top_hits: { start: "{|}", keys: { size: NUMBER, sort: { start: "[{|}]" }, _source: FIELD_LIST } },
} satisfies Record<string, Rule>);
