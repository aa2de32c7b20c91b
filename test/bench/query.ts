/**
 * Questions to an index that is warm: what a person waits for, with SQLite (full-text index, table with an index on time)
 * asked the same of the same documents. No time is said of an answer that isn't SQLite's too. The best of
 * several askings counts, on both sides; once with filters that are remembered, once with all found anew. With 10 million
 * documents a target is a case's own, or five times the speed of SQLite where that is more.
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
import { type Benchmark, percentile, type Result, type Target } from "./benchmark.ts";
import { corpusBlock } from "./log-corpus.ts";
import { CASES, type Case, PARIS, type Row } from "./query-cases.ts";
import { databasePath, openShard } from "./query-data.ts";

const DOCUMENTS = 1_000_000;
/** Documents that the targets are meant for; of fewer none is said to be kept. */
const TARGET_DOCUMENTS = 10_000_000;
const OPEN: Target = { atMost: 5000 };
const MEMORY: Target = { atMost: 600 };
const REFRESH: Target = { atMost: 5 };
/** How many times faster than the reference an answer must be. */
const TIMES_FASTER = 5;

/** Askings before the measured ones: compilers and caches are warm then. */
const WARM_UP = 5;
/** A case is asked until it had so much time, at least and at most so often. */
const CASE_MS = 1500;
const MIN_ASKED = 5;
const MAX_ASKED = 60;
const MEGABYTE = 2 ** 20;

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
      { case: "open", value: performance.now() - openedAt, unit: "ms", reference: null, target: OPEN },
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
    return documents >= TARGET_DOCUMENTS ? results : results.map(withoutTarget);
  },
};

function withoutTarget({ case: name, value, unit, reference }: Result): Result {
  return { case: name, value, unit, reference };
}

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
    target: { atMost: Math.min(each.atMostMs ?? Number.POSITIVE_INFINITY, best / TIMES_FASTER) },
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
    target: MEMORY,
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
  const value = percentile(times, 0.5);
  return { case: "refresh of 1,000 documents", value, unit: "ms", reference: null, target: REFRESH };
}
