/**
 * Questions to an index that is warm: what a person waits for, with SQLite (full-text index, table with an index on time)
 * asked the same of the same documents. No time is said of an answer that isn't SQLite's too. The best of several askings
 * counts, on both sides. Targets are for 10 million documents and for filters that are remembered, as they are for users: a
 * case's own, or five times the speed of SQLite where that is more. Beside them stands what it takes to find all filters
 * again, and for how long a case keeps the thread from others.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { IngestDocument } from "#hub/pipeline/ingest/ingest-document.ts";
import { ProcessorSettings } from "#hub/pipeline/ingest/processor.ts";
import { takeCondition } from "#hub/pipeline/ingest/script-processor.ts";
import type { Benchmark, Result, Target } from "./benchmark.ts";
import { CASES, type Case, PARIS, type Row } from "./query-cases.ts";
import { databasePath } from "./query-data.ts";
import { type Asked, askApart } from "./query-run.ts";

const DOCUMENTS = 1_000_000;
/** Documents that the targets are meant for; of fewer none is said to be kept. */
const TARGET_DOCUMENTS = 10_000_000;
const OPEN: Target = { atMost: 5000 };
const MEMORY: Target = { atMost: 600 };
const REFRESH: Target = { atMost: 5 };
/** Others may wait so long for the thread, ms. */
const HELD: Target = { atMost: 50 };
/** How many times faster than the reference an answer must be. */
const TIMES_FASTER = 5;

const CONDITION = "if of an ingest processor, a script of three comparisons";
const CONDITION_ROUNDS = 10;
const CONDITION_RUNS = 100_000;

/** The reference is asked until it had so much time, at least twice and at most so often. */
const CASE_MS = 1500;
const MAX_ASKED = 5;

export const query: Benchmark = {
  name: "query",
  about: "questions to a warm index: milliseconds, with SQLite beside it; --docs 10000000, --keep FOLDER",
  async run({ workspace, scale, docs, keep, only, progress }) {
    const documents = docs ?? Math.round(DOCUMENTS * scale);
    const folder = keep ?? workspace.path("query", "data");
    makeData(folder, documents, progress);
    const asking = await askApart(folder, documents, only);
    progress(`${documents} documents in ${asking.segments} segments; MB: ${JSON.stringify(asking.memory)}`);
    const results: Result[] = [
      plain("open", asking.openMs, "ms", OPEN),
      plain("memory after these", asking.rssMegabytes, "MB RSS", MEMORY),
      plain("refresh of 1,000 documents", asking.refreshMs, "ms", REFRESH),
    ];
    const speeds: Result[] = [];
    const db = openDatabase(folder);
    try {
      for (const asked of asking.cases) {
        const result = compare(db, asked, progress);
        const anew = { ...withoutTarget(result), case: `${asked.name}; filters anew`, value: asked.anewMs };
        results.push(result, anew);
        const { scriptsPerSecond } = CASES.find(({ name }) => name === asked.name)!;
        if (scriptsPerSecond !== undefined)
          speeds.push(
            speed(`${asked.name}; filters anew`, (documents / asked.anewMs) * 1000, scriptsPerSecond),
          );
      }
    } finally {
      db.close();
    }
    if (CONDITION.includes(only)) speeds.push(plain(CONDITION, conditionMicros(), "µs", { atMost: 2 }));
    const longest = asking.cases.reduce((a, b) => (b.heldMs > a.heldMs ? b : a));
    results.push(plain(`longest hold of the thread (${longest.name})`, longest.heldMs, "ms", HELD));
    return [...(documents >= TARGET_DOCUMENTS ? results : results.map(withoutTarget)), ...speeds];
  },
};

function plain(name: string, value: number, unit: string, target: Target): Result {
  return { case: name, value, unit, reference: null, target };
}

function speed(name: string, value: number, atLeast: number): Result {
  return { case: name, value, unit: "documents per second", reference: null, target: { atLeast } };
}

/** What a condition of an ingest pipeline costs a document; the best of several rounds. */
function conditionMicros(): number {
  const settings = new ProcessorSettings("set", {
    if: "ctx.http?.response?.status_code != null && ctx.http.response.status_code >= 400 && ctx.host?.name != 'db-1'",
  });
  const condition = takeCondition(settings, () => undefined)!;
  const source = { http: { response: { status_code: 500 } }, host: { name: "web-1" } };
  const document = new IngestDocument(source, { _index: "logs" } as IngestDocument["destination"], 0);
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < CONDITION_ROUNDS; round++) {
    const from = performance.now();
    for (let run = 0; run < CONDITION_RUNS; run++) assert.ok(condition(document));
    best = Math.min(best, ((performance.now() - from) * 1000) / CONDITION_RUNS);
  }
  return best;
}

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

/** Asks SQLite the same. Throws where the answers differ. */
function compare(db: DatabaseSync, asked: Asked, progress: (text: string) => void): Result {
  const each: Case = CASES.find(({ name }) => name === asked.name)!;
  const statement = db.prepare(each.sql);
  let best = Number.POSITIVE_INFINITY;
  let rows: Row[] = [];
  const end = performance.now() + CASE_MS;
  for (let run = 0; run < 2 || (run < MAX_ASKED && performance.now() < end); run++) {
    const from = performance.now();
    rows = statement.all() as Row[];
    best = Math.min(best, performance.now() - from);
    if (best > CASE_MS) break;
  }
  // What the other process says has been JSON.
  const expected: unknown = JSON.parse(JSON.stringify(each.expected(rows)));
  assert.deepEqual(asked.answer, expected, `"${each.name}": the answers differ`);
  progress(`${each.name}: ${asked.hotMs.toFixed(2)} ms, SQLite ${best.toFixed(1)} ms`);
  return {
    case: each.name,
    value: asked.hotMs,
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
