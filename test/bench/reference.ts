/** What the figures are compared with: measured on the same machine, with the same data, in the same run. */

import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

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

/** Returns lines per CPU-second of reading the file and finding its newlines: the least any shipper must do. */
export function readLinesPerCpuSecond(file: string): number {
  let lines = 0;
  const seconds = cpuSecondsOf(() => {
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  });
  return lines / seconds;
}
