/**
 * Makes what the benchmark `query` asks: the corpus as a shard, and beside it as SQLite's full-text index with a table of
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
import { silentLogger } from "#proto/kit/log.ts";
import { DocOperation } from "#proto/messages.ts";
import { BLOCK_DOCS, CORPUS_MAPPING, corpusBlock } from "./log-corpus.ts";

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
  const mapping = Mapping.parse(CORPUS_MAPPING, { index: "bench", analysis: new Analysis() });
  return Shard.open(shardFolder(folder), { index: "bench", mapping, log: silentLogger() });
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
  writeFileSync(join(folder, "documents"), documents);
}
