/** Operations that malformed requests are made of, each with a body that would do. */

import type { Random } from "#test/support/engine/random.ts";
import { AGGREGATIONS, BULK, NAMES, QUERIES } from "./api-values.ts";

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  /** True: a list of lines. */
  readonly lines?: boolean;
  /** True: it waits for a disk, or changes what the cluster knows. */
  readonly dear?: boolean;
}

/** Makes an operation; `name`: what stands for an index, encoded. */
type MakeOperation = (random: Random, name: string) => Operation;

/** One in so many operations changes something that has to reach a disk, or waits: of a long run still ten thousand. */
const DEAR_SHARE = 100;
/** Indices that are made and deleted: a search of all walks all of them. */
const INDICES = 4;

/** An operation with a body that would do. */
export function operation(random: Random): Operation {
  const name = encodeURIComponent(random.oneIn(3) ? random.pick(NAMES) : "lines").replaceAll("%2C", ",");
  const dear = random.oneIn(DEAR_SHARE);
  return { ...random.pick(dear ? DEAR : QUICK)(random, name), dear };
}

function search(random: Random): object {
  return {
    query: random.pick(QUERIES),
    aggs: { a: { ...random.pick(AGGREGATIONS), aggs: { b: random.pick(AGGREGATIONS) } } },
  };
}

/** Reads, answered from memory. */
const QUICK: readonly MakeOperation[] = [
  (random, name) => ({
    method: "POST",
    path: `/${name}/_search`,
    body: { ...search(random), size: 3, sort: [{ n: "desc" }], highlight: { fields: { message: {} } } },
  }),
  (random, name) => ({
    method: "POST",
    path: `/${name}/_search`,
    body: { ...search(random), profile: true, explain: true },
  }),
  (random, name) => ({
    method: "GET",
    path: `/${name}/_doc/_search`,
    body: { query: random.pick(QUERIES), collapse: { field: "n" }, _source: ["n"], docvalue_fields: ["n"] },
  }),
  () => ({ method: "POST", path: "/_search/scroll", body: { scroll_id: "abc", scroll: "1s" } }),
  (random, name) => ({ method: "POST", path: `/${name}/_count`, body: { query: random.pick(QUERIES) } }),
  (random) => ({
    method: "POST",
    path: "/_msearch",
    body: [{ index: "lines" }, search(random), {}, { size: 1 }],
    lines: true,
  }),
  (random) => ({
    method: "POST",
    path: `/fuzz/_doc/${random.below(50)}/_update`,
    body: { doc: { n: 2 }, upsert: { n: 1 }, doc_as_upsert: false },
  }),
  (_random, name) => ({ method: "GET", path: `/${name}/_doc/1`, body: undefined }),
  () => ({ method: "POST", path: "/_mget", body: { docs: [{ _index: "lines", _id: "1", _source: ["n"] }] } }),
  (_random, name) => ({
    method: "GET",
    path: `/${name}/_analyze`,
    body: { tokenizer: "standard", filter: ["lowercase", "unique"], text: "One two one" },
  }),
  (_random, name) => ({ method: "GET", path: `/${name}/_field_caps?fields=*`, body: undefined }),
  (random, name) => ({
    method: "POST",
    path: `/${name}/_validate/query?explain=true`,
    body: { query: random.pick(QUERIES) },
  }),
  (random) => ({ method: "GET", path: `/lines/_doc/1/_explain`, body: { query: random.pick(QUERIES) } }),
  (random) => ({
    method: "GET",
    path: `/_cat/${random.pick(["indices", "nodes", "shards", "aliases", "thread_pool", "nonsense"])}?v&h=*&s=x`,
    body: undefined,
  }),
  (_random, name) => ({ method: "GET", path: `/_nodes/${name}/stats`, body: undefined }),
  (_random, name) => ({ method: "GET", path: `/_tasks/${name}:1`, body: undefined }),
  (random, name) => ({
    method: "GET",
    path: `/${name}/_stats/${random.pick(["docs", "x", "_all"])}`,
    body: undefined,
  }),
];

/** Writes and changes of what the cluster knows. */
const DEAR: readonly MakeOperation[] = [
  (random, name) => ({
    method: "POST",
    path: `/${name}/_search?scroll=1s`,
    body: { slice: { id: 0, max: 2 }, query: random.pick(QUERIES) },
  }),
  (random) => ({
    method: "POST",
    path: "/_bulk",
    body: Array.from({ length: 4 }, () => random.pick(BULK)),
    lines: true,
  }),
  (random) => ({
    method: "PUT",
    path: `/fuzz/_doc/${random.below(50)}`,
    body: { n: 1, m: { a: [1, { b: 2 }] }, at: "2026-01-01" },
  }),
  (random) => ({
    method: "PUT",
    path: `/fuzz-${random.below(INDICES)}`,
    body: {
      settings: { "index.number_of_shards": 1 },
      mappings: { _doc: { properties: { a: { type: "keyword", ignore_above: 3 } } } },
      aliases: { z: {} },
    },
  }),
  (random) => ({ method: "DELETE", path: `/fuzz-${random.below(INDICES)}`, body: undefined }),
  () => ({
    method: "PUT",
    path: `/fuzz/_mapping`,
    body: { properties: { t: { type: "text", fields: { k: { type: "keyword" } } } } },
  }),
  () => ({ method: "PUT", path: `/fuzz/_settings`, body: { index: { refresh_interval: "1s" } } }),
  () => ({
    method: "PUT",
    path: "/_template/fuzz",
    body: { index_patterns: ["nothing-fits-*"], order: 1, mappings: { _doc: {} } },
  }),
  () => ({
    method: "POST",
    path: "/_aliases",
    body: { actions: [{ add: { index: "fuzz", alias: "y", filter: { term: { n: 1 } } } }] },
  }),
  () => ({ method: "POST", path: `/fuzz/_delete_by_query`, body: { query: { term: { n: -5 } } } }),
  (random) => ({
    method: "POST",
    path: `/_reindex`,
    body: {
      source: { index: "lines", size: 5, query: random.pick(QUERIES) },
      dest: { index: "fuzz" },
      size: 2,
    },
  }),
  () => ({
    method: "POST",
    path: `/z/_rollover`,
    body: { conditions: { max_docs: 1, max_age: "1d", max_size: "1gb" } },
  }),
  () => ({ method: "GET", path: `/_cluster/health?wait_for_status=green&timeout=1ms`, body: undefined }),
  () => ({ method: "PUT", path: "/_cluster/settings", body: { transient: { "fuzz.setting": null } } }),
];
