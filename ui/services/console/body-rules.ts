/** What may stand where in the bodies of requests: the query language, aggregations, mappings, settings. */

export interface Rule {
  /** What the key's value begins with; `|` is where the cursor goes. Default `"|"`. */
  readonly start?: string;
  readonly keys?: Readonly<Record<string, Rule>>;
  /** Keys are names of fields, each with this rule. */
  readonly fields?: Rule;
  /** Keys are names of one's own, each with this rule. */
  readonly names?: Rule;
  /** The value is one of these, or a field's name. */
  readonly values?: readonly string[] | "fields";
}

const TEXT: Rule = {};
const NUMBER: Rule = { start: "|" };
const FLAG: Rule = { start: "|", values: ["true", "false"] };
const FIELD: Rule = { values: "fields" };
const FIELD_LIST: Rule = { start: '["|"]', values: "fields" };
const ANALYZER: Rule = {
  values: ["standard", "simple", "whitespace", "keyword", "stop", "english"],
};
const OPERATOR: Rule = { values: ["and", "or"] };
const FORMAT: Rule = { values: ["epoch_millis", "strict_date_optional_time", "yyyy-MM-dd"] };
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
const QUERY: Rule = { start: "{|}", keys: clauses };
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
const AGGREGATIONS: Rule = { start: "{|}", names: { start: "{|}", keys: kinds } };
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

const SORT: Rule = {
  start: "[{|}]",
  keys: {
    _score: { start: '{"order": "|"}', keys: { order: { values: ["asc", "desc"] } } },
    _geo_distance: {
      start: '{"|": {"lat": 0, "lon": 0}, "order": "asc", "unit": "km"}',
      fields: { start: "{|}", keys: { lat: NUMBER, lon: NUMBER } },
      keys: { order: { values: ["asc", "desc"] }, unit: { values: ["km", "m", "mi"] } },
    },
  },
  fields: {
    start: '{"order": "|"}',
    keys: {
      order: { values: ["asc", "desc"] },
      unmapped_type: TEXT,
      missing: { values: ["_last", "_first"] },
    },
  },
};
const HIGHLIGHT: Rule = {
  start: '{"fields": {|}}',
  keys: {
    fields: {
      start: "{|}",
      fields: { start: "{}", keys: { number_of_fragments: NUMBER, fragment_size: NUMBER } },
    },
    pre_tags: { start: '["|"]' },
    post_tags: { start: '["|"]' },
    number_of_fragments: NUMBER,
    fragment_size: NUMBER,
  },
};
const SEARCH: Rule = {
  keys: {
    query: QUERY,
    aggs: AGGREGATIONS,
    aggregations: AGGREGATIONS,
    sort: SORT,
    size: NUMBER,
    from: NUMBER,
    _source: FIELD_LIST,
    highlight: HIGHLIGHT,
    post_filter: QUERY,
    search_after: { start: "[|]" },
    docvalue_fields: FIELD_LIST,
    track_total_hits: FLAG,
    min_score: NUMBER,
    timeout: TEXT,
  },
};

const fieldKeys: Record<string, Rule> = {};
const PROPERTIES: Rule = { start: "{|}", names: { start: '{"type": "|"}', keys: fieldKeys } };
Object.assign(fieldKeys, {
  type: {
    values: [
      "text",
      "keyword",
      "date",
      "long",
      "integer",
      "double",
      "float",
      "boolean",
      "ip",
      "geo_point",
      "object",
    ],
  },
  fields: { start: '{"keyword": {"type": "keyword", "ignore_above": 256|}}', names: { keys: fieldKeys } },
  ignore_above: NUMBER,
  analyzer: ANALYZER,
  search_analyzer: ANALYZER,
  format: FORMAT,
  index: FLAG,
  doc_values: FLAG,
  properties: PROPERTIES,
  copy_to: FIELD,
} satisfies Record<string, Rule>);
const MAPPING: Rule = {
  start: "{|}",
  keys: {
    properties: PROPERTIES,
    dynamic: { values: ["true", "false", "strict"] },
    dynamic_templates: { start: "[{|}]" },
    date_detection: FLAG,
  },
};
const SETTINGS: Rule = {
  start: "{|}",
  keys: {
    number_of_shards: NUMBER,
    number_of_replicas: NUMBER,
    refresh_interval: TEXT,
    "index.number_of_replicas": NUMBER,
    "index.refresh_interval": TEXT,
    "index.max_result_window": NUMBER,
    "index.mapping.lenient": FLAG,
    analysis: {
      start: "{|}",
      keys: {
        analyzer: {
          start: "{|}",
          names: { start: '{"tokenizer": "|"}', keys: { tokenizer: ANALYZER, filter: { start: '["|"]' } } },
        },
        filter: { start: "{|}" },
        tokenizer: { start: "{|}" },
      },
    },
  },
};
const INDEX: Rule = {
  keys: {
    settings: SETTINGS,
    mappings: { ...MAPPING, keys: { ...MAPPING.keys, _doc: MAPPING } },
    aliases: { start: "{|}" },
  },
};
const ALIAS_STEP: Rule = { start: '{"index": "|", "alias": ""}', keys: { index: TEXT, alias: TEXT } };
const ACTION_LINE: Rule = { start: '{"_id": "|"}', keys: { _id: TEXT, _index: TEXT, routing: TEXT } };

/** By the last segment of the path that is an operation's name; "" is an index by itself. */
const BODIES: Readonly<Record<string, Rule>> = {
  _search: SEARCH,
  _msearch: SEARCH,
  _count: { keys: { query: QUERY } },
  query: { keys: { query: QUERY } },
  _explain: { keys: { query: QUERY } },
  _analyze: {
    keys: {
      text: TEXT,
      analyzer: ANALYZER,
      tokenizer: { values: ["standard", "letter", "lowercase", "whitespace", "keyword", "pattern", "ngram"] },
      filter: {
        start: '["|"]',
        values: ["lowercase", "unique", "stop", "asciifolding", "trim", "reverse", "porter_stem", "length"],
      },
      char_filter: { start: '["|"]', values: ["html_strip"] },
      field: FIELD,
      explain: FLAG,
    },
  },
  _mapping: { ...MAPPING, keys: { ...MAPPING.keys, _doc: MAPPING } },
  _settings: { ...SETTINGS, keys: { ...SETTINGS.keys, index: SETTINGS } },
  _aliases: {
    keys: {
      actions: {
        start: "[{|}]",
        keys: { add: ALIAS_STEP, remove: ALIAS_STEP, remove_index: { start: '{"index": "|"}' } },
      },
    },
  },
  _template: {
    keys: { ...INDEX.keys, index_patterns: { start: '["|"]' }, order: NUMBER, version: NUMBER },
  },
  _update: {
    start: "{|}",
    keys: {
      doc: { start: "{|}", fields: TEXT },
      doc_as_upsert: FLAG,
      detect_noop: FLAG,
      upsert: { start: "{|}", fields: TEXT },
    },
  },
  _bulk: { keys: { index: ACTION_LINE, create: ACTION_LINE, update: ACTION_LINE, delete: ACTION_LINE } },
  _mget: { keys: { ids: { start: '["|"]' }, docs: { start: "[{|}]", keys: ACTION_LINE.keys! } } },
  _doc: { fields: TEXT },
  _create: { fields: TEXT },
  "": INDEX,
};

/** Returns the rule of a request's body, or undefined where nothing is known. `segments` of the path, without the query. */
export function bodyRule(segments: readonly string[]): Rule | undefined {
  const names = segments.map((segment) => segment.replace(/^_mappings$/, "_mapping"));
  const operation = names.findLast((segment) => segment.startsWith("_") && segment !== "_all");
  if (operation === "_doc" && names.includes("_mapping")) return BODIES["_mapping"];
  if (operation === "_validate") return BODIES["query"];
  return BODIES[operation ?? ""];
}

/** Returns the rule below a rule at a path of keys. */
export function ruleAt(rule: Rule | undefined, keys: readonly string[]): Rule | undefined {
  let found = rule;
  for (const key of keys) found = found?.keys?.[key] ?? found?.names ?? found?.fields;
  return found;
}
