/** MySQL and MariaDB for the input jdbc: rows are read from the connection on demand. */

import type { Connection, TypeCastField } from "mysql2";
import { decimal } from "#proto/codec/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Address, BoundStatement, Database, Row } from "./database.ts";

/** Types whose values are decimals also where they have no fraction. */
const DECIMALS: ReadonlySet<string> = new Set(["FLOAT", "DOUBLE", "DECIMAL", "NEWDECIMAL"]);

/** Longest that a connection may take to open, ms. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Opens a connection. Rejects with unavailable. */
export async function openMysql(address: Address, signal: AbortSignal): Promise<Database> {
  // Loaded with the first use: few pipelines read databases.
  const { default: mysql } = await import("mysql2");
  const connection = mysql.createConnection({
    host: address.host,
    port: address.port,
    database: address.name,
    ...(address.user !== undefined && { user: address.user }),
    ...(address.password !== undefined && { password: address.password }),
    ...(address.tls !== "off" && { ssl: { rejectUnauthorized: address.tls === "verify" } }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    supportBigNumbers: true,
    decimalNumbers: true,
    dateStrings: true,
    typeCast: readValue,
  });
  const abort = (): void => connection.destroy();
  // A query under way rejects by itself.
  connection.on("error", () => undefined);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await connection.promise().query("SET time_zone = '+00:00'");
  } catch (error) {
    signal.removeEventListener("abort", abort);
    connection.destroy();
    throw new AppError(
      "unavailable",
      `MySQL at ${address.host}:${address.port} can't be reached: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return {
    place: () => "?",
    bindTime: (iso) => iso.replace("T", " ").replace("Z", ""),
    query: (statement, rows) => streamRows(connection, statement, rows),
    async close() {
      signal.removeEventListener("abort", abort);
      if (signal.aborted) connection.destroy();
      else await connection.promise().end();
    },
  };
}

async function* streamRows(
  connection: Connection,
  { text, values }: BoundStatement,
  rows: number,
): AsyncIterable<Row[]> {
  let portion: Row[] = [];
  const stream = connection.query(text, [...values]).stream({ highWaterMark: rows });
  for await (const row of stream as AsyncIterable<Row>) {
    if (portion.push(row) < rows) continue;
    yield portion;
    portion = [];
  }
  if (portion.length > 0) yield portion;
}

/** Times become text in UTC, TINYINT(1) a truth value, as drivers of other languages have it. */
function readValue(field: TypeCastField, next: () => unknown): unknown {
  if (field.type === "DATETIME" || field.type === "TIMESTAMP")
    return field.string()?.replace(/^(\S+) (\S+)$/, "$1T$2Z") ?? null;
  if (field.type === "TINY" && field.length === 1) {
    const text = field.string();
    return text === null ? null : text !== "0";
  }
  const value = next();
  return typeof value === "number" && DECIMALS.has(field.type) ? decimal(value) : value;
}
