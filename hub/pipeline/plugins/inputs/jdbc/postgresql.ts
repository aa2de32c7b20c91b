/**
 * PostgreSQL for the input jdbc: rows are read through a server-side cursor, so that a table of any size can be read.
 */

import { Socket } from "node:net";
import { decimal } from "#proto/codec/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Address, BoundStatement, Database, Row } from "./database.ts";

/** Longest that a connection may take to open, ms. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Statements that a cursor can be declared for. */
const READS = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/|\()*(?:select|with|values|table)\b/i;

/** Types by their numbers (pg_type.oid) whose values aren't taken as the client library makes them. */
const READERS: ReadonlyMap<number, (text: string) => unknown> = new Map([
  // int8
  [20, wholeNumber],
  // float4, float8, numeric
  [700, decimalNumber],
  [701, decimalNumber],
  [1700, decimalNumber],
  // date, time, interval: as they are written
  [1082, String],
  [1083, String],
  [1266, String],
  [1186, String],
  // timestamp, timestamptz: the session's zone is UTC, and microseconds are kept
  [1114, isoTime],
  [1184, isoTime],
]);

/** Opens a connection. Rejects with unavailable. */
export async function openPostgresql(address: Address, signal: AbortSignal): Promise<Database> {
  // Loaded with the first use: few pipelines read databases.
  const { default: pg } = await import("pg");
  const socket = new Socket();
  const client = new pg.Client({
    host: address.host,
    port: address.port,
    database: address.name,
    ...(address.user !== undefined && { user: address.user }),
    ...(address.password !== undefined && { password: address.password }),
    ssl: address.tls === "off" ? false : { rejectUnauthorized: address.tls === "verify" },
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: "tailrace",
    options: "-c timezone=UTC -c datestyle=ISO",
    stream: () => socket,
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        READERS.get(oid) ?? (pg.types.getTypeParser(oid, format) as (text: string) => unknown),
    },
  });
  // The query under way rejects by itself.
  client.on("error", () => undefined);
  const abort = (): void => void socket.destroy();
  signal.addEventListener("abort", abort, { once: true });
  try {
    await client.connect();
  } catch (error) {
    signal.removeEventListener("abort", abort);
    socket.destroy();
    throw new AppError(
      "unavailable",
      `PostgreSQL at ${address.host}:${address.port} can't be reached: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return {
    place: (number) => `$${number}`,
    bindTime: (iso) => iso,
    query: (statement, rows) => fetchRows(client, statement, rows),
    async close() {
      signal.removeEventListener("abort", abort);
      if (signal.aborted) socket.destroy();
      else await client.end();
    },
  };
}

interface Client {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

async function* fetchRows(
  client: Client,
  { text, values }: BoundStatement,
  rows: number,
): AsyncIterable<Row[]> {
  if (!READS.test(text)) {
    const result = await client.query(text, [...values]);
    yield result.rows as Row[];
    return;
  }
  await client.query("BEGIN");
  await client.query(`DECLARE tailrace NO SCROLL CURSOR FOR ${text}`, [...values]);
  for (;;) {
    const fetched = await client.query(`FETCH ${rows} FROM tailrace`);
    const isLast = fetched.rows.length < rows;
    // Before the rows are handed out: a stop while they are taken then ends the run in full.
    if (isLast) await client.query("COMMIT");
    if (fetched.rows.length > 0) yield fetched.rows as Row[];
    if (isLast) return;
  }
}

/** NaN and infinity, which JSON hasn't, stay texts. */
function decimalNumber(text: string): unknown {
  const value = Number(text);
  return Number.isFinite(value) ? decimal(value) : text;
}

/** A number where it is exact, else its text. */
function wholeNumber(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

/** `2026-01-01 10:00:00.123456` or the same with `+00`; "infinity" stays. */
function isoTime(text: string): string {
  return text.replace(/^(\d{4,}-\d\d-\d\d) ([\d:.]+)(?:\+00)?$/, "$1T$2Z");
}
