/** Allowed keys and values in the bodies of requests, by the operation of their path. */

import {
  AGGREGATIONS,
  ANALYZER,
  FIELD,
  FIELD_LIST,
  FLAG,
  FORMAT,
  NUMBER,
  QUERY,
  type Rule,
  TEXT,
} from "./query-rules.ts";

const SCRIPT: Rule = {
  start: '{"source": "|"}',
  keys: {
    source: TEXT,
    id: TEXT,
    lang: { values: ["painless", "expression"] },
    params: { start: "{|}" },
  },
};
const SORT: Rule = {
  start: "[{|}]",
  keys: {
    _script: {
      start: '{"type": "number", "script": {"source": "|"}}',
      keys: { type: { values: ["number", "string"] }, script: SCRIPT, order: { values: ["asc", "desc"] } },
    },
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
    script_fields: {
      start: "{|}",
      names: { start: '{"script": {"source": "|"}}', keys: { script: SCRIPT } },
    },
    runtime_mappings: {
      start: "{|}",
      names: {
        start: '{"type": "|"}',
        keys: {
          type: { values: ["keyword", "long", "double", "date", "boolean", "ip", "geo_point"] },
          script: SCRIPT,
        },
      },
    },
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

const CONFLICTS: Rule = { values: ["abort", "proceed"] };

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
      script: SCRIPT,
      scripted_upsert: FLAG,
      doc: { start: "{|}", fields: TEXT },
      doc_as_upsert: FLAG,
      detect_noop: FLAG,
      upsert: { start: "{|}", fields: TEXT },
    },
  },
  _update_by_query: { keys: { query: QUERY, script: SCRIPT, conflicts: CONFLICTS } },
  _delete_by_query: { keys: { query: QUERY, conflicts: CONFLICTS } },
  _reindex: {
    keys: {
      source: {
        start: '{"index": "|"}',
        keys: { index: TEXT, query: QUERY, size: NUMBER, _source: FIELD_LIST },
      },
      dest: {
        start: '{"index": "|"}',
        keys: { index: TEXT, op_type: { values: ["create", "index"] }, pipeline: TEXT },
      },
      script: SCRIPT,
      conflicts: CONFLICTS,
    },
  },
  _scripts: { keys: { script: SCRIPT } },
  _bulk: { keys: { index: ACTION_LINE, create: ACTION_LINE, update: ACTION_LINE, delete: ACTION_LINE } },
  _mget: { keys: { ids: { start: '["|"]' }, docs: { start: "[{|}]", keys: ACTION_LINE.keys! } } },
  _doc: { fields: TEXT },
  _create: { fields: TEXT },
  "": INDEX,
};

/**
 * Returns the rule of a request's body, or undefined if nothing is known. `segments` of the path, without the query.
 */
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
