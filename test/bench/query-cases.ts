/** What the benchmark `query` asks, as a search and in SQL, and what of the two answers has to be the same. */

import type { SearchResponse } from "#hub/search/phases/contract.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";
import { CORPUS_START_MS } from "./log-corpus.ts";

const FROM_MS = CORPUS_START_MS + 2 * DAY_MS;
const TO_MS = CORPUS_START_MS + 4 * DAY_MS;
/** Where the nearest documents are looked for. */
export const PARIS = { lat: 48.8566, lon: 2.3522 };

/** A row of the reference. */
export type Row = Record<string, number | string | null>;
type Json = Record<string, unknown>;

/** What is asked of both. */
export interface Case {
  readonly name: string;
  /** Target with 10 million documents, filters remembered or again. */
  readonly atMostMs?: number;
  /** Target of documents that a script runs on in a second. */
  readonly scriptsPerSecond?: number;
  /** Asked of the documents with nested objects. */
  readonly nested?: true;
  readonly body: Json;
  /** What of the answer has to equal the reference's. */
  readonly answer: (response: SearchResponse) => unknown;
  readonly sql: string;
  readonly expected: (rows: readonly Row[]) => unknown;
}

const total = (response: SearchResponse): unknown => response.total;
const count = (rows: readonly Row[]): unknown => rows[0]!["n"];

const byHour = { date_histogram: { field: "@timestamp", interval: "hour" } };

interface Bucket {
  readonly key: unknown;
  readonly doc_count: number;
  readonly hosts?: Json;
  readonly status?: { readonly value: number | null };
}

interface NamedMean {
  readonly key: string;
  readonly doc_count: number;
  readonly mean: { readonly value: number };
}

function buckets(response: SearchResponse, name: string): readonly Bucket[] {
  return (response.aggregations![name] as { buckets: readonly Bucket[] }).buckets;
}

function match(query: string): string {
  return `SELECT count(*) AS n FROM logs WHERE logs MATCH '${query}'`;
}

/** Documents a second and core. */
const SCRIPTS = 2_000_000;

/** The status and the minute of the thousand, a number that floats hold. */
const MINUTE_STATUS = {
  source:
    "doc['http.response.status_code'].value + (doc['@timestamp'].value.millis - params.from) / 60000 % 1000",
  params: { from: CORPUS_START_MS },
};
const MINUTE_STATUS_SQL = `SELECT coalesce(status, 0) + (time - ${CORPUS_START_MS}) / 60000 % 1000 AS value FROM docs ORDER BY value DESC LIMIT 10`;

const BOTH = { match: { message: { query: "post chrome", operator: "and" } } };

/** All of them. */
export const CASES: readonly Case[] = [
  {
    name: "term, top 10 by score",
    atMostMs: 1,
    body: { query: { match: { message: "post" } } },
    answer: total,
    sql: match("post"),
    expected: count,
  },
  {
    name: "AND 10 % x 30 %, count",
    atMostMs: 8,
    body: { size: 0, query: BOTH },
    answer: total,
    sql: match("post AND chrome"),
    expected: count,
  },
  {
    name: "AND 10 % x 30 %, top 10 by score",
    body: { query: BOTH },
    answer: total,
    sql: match("post AND chrome"),
    expected: count,
  },
  {
    name: "any of two terms, top 10 by score",
    body: { query: { match: { message: "post chrome" } } },
    answer: total,
    sql: match("post OR chrome"),
    expected: count,
  },
  {
    name: "phrase, top 10 by score",
    atMostMs: 5,
    body: { query: { match_phrase: { message: "authentication failure" } } },
    answer: total,
    sql: match('"authentication failure"'),
    expected: count,
  },
  {
    name: "two terms near each other as spans, top 10 by score",
    body: {
      query: {
        span_near: {
          clauses: [{ span_term: { message: "post" } }, { span_term: { message: "chrome" } }],
          slop: 40,
          in_order: false,
        },
      },
    },
    answer: total,
    sql: match("NEAR(post chrome, 40)"),
    expected: count,
  },
  {
    name: "date_histogram",
    atMostMs: 20,
    body: { size: 0, aggs: { hours: byHour } },
    answer: (response) => buckets(response, "hours").map(({ key, doc_count }) => [key, doc_count]),
    sql: `SELECT time / ${HOUR_MS} * ${HOUR_MS} AS hour, count(*) AS n FROM docs GROUP BY 1 ORDER BY 1`,
    expected: (rows) => rows.map(({ hour, n }) => [hour, n]),
  },
  {
    name: "date_histogram of a term",
    body: { size: 0, query: { match: { message: "post" } }, aggs: { hours: byHour } },
    answer: (response) => buckets(response, "hours").map(({ key, doc_count }) => [key, doc_count]),
    sql: `SELECT time / ${HOUR_MS} * ${HOUR_MS} AS hour, count(*) AS n FROM logs JOIN docs ON docs.id = logs.rowid WHERE logs MATCH 'post' GROUP BY 1 ORDER BY 1`,
    expected: (rows) => rows.map(({ hour, n }) => [hour, n]),
  },
  {
    name: "date_histogram x terms",
    atMostMs: 30,
    body: {
      size: 0,
      aggs: {
        hours: {
          ...byHour,
          aggs: { hosts: { terms: { field: "host.name", size: 100, order: { _key: "asc" } } } },
        },
      },
    },
    answer: (response) =>
      buckets(response, "hours").flatMap(({ key, hosts }) =>
        (hosts!["buckets"] as { key: unknown; doc_count: number }[]).map((host) => [
          key,
          host.key,
          host.doc_count,
        ]),
      ),
    sql: `SELECT time / ${HOUR_MS} * ${HOUR_MS} AS hour, host, count(*) AS n FROM docs GROUP BY 1, 2 ORDER BY 1, 2`,
    expected: (rows) => rows.map(({ hour, host, n }) => [hour, host, n]),
  },
  {
    name: "terms",
    atMostMs: 20,
    body: { size: 0, aggs: { hosts: { terms: { field: "host.name", size: 100, order: { _key: "asc" } } } } },
    answer: (response) => buckets(response, "hosts").map(({ key, doc_count }) => [key, doc_count]),
    sql: "SELECT host, count(*) AS n FROM docs GROUP BY 1 ORDER BY 1",
    expected: (rows) => rows.map(({ host, n }) => [host, n]),
  },
  {
    name: "range, top 10 by time",
    atMostMs: 10,
    body: {
      query: { range: { "@timestamp": { gte: FROM_MS, lt: TO_MS, format: "epoch_millis" } } },
      sort: [{ "@timestamp": "desc" }],
    },
    answer: (response) => [response.total, response.hits.map((hit) => (hit["sort"] as unknown[])[0])],
    sql: `SELECT time, (SELECT count(*) FROM docs WHERE time >= ${FROM_MS} AND time < ${TO_MS}) AS n FROM docs WHERE time >= ${FROM_MS} AND time < ${TO_MS} ORDER BY time DESC LIMIT 10`,
    expected: (rows) => [rows[0]!["n"], rows.map(({ time }) => time)],
  },
  {
    name: "range of status, count",
    body: { size: 0, query: { range: { "http.response.status_code": { gte: 400 } } } },
    answer: total,
    sql: "SELECT count(*) AS n FROM docs WHERE status >= 400",
    expected: count,
  },
  {
    name: "terms x average",
    body: {
      size: 0,
      aggs: {
        hosts: {
          terms: { field: "host.name", size: 100, order: { _key: "asc" } },
          aggs: { status: { avg: { field: "http.response.status_code" } } },
        },
      },
    },
    answer: (response) =>
      buckets(response, "hosts").map(({ key, status }) => [key, status!.value?.toFixed(6) ?? null]),
    sql: "SELECT host, avg(status) AS mean FROM docs GROUP BY 1 ORDER BY 1",
    expected: (rows) => rows.map(({ host, mean }) => [host, mean === null ? null : Number(mean).toFixed(6)]),
  },
  {
    name: "geo sort, top 10",
    atMostMs: 60,
    body: { sort: [{ _geo_distance: { "source.geo.location": PARIS, unit: "km" } }] },
    answer: (response) => response.hits.map((hit) => Number((hit["sort"] as number[])[0]).toFixed(2)),
    sql: `SELECT kilometres(lat, lon) AS far FROM docs WHERE lat IS NOT NULL ORDER BY far LIMIT 10`,
    expected: (rows) => rows.map(({ far }) => Number(far).toFixed(2)),
  },
  {
    name: "substring scan",
    atMostMs: 1200,
    body: { size: 0, query: { wildcard: { message: "*ateway*" } } },
    answer: total,
    sql: "SELECT count(*) AS n FROM logs WHERE message LIKE '%ateway%'",
    expected: count,
  },
  {
    name: "script over two columns, count",
    scriptsPerSecond: SCRIPTS,
    body: {
      size: 0,
      query: {
        script: {
          script: {
            source:
              "doc['http.response.status_code'].value >= 400 && doc['@timestamp'].value.millis < params.to",
            params: { to: TO_MS },
          },
        },
      },
    },
    answer: total,
    sql: `SELECT count(*) AS n FROM docs WHERE status >= 400 AND time < ${TO_MS}`,
    expected: count,
  },
  {
    name: "script score over two columns, top 10",
    scriptsPerSecond: SCRIPTS,
    body: {
      query: { function_score: { query: { match_all: {} }, script_score: { script: MINUTE_STATUS } } },
    },
    answer: (response) => response.hits.map((hit) => hit["_score"]),
    sql: MINUTE_STATUS_SQL,
    expected: (rows) => rows.map(({ value }) => value),
  },
  {
    name: "sort by script over two columns, top 10",
    scriptsPerSecond: SCRIPTS,
    body: { sort: [{ _script: { type: "number", order: "desc", script: MINUTE_STATUS } }] },
    answer: (response) => response.hits.map((hit) => Number((hit["sort"] as number[])[0])),
    sql: MINUTE_STATUS_SQL,
    expected: (rows) => rows.map(({ value }) => value),
  },
  {
    name: "a runtime field by range, count",
    body: {
      size: 0,
      query: { range: { late: { gte: 1_000 } } },
      runtime_mappings: {
        late: { type: "double", script: { ...MINUTE_STATUS, source: `emit(${MINUTE_STATUS.source})` } },
      },
    },
    answer: total,
    sql: `SELECT count(*) AS n FROM (${MINUTE_STATUS_SQL.replace(/ ORDER .*/, "")}) WHERE value >= 1000`,
    expected: count,
  },
  {
    name: "nested objects by two conditions, count",
    nested: true,
    body: {
      size: 0,
      query: {
        nested: {
          path: "steps",
          query: {
            bool: {
              filter: [{ term: { "steps.name": "query" } }, { range: { "steps.took": { gte: 500 } } }],
            },
          },
        },
      },
    },
    answer: total,
    sql: "SELECT count(DISTINCT doc) AS n FROM steps WHERE name = 'query' AND took >= 500",
    expected: count,
  },
  {
    name: "nested objects, terms and mean",
    nested: true,
    body: {
      size: 0,
      aggs: {
        steps: {
          nested: { path: "steps" },
          aggs: {
            names: { terms: { field: "steps.name" }, aggs: { mean: { avg: { field: "steps.took" } } } },
          },
        },
      },
    },
    answer: (response) => {
      const { names } = response.aggregations!["steps"] as { names: { buckets: readonly NamedMean[] } };
      return names.buckets.map((bucket) => [bucket.key, bucket.doc_count, bucket.mean.value.toFixed(6)]);
    },
    sql: "SELECT name, count(*) AS n, avg(took) AS mean FROM steps GROUP BY 1 ORDER BY n DESC, name",
    expected: (rows) => rows.map(({ name, n, mean }) => [name, n, Number(mean).toFixed(6)]),
  },
];
