/** Makes malformed requests: valid ones with something broken, and plain nonsense. The same randomness, the same request. */

import type { Random } from "#hub/engine/random.test-support.ts";

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const QUERIES: readonly object[] = [
  { match_all: {} },
  { match: { message: { query: "line 3", fuzziness: "AUTO", operator: "and" } } },
  { term: { level: "error" } },
  { terms: { n: [1, 2, 3] } },
  { terms: { n: { index: "lines", id: "1", path: "n" } } },
  { range: { n: { gte: 1, lt: 5, format: "epoch_millis" } } },
  { range: { at: { gte: "2026-01-01||-1d/d", time_zone: "+01:00" } } },
  {
    bool: {
      must: [{ exists: { field: "n" } }],
      should: { prefix: { level: "e" } },
      minimum_should_match: "50%",
    },
  },
  {
    query_string: { query: 'level:(error OR info) AND n:[1 TO 5] message:/l.+e/ "line 1"~2', lenient: true },
  },
  { simple_query_string: { query: "line + -info | (n*)", fields: ["message^2", "*"] } },
  { wildcard: { level: { value: "*e?r*" } } },
  { regexp: { level: "(a|b)*{1,9}[^x]+" } },
  { function_score: { functions: [{ gauss: { n: { origin: 1, scale: 2 } } }], score_mode: "sum" } },
  { geo_distance: { distance: "1km", at: "1,2", ignore_unmapped: true } },
  { multi_match: { query: "line", fields: ["message", "level"], type: "cross_fields" } },
  { dis_max: { queries: [{ match_all: {} }], tie_breaker: 0.3 } },
  { ids: { values: ["1", "2"] } },
  { nested: { path: "x", query: {} } },
];

const AGGREGATIONS: readonly object[] = [
  { terms: { field: "n", size: 3, order: { _count: "asc" }, include: [1] } },
  {
    date_histogram: {
      field: "at",
      interval: "1d",
      time_zone: "Europe/Berlin",
      offset: "+6h",
      min_doc_count: 0,
    },
  },
  { histogram: { field: "n", interval: 0.5, extended_bounds: { min: 0, max: 10 } } },
  { range: { field: "n", ranges: [{ to: 5 }, { from: 5, key: "x" }] } },
  { percentiles: { field: "n", percents: [1, 50], hdr: {} } },
  { cardinality: { field: "n", precision_threshold: 10 } },
  { composite: { sources: [{ a: { terms: { field: "n" } } }], size: 2 } },
  { filters: { filters: { a: { term: { n: 1 } } } } },
  { top_hits: { size: 1, sort: ["n"] } },
  { significant_terms: { field: "n", min_doc_count: 1 } },
  { auto_date_histogram: { field: "at", buckets: 5 } },
  { max_bucket: { buckets_path: "a>b" } },
  { sampler: { shard_size: 5 } },
];

const BULK = [
  { index: { _index: "lines", _id: "1" } },
  { create: { _index: "lines" } },
  { update: { _index: "lines", _id: "2", retry_on_conflict: 1 } },
  { delete: { _index: "lines", _id: "nothing" } },
  { doc: { n: 4 } },
  { n: 4, message: "x" },
];

/** Values that stand where others are expected. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  "",
  " ",
  "x",
  "-1",
  "1e400",
  "NaN",
  "\u0000",
  "\ud800",
  "*",
  "é".repeat(50),
  "../../etc/passwd",
  "now-1d/d",
  [],
  [[]],
  [null],
  {},
  { "": {} },
  { field: "n" },
  "__proto__",
  "constructor",
];

const NAMES = [
  "lines",
  "nothing",
  "*",
  "_all",
  "li*",
  "lines,nothing",
  "-lines",
  "<x-{now/d}>",
  "a".repeat(300),
  "Upper",
  "..",
  "x y",
  "%",
  "%zz",
  "__proto__",
];
const PARAMETERS = [
  "size",
  "from",
  "q",
  "sort",
  "scroll",
  "routing",
  "timeout",
  "filter_path",
  "format",
  "pretty",
  "refresh",
  "version",
  "version_type",
  "preference",
  "_source",
  "h",
  "s",
  "v",
  "wait_for_completion",
  "ignore_unavailable",
  "op_type",
  "slices",
  "requests_per_second",
  "fields",
  "level",
  "nonsense",
];
const TYPES = [
  "application/json",
  "application/x-ndjson",
  "application/json; charset=utf-16",
  "text/plain",
  "application/vnd.elasticsearch+json; compatible-with=8",
  "",
  "a/b;;;",
  "multipart/form-data",
];
const METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"];

/** An operation with a body that would do. */
function operation(random: Random): { method: string; path: string; body: unknown; lines?: boolean } {
  const name = encodeURIComponent(random.oneIn(3) ? random.pick(NAMES) : "lines").replaceAll("%2C", ",");
  const search = {
    query: random.pick(QUERIES),
    aggs: { a: { ...random.pick(AGGREGATIONS), aggs: { b: random.pick(AGGREGATIONS) } } },
  };
  const operations: { method: string; path: string; body: unknown; lines?: boolean }[] = [
    {
      method: "POST",
      path: `/${name}/_search`,
      body: { ...search, size: 3, sort: [{ n: "desc" }], highlight: { fields: { message: {} } } },
    },
    {
      method: "POST",
      path: `/${name}/_search`,
      body: { ...search, profile: true, explain: true },
    },
    {
      method: "GET",
      path: `/${name}/_doc/_search`,
      body: { query: random.pick(QUERIES), collapse: { field: "n" }, _source: ["n"], docvalue_fields: ["n"] },
    },
    {
      method: "POST",
      path: `/${name}/_search?scroll=1s`,
      body: { slice: { id: 0, max: 2 }, query: random.pick(QUERIES) },
    },
    { method: "POST", path: "/_search/scroll", body: { scroll_id: "abc", scroll: "1s" } },
    { method: "POST", path: `/${name}/_count`, body: { query: random.pick(QUERIES) } },
    { method: "POST", path: "/_msearch", body: [{ index: "lines" }, search, {}, { size: 1 }], lines: true },
    { method: "POST", path: "/_bulk", body: Array.from({ length: 4 }, () => random.pick(BULK)), lines: true },
    {
      method: "PUT",
      path: `/fuzz/_doc/${random.below(50)}`,
      body: { n: 1, m: { a: [1, { b: 2 }] }, at: "2026-01-01" },
    },
    {
      method: "POST",
      path: `/fuzz/_doc/${random.below(50)}/_update`,
      body: { doc: { n: 2 }, upsert: { n: 1 }, doc_as_upsert: false },
    },
    { method: "GET", path: `/${name}/_doc/1`, body: undefined },
    { method: "POST", path: "/_mget", body: { docs: [{ _index: "lines", _id: "1", _source: ["n"] }] } },
    {
      method: "PUT",
      path: `/fuzz-${random.below(20)}`,
      body: {
        settings: { "index.number_of_shards": 1 },
        mappings: { _doc: { properties: { a: { type: "keyword", ignore_above: 3 } } } },
        aliases: { z: {} },
      },
    },
    { method: "DELETE", path: `/fuzz-${random.below(20)}`, body: undefined },
    {
      method: "PUT",
      path: `/fuzz/_mapping`,
      body: { properties: { t: { type: "text", fields: { k: { type: "keyword" } } } } },
    },
    { method: "PUT", path: `/fuzz/_settings`, body: { index: { refresh_interval: "1s" } } },
    {
      method: "PUT",
      path: "/_template/fuzz",
      body: { index_patterns: ["nothing-fits-*"], order: 1, mappings: { _doc: {} } },
    },
    {
      method: "POST",
      path: "/_aliases",
      body: { actions: [{ add: { index: "fuzz", alias: "y", filter: { term: { n: 1 } } } }] },
    },
    {
      method: "GET",
      path: `/${name}/_analyze`,
      body: { tokenizer: "standard", filter: ["lowercase", "unique"], text: "One two one" },
    },
    { method: "GET", path: `/${name}/_field_caps?fields=*`, body: undefined },
    { method: "POST", path: `/${name}/_validate/query?explain=true`, body: { query: random.pick(QUERIES) } },
    { method: "GET", path: `/lines/_doc/1/_explain`, body: { query: random.pick(QUERIES) } },
    { method: "POST", path: `/fuzz/_delete_by_query`, body: { query: { term: { n: -5 } } } },
    {
      method: "POST",
      path: `/_reindex`,
      body: {
        source: { index: "lines", size: 5, query: random.pick(QUERIES) },
        dest: { index: "fuzz" },
        size: 2,
      },
    },
    {
      method: "POST",
      path: `/z/_rollover`,
      body: { conditions: { max_docs: 1, max_age: "1d", max_size: "1gb" } },
    },
    {
      method: "GET",
      path: `/_cat/${random.pick(["indices", "nodes", "shards", "aliases", "thread_pool", "nonsense"])}?v&h=*&s=x`,
      body: undefined,
    },
    { method: "GET", path: `/_cluster/health?wait_for_status=green&timeout=1ms`, body: undefined },
    { method: "GET", path: `/_nodes/${name}/stats`, body: undefined },
    { method: "GET", path: `/_tasks/${name}:1`, body: undefined },
    { method: "GET", path: `/${name}/_stats/${random.pick(["docs", "x", "_all"])}`, body: undefined },
    { method: "PUT", path: "/_cluster/settings", body: { transient: { "fuzz.setting": null } } },
  ];
  return random.pick(operations);
}

/** Makes a request, broken in one way or several. */
export function malformedRequest(random: Random): RawRequest {
  const { method, path, body, lines = false } = operation(random);
  const broken = random.oneIn(4) ? body : mutated(body, random);
  let text = "";
  if (broken !== undefined) {
    text =
      lines && Array.isArray(broken)
        ? broken.map((line: unknown) => `${JSON.stringify(line)}\n`).join("")
        : JSON.stringify(broken);
  }
  if (random.oneIn(6)) text = damaged(text, random);
  if (random.oneIn(200)) text = `${'{"bool":{"must":['.repeat(300)}`;
  const type = random.oneIn(12) ? random.pick(TYPES) : lines ? "application/x-ndjson" : "application/json";
  return {
    method: random.oneIn(15) ? random.pick(METHODS) : method,
    path: withParameters(
      random.oneIn(12) ? `${path}/${encodeURIComponent(random.pick(NAMES))}` : path,
      random,
    ),
    headers: type === "" ? {} : { "content-type": type },
    body: text,
  };
}

function withParameters(path: string, random: Random): string {
  // A wait as long as was asked for is no fault.
  if (path.includes("wait_for")) return path;
  let result = path;
  while (random.oneIn(4)) {
    const value = encodeURIComponent(
      String(random.pick(ODD_VALUES.filter((odd) => odd !== "\ud800" && typeof odd !== "object"))),
    );
    result += `${result.includes("?") ? "&" : "?"}${random.pick(PARAMETERS)}${random.oneIn(8) ? "" : `=${value}`}`;
  }
  return result;
}

/** Changes a value somewhere: another kind, another key, one more, one less, nested too deep. */
function mutated(value: unknown, random: Random): unknown {
  if (typeof value !== "object" || value === null || random.oneIn(9)) return random.pick(ODD_VALUES);
  if (Array.isArray(value)) {
    const copy = [...(value as unknown[])];
    if (copy.length === 0 || random.oneIn(4)) copy.push(random.pick(ODD_VALUES));
    else {
      const at = random.below(copy.length);
      copy[at] = mutated(copy[at], random);
    }
    return copy;
  }
  const entries = Object.entries(value);
  const at = random.below(Math.max(1, entries.length));
  const entry = entries[at];
  const way = random.below(6);
  if (entry === undefined || way === 0)
    entries.push([random.pick(["x", "boost", "_name", "field", "query", "size"]), random.pick(ODD_VALUES)]);
  else if (way === 1) entries.splice(at, 1);
  else if (way === 2) entries[at] = [`${entry[0]}x`, entry[1]];
  else entries[at] = [entry[0], mutated(entry[1], random)];
  return Object.fromEntries(entries);
}

/** Breaks the text itself. */
function damaged(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return `${text.slice(0, at)}${random.pick(['"', "}", "{", "\\", "\u0000", ",", "9".repeat(400)])}${text.slice(at)}`;
    case 2:
      return text + text;
    case 3:
      return "[".repeat(2000);
    default:
      return Buffer.from([0xff, 0xfe, 0x00, 0x7b]).toString("latin1");
  }
}
