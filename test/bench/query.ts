/**
 * Questions to an index that is warm: what a person waits for, with SQLite (full-text index, table with an index on time)
 * asked the same of the same documents. No time is said of an answer that isn't SQLite's too. The best of
 * several askings counts, on both sides; once with filters that are remembered, once with all found anew.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { filterCache } from "#hub/engine/segment/filter-cache.ts";
import type { Shard } from "#hub/engine/shard.ts";
import { DEFAULT_LIMITS, type SearchResponse, searchShards } from "#hub/search/search.ts";
import { parseSearchRequest } from "#hub/search/search-request.ts";
import { DocOperation } from "#proto/messages.ts";
import { type Benchmark, percentile, type Result } from "./benchmark.ts";
import { CORPUS_START_MS, corpusBlock } from "./log-corpus.ts";
import { databasePath, openShard } from "./query-data.ts";

const DOCUMENTS = 1_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Askings before the measured ones: compilers and caches are warm then. */
const WARM_UP = 5;
/** A case is asked until it had so much time, at least and at most so often. */
const CASE_MS = 1500;
const MIN_ASKED = 5;
const MAX_ASKED = 60;
const MEGABYTE = 2 ** 20;
const FROM_MS = CORPUS_START_MS + 2 * DAY_MS;
const TO_MS = CORPUS_START_MS + 4 * DAY_MS;
const PARIS = { lat: 48.8566, lon: 2.3522 };

type Row = Record<string, number | string | null>;
type Json = Record<string, unknown>;

interface Case {
  readonly name: string;
  readonly body: Json;
  /** What of the answer has to equal the reference's. */
  readonly answer: (response: SearchResponse) => unknown;
  readonly sql: string;
  readonly expected: (rows: readonly Row[]) => unknown;
}

const total = (response: SearchResponse): unknown => response.total;
const count = (rows: readonly Row[]): unknown => rows[0]!["n"];

const byHour = { date_histogram: { field: "@timestamp", interval: "hour" } };

function buckets(
  response: SearchResponse,
  name: string,
): { key: unknown; doc_count: number; hosts?: Json }[] {
  return (response.aggregations![name] as { buckets: { key: unknown; doc_count: number; hosts?: Json }[] })
    .buckets;
}

function match(query: string): string {
  return `SELECT count(*) AS n FROM logs WHERE logs MATCH '${query}'`;
}

const BOTH = { match: { message: { query: "post chrome", operator: "and" } } };

const CASES: readonly Case[] = [
  {
    name: "term, top 10 by score",
    body: { query: { match: { message: "post" } } },
    answer: total,
    sql: match("post"),
    expected: count,
  },
  {
    name: "AND 10 % x 30 %, count",
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
    name: "phrase, top 10 by score",
    body: { query: { match_phrase: { message: "authentication failure" } } },
    answer: total,
    sql: match('"authentication failure"'),
    expected: count,
  },
  {
    name: "date_histogram",
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
    body: { size: 0, aggs: { hosts: { terms: { field: "host.name", size: 100, order: { _key: "asc" } } } } },
    answer: (response) => buckets(response, "hosts").map(({ key, doc_count }) => [key, doc_count]),
    sql: "SELECT host, count(*) AS n FROM docs GROUP BY 1 ORDER BY 1",
    expected: (rows) => rows.map(({ host, n }) => [host, n]),
  },
  {
    name: "range, top 10 by time",
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
    name: "geo sort, top 10",
    body: { sort: [{ _geo_distance: { "source.geo.location": PARIS, unit: "km" } }] },
    answer: (response) => response.hits.map((hit) => Number((hit["sort"] as number[])[0]).toFixed(2)),
    sql: `SELECT kilometres(lat, lon) AS far FROM docs WHERE lat IS NOT NULL ORDER BY far LIMIT 10`,
    expected: (rows) => rows.map(({ far }) => Number(far).toFixed(2)),
  },
  {
    name: "substring scan",
    body: { size: 0, query: { wildcard: { message: "*ateway*" } } },
    answer: total,
    sql: "SELECT count(*) AS n FROM logs WHERE message LIKE '%ateway%'",
    expected: count,
  },
];

export const query: Benchmark = {
  name: "query",
  about: "questions to a warm index: milliseconds, with SQLite beside it; --docs 10000000, --keep FOLDER",
  async run({ workspace, scale, docs, keep, progress }) {
    const documents = docs ?? Math.round(DOCUMENTS * scale);
    const folder = keep ?? workspace.path("query", "data");
    makeData(folder, documents, progress);
    const openedAt = performance.now();
    const shard = openShard(folder);
    const results: Result[] = [
      { case: "open", value: performance.now() - openedAt, unit: "ms", reference: null },
    ];
    const db = openDatabase(folder);
    try {
      progress(`${documents} documents in ${shard.stats().segments} segments`);
      const asked: { readonly again: Asked; readonly anew: Asked }[] = [];
      for (const each of CASES) {
        asked.push({ again: await ask(shard, each, true), anew: await ask(shard, each, false) });
      }
      results.push(rss());
      for (const [at, each] of CASES.entries()) {
        const { again, anew } = asked[at]!;
        const result = compare(db, each, again, progress);
        assert.deepEqual(anew.answer, again.answer);
        results.push(result, { ...result, case: `${each.name}; filters anew`, value: anew.milliseconds });
      }
      results.push(refresh(shard, documents));
    } finally {
      db.close();
      shard.close();
    }
    return results;
  },
};

/** In a process of its own: what it needs of memory isn't the searcher's. */
function makeData(folder: string, documents: number, progress: (text: string) => void): void {
  const marker = join(folder, "documents");
  if (existsSync(marker) && readFileSync(marker, "utf8") === String(documents)) return;
  progress(`making ${documents} documents`);
  const script = fileURLToPath(new URL("./query-data.ts", import.meta.url));
  const { status } = spawnSync(process.execPath, [script, folder, String(documents)], {
    stdio: ["ignore", 2, 2],
  });
  assert.equal(status, 0, "the data could not be made");
}

interface Asked {
  readonly milliseconds: number;
  readonly answer: unknown;
}

/** `remembering`: filters that were found are kept from one asking to the next, as they are for users. */
async function ask(shard: Shard, { body, answer }: Case, remembering: boolean): Promise<Asked> {
  const searcher = shard.searcher();
  try {
    const shards = [{ index: { name: "bench", uuid: "bench", typeName: "_doc" }, shard: 0, searcher }];
    const once = async (): Promise<SearchResponse> =>
      await searchShards(parseSearchRequest(body, DEFAULT_LIMITS), shards, {
        signal: new AbortController().signal,
        limits: DEFAULT_LIMITS,
      });
    for (let run = 0; run < WARM_UP; run++) await once();
    const times: number[] = [];
    let response: SearchResponse | undefined;
    const end = performance.now() + CASE_MS;
    while (times.length < MIN_ASKED || (times.length < MAX_ASKED && performance.now() < end)) {
      if (!remembering) filterCache().clear();
      const from = performance.now();
      response = await once();
      times.push(performance.now() - from);
    }
    return { milliseconds: Math.min(...times), answer: answer(response!) };
  } finally {
    searcher.close();
  }
}

/** Asks SQLite the same. Throws where the answers differ. */
function compare(db: DatabaseSync, each: Case, asked: Asked, progress: (text: string) => void): Result {
  const statement = db.prepare(each.sql);
  let best = Number.POSITIVE_INFINITY;
  let rows: Row[] = [];
  const end = performance.now() + CASE_MS;
  for (let run = 0; run < 2 || (run < MIN_ASKED && performance.now() < end); run++) {
    const from = performance.now();
    rows = statement.all() as Row[];
    best = Math.min(best, performance.now() - from);
    if (best > CASE_MS) break;
  }
  assert.deepEqual(asked.answer, each.expected(rows), `"${each.name}": the answers differ`);
  progress(`${each.name}: ${asked.milliseconds.toFixed(2)} ms, SQLite ${best.toFixed(1)} ms`);
  return {
    case: each.name,
    value: asked.milliseconds,
    unit: "ms",
    reference: { name: "SQLite", value: best },
  };
}

function openDatabase(folder: string): DatabaseSync {
  const db = new DatabaseSync(databasePath(folder), { readOnly: true });
  const radians = Math.PI / 180;
  db.function("kilometres", { deterministic: true }, (lat, lon) => {
    const half = (degrees: number): number => Math.sin((degrees * radians) / 2) ** 2;
    const chord =
      half(Number(lat) - PARIS.lat) +
      Math.cos(Number(lat) * radians) *
        Math.cos(PARIS.lat * radians) *
        half(Number(lon) - PARIS.lon === 0 ? 0 : Number(lon) - PARIS.lon);
    return 2 * 6371.0087714 * Math.asin(Math.min(1, Math.sqrt(chord)));
  });
  return db;
}

function rss(): Result {
  return {
    case: "memory after these",
    value: process.memoryUsage().rss / MEGABYTE,
    unit: "MB RSS",
    reference: null,
  };
}

/** Makes 1,000 documents visible; none of them is committed. */
function refresh(shard: Shard, documents: number): Result {
  const times: number[] = [];
  for (let run = 0; run < 20; run++) {
    const operations = corpusBlock(documents / 1000 + run, 2 * documents).map(({ id, json }) => ({
      kind: DocOperation.Kind.INDEX,
      id,
      source: Buffer.from(json),
      appendOnly: true,
    }));
    const { incarnation, sequence } = shard.position;
    shard.apply({ operations, timeMs: 1, lenient: true }, { incarnation, sequence: sequence + 1 });
    const from = performance.now();
    shard.refresh();
    times.push(performance.now() - from);
  }
  return { case: "refresh of 1,000 documents", value: percentile(times, 0.5), unit: "ms", reference: null };
}
