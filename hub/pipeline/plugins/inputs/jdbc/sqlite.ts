/** SQLite files for the input jdbc. They are only read, in the hub's thread, portion by portion. */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { decimal } from "#proto/codec/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { BoundStatement, Database, Row } from "./database.ts";

/** Rows read before other work of the thread has its turn. */
const ROWS_AT_A_TIME = 500;

/** Opens the file. Rejects with unavailable. */
export async function openSqlite(path: string): Promise<Database> {
  // Loaded with the first use: few pipelines read databases.
  const { DatabaseSync: File } = await import("node:sqlite");
  let file: DatabaseSync;
  try {
    file = new File(path, { readOnly: true });
  } catch (error) {
    throw new AppError("unavailable", `the database ${path} can't be opened: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return {
    place: () => "?",
    // As CURRENT_TIMESTAMP writes it: such texts sort by time.
    bindTime: (iso) => iso.replace("T", " ").replace("Z", ""),
    query: (statement, rows) => readRows(file, statement, Math.min(rows, ROWS_AT_A_TIME)),
    async close() {
      file.close();
    },
  };
}

async function* readRows(
  file: DatabaseSync,
  { text, values }: BoundStatement,
  rows: number,
): AsyncIterable<Row[]> {
  const statement = file.prepare(text);
  statement.setReadBigInts(true);
  let portion: Row[] = [];
  for (const row of statement.iterate(...(values as SQLInputValue[])) as Iterable<Record<string, unknown>>) {
    // Integers are bigints here: a number is a decimal.
    for (const [name, value] of Object.entries(row))
      if (typeof value === "number") row[name] = decimal(value);
    if (portion.push(row) < rows) continue;
    yield portion;
    portion = [];
    await setImmediate();
  }
  if (portion.length > 0) yield portion;
}
