/**
 * Makes what the benchmark `query` asks: the corpus as a shard, another one of nested objects, and beside them as SQLite's full-text index with a table of
 * columns. Continues where an earlier run stopped, so that a large one can be made in parts and kept:
 * `node test/bench/query-data.ts FOLDER DOCUMENTS`.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { Shard } from "#hub/engine/shard.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { DocOperation } from "#proto/messages.ts";
import { BLOCK_DOCS, CORPUS_MAPPING, corpusBlock, NESTED_MAPPING, nestedOf } from "./log-corpus.ts";

/** Blocks between two commits, and of one transaction. */
const COMMIT_BLOCKS = 100;

/** Where the parts of a folder are. */
export function shardFolder(folder: string): string {
  return join(folder, "shard");
}

export function databasePath(folder: string): string {
  return join(folder, "reference.db");
}

/** Opens the shard of a corpus. */
export function openShard(folder: string): Shard {
  return openAt(shardFolder(folder), CORPUS_MAPPING);
}

/** Opens the shard of documents with nested objects, of which there are a tenth as many. */
export function openNestedShard(folder: string): Shard {
  return openAt(join(folder, "nested"), NESTED_MAPPING);
}

function openAt(folder: string, definition: JsonObject): Shard {
  const mapping = Mapping.parse(definition, { index: "bench", analysis: new Analysis() });
  return Shard.open(folder, { index: "bench", mapping, log: silentLogger() });
}

/** Documents with nested objects of a corpus of `total`. */
function nestedCount(total: number): number {
  return Math.ceil(total / 10);
}

function fillNestedShard(folder: string, total: number): void {
  const shard = openNestedShard(folder);
  const blocks = Math.ceil(nestedCount(total) / BLOCK_DOCS);
  for (let block = shard.position.sequence; block < blocks; block++) {
    const first = block * BLOCK_DOCS;
    const operations = Array.from({ length: Math.min(BLOCK_DOCS, nestedCount(total) - first) }, (_, at) => ({
      kind: DocOperation.Kind.INDEX,
      id: Buffer.from(String(first + at)).toString("base64url"),
      source: Buffer.from(JSON.stringify({ steps: nestedOf(first + at) })),
      appendOnly: true,
    }));
    shard.apply({ operations, timeMs: 1, lenient: true }, { incarnation: 1, sequence: block + 1 });
  }
  shard.commit();
  while (shard.mergeStep());
  shard.commit();
  shard.close();
}

function fillNestedTable(folder: string, total: number): void {
  const db = new DatabaseSync(databasePath(folder));
  db.exec("PRAGMA synchronous = off; DROP TABLE IF EXISTS steps");
  db.exec("CREATE TABLE steps(doc INTEGER, name TEXT, took INTEGER); BEGIN");
  const insert = db.prepare("INSERT INTO steps VALUES (?, ?, ?)");
  for (let doc = 0; doc < nestedCount(total); doc++)
    for (const { name, took } of nestedOf(doc)) insert.run(doc, name, took);
  db.exec("COMMIT");
  db.close();
}

function fillShard(folder: string, total: number): void {
  const shard = openShard(folder);
  const blocks = Math.ceil(total / BLOCK_DOCS);
  for (let block = shard.position.sequence; block < blocks; block++) {
    const operations = corpusBlock(block, total).map(({ id, json }) => ({
      kind: DocOperation.Kind.INDEX,
      id,
      source: Buffer.from(json),
      appendOnly: true,
    }));
    shard.apply({ operations, timeMs: 1, lenient: true }, { incarnation: 1, sequence: block + 1 });
    if ((block + 1) % COMMIT_BLOCKS !== 0) continue;
    shard.commit();
    while (shard.mergeStep());
    if ((block + 1) % (10 * COMMIT_BLOCKS) === 0) process.stderr.write(`${block + 1} of ${blocks} blocks\n`);
  }
  shard.commit();
  while (shard.mergeStep());
  shard.commit();
  shard.close();
}

function fillDatabase(folder: string, total: number): void {
  const db = new DatabaseSync(databasePath(folder));
  db.exec(`PRAGMA journal_mode = wal; PRAGMA synchronous = off;
    CREATE VIRTUAL TABLE IF NOT EXISTS logs USING fts5(message, detail = full);
    CREATE TABLE IF NOT EXISTS docs(id INTEGER PRIMARY KEY, time INTEGER, host TEXT, status INTEGER, lat REAL, lon REAL)`);
  const insertText = db.prepare("INSERT INTO logs(rowid, message) VALUES (?, ?)");
  const insertColumns = db.prepare("INSERT INTO docs VALUES (?, ?, ?, ?, ?, ?)");
  const { next } = db.prepare("SELECT coalesce(max(id) + 1, 0) AS next FROM docs").get() as { next: number };
  const blocks = Math.ceil(total / BLOCK_DOCS);
  for (let block = Math.ceil(next / BLOCK_DOCS); block < blocks; ) {
    db.exec("BEGIN");
    const end = Math.min(blocks, block + COMMIT_BLOCKS);
    for (; block < end; block++) {
      for (const [at, doc] of corpusBlock(block, total).entries()) {
        const id = block * BLOCK_DOCS + at;
        insertText.run(id, doc.message);
        insertColumns.run(id, doc.timeMs, doc.host, doc.status, doc.lat, doc.lon);
      }
    }
    db.exec("COMMIT");
    if (block % (10 * COMMIT_BLOCKS) === 0) process.stderr.write(`${block} of ${blocks} blocks, reference\n`);
  }
  db.exec("CREATE INDEX IF NOT EXISTS docs_by_time ON docs(time)");
  db.close();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = "", documents = ""] = process.argv.slice(2);
  mkdirSync(folder, { recursive: true });
  fillShard(folder, Number(documents));
  fillDatabase(folder, Number(documents));
  fillNestedShard(folder, Number(documents));
  fillNestedTable(folder, Number(documents));
  writeFileSync(join(folder, "documents"), documents);
}
