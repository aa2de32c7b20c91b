/** References of the benchmarks: measured on the same machine, with the same data, in the same run. */

import { readFileSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";

/** CPU-seconds that `work` takes in this process. */
function cpuSecondsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/**
 * Returns lines per CPU-second of SQLite's full-text index over the file's lines: journal off, one transaction,
 * positions kept. It doesn't parse, ship, survive a crash or answer meanwhile.
 */
export function fts5LinesPerCpuSecond(file: string, database: string): number {
  const lines = readFileSync(file, "utf8").split("\n");
  if (lines.at(-1) === "") lines.pop();
  const db = new DatabaseSync(database);
  db.exec(
    "PRAGMA journal_mode = off; PRAGMA synchronous = off; CREATE VIRTUAL TABLE logs USING fts5(line, detail = full)",
  );
  const insert = db.prepare("INSERT INTO logs(line) VALUES (?)");
  const seconds = cpuSecondsOf(() => {
    db.exec("BEGIN");
    for (const line of lines) insert.run(line);
    db.exec("COMMIT");
  });
  db.close();
  return lines.length / seconds;
}

/** Names of the columns that DocumentDatabase fills beside the text. */
const COLUMNS = "time, host, path, offset, level, method, status, bytes, address, lat, lon";

/**
 * Documents of the corpus in SQLite as its users would keep them: the text in a full-text index, every other value in a
 * column of a table, journal off, one transaction. It keeps neither the documents themselves nor an index of the values.
 */
export class DocumentDatabase {
  /** CPU-seconds so far, parsing included. */
  cpuSeconds = 0;
  readonly #db: DatabaseSync;
  readonly #insertText: StatementSync;
  readonly #insertValues: StatementSync;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec(`PRAGMA journal_mode = off; PRAGMA synchronous = off;
      CREATE VIRTUAL TABLE texts USING fts5(message, detail = full);
      CREATE TABLE documents(id TEXT, ${COLUMNS}); BEGIN`);
    this.#insertText = this.#db.prepare("INSERT INTO texts(message) VALUES (?)");
    const marks = COLUMNS.replaceAll(/\w+/g, "?");
    this.#insertValues = this.#db.prepare(`INSERT INTO documents VALUES (?, ${marks})`);
  }

  /** Adds documents, each an id and JSON. */
  add(documents: readonly { readonly id: string; readonly json: string }[]): void {
    this.cpuSeconds += cpuSecondsOf(() => {
      for (const { id, json } of documents) this.#addOne(id, JSON.parse(json) as CorpusSource);
    });
  }

  close(): void {
    this.cpuSeconds += cpuSecondsOf(() => this.#db.exec("COMMIT"));
    this.#db.close();
  }

  #addOne(id: string, { "@timestamp": time, message, host, log, http, source }: CorpusSource): void {
    this.#insertText.run(message);
    const { response, request } = http ?? {};
    const { lat, lon } = source?.geo.location ?? {};
    this.#insertValues.run(
      id,
      Date.parse(time),
      host.name,
      log.file.path,
      log.offset,
      log.level ?? null,
      request?.method ?? null,
      response?.status_code ?? null,
      response?.body.bytes ?? null,
      source?.address ?? null,
      lat ?? null,
      lon ?? null,
    );
  }
}

/** A document of the corpus (log-corpus.ts). */
interface CorpusSource {
  readonly "@timestamp": string;
  readonly message: string;
  readonly host: { readonly name: string };
  readonly log: {
    readonly file: { readonly path: string };
    readonly offset: number;
    readonly level?: string;
  };
  readonly http?: {
    readonly request: { readonly method: string };
    readonly response: { readonly status_code: number; readonly body: { readonly bytes: number } };
  };
  readonly source?: {
    readonly address: string;
    readonly geo: { readonly location: { readonly lat: number; readonly lon: number } };
  };
}

/** Returns lines per CPU-second of reading the file and finding its newlines: the least any shipper must do. */
export function readLinesPerCpuSecond(file: string): number {
  let lines = 0;
  const seconds = cpuSecondsOf(() => {
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  });
  return lines / seconds;
}
