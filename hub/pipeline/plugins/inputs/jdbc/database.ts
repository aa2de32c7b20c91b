/** The interface that the input jdbc needs of a database, and the choice of one by connection string. */

import { AppError } from "#proto/kit/errors.ts";
import { plainHost } from "#proto/kit/net/host.ts";

/** A row by the names of its columns; times are text in UTC (ISO 8601, as exact as the database has them). */
export type Row = Readonly<Record<string, unknown>>;

/** An open connection. */
export interface Database {
  /** Returns how a placeholder of a statement is written; `number` counts from 1. */
  place(number: number): string;
  /** Returns a time (ISO 8601, UTC) as a statement takes it. */
  bindTime(iso: string): string;
  /** Yields the rows in portions of `rows` at most, each fetched when it is asked for. */
  query(statement: BoundStatement, rows: number): AsyncIterable<Row[]>;
  /** Ends the connection, at once when the signal it was opened with is aborted. */
  close(): Promise<void>;
}

/** Where a database is. */
export interface Address {
  readonly kind: "postgresql" | "mysql" | "sqlite";
  /** Empty for a file. */
  readonly host: string;
  readonly port: number;
  /** Name of the database, or path of the file. */
  readonly name: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** "verify": only with a certificate that is trusted. */
  readonly tls: "off" | "on" | "verify";
}

const PORTS = { postgresql: 5432, mysql: 3306 };

/** Values of the parameters `sslmode` (PostgreSQL, MariaDB) and `sslMode` (MySQL) that ask for TLS. */
const TLS_MODES: Readonly<Record<string, Address["tls"]>> = {
  require: "on",
  required: "on",
  trust: "on",
  "verify-ca": "verify",
  verify_ca: "verify",
  "verify-full": "verify",
  verify_identity: "verify",
};

/** Reads `jdbc:postgresql://host:port/name?user=…`, `jdbc:mysql://…`, `jdbc:mariadb://…`, `jdbc:sqlite:path`. Throws settings_invalid. */
export function readConnectionString(text: string): Address {
  const bare = text.replace(/^jdbc:/, "");
  const none = { host: "", port: 0, user: undefined, password: undefined, tls: "off" } as const;
  if (bare.startsWith("sqlite:"))
    return { ...none, kind: "sqlite", name: bare.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "") };
  const scheme = /^(postgres(?:ql)?|mysql|mariadb):\/\//.exec(bare)?.[1];
  if (scheme === undefined || !URL.canParse(bare)) {
    throw new AppError(
      "settings_invalid",
      `"${text.replace(/\/\/.*@/, "//").replace(/\?.*/, "")}" names no database that can be read; write jdbc:postgresql://host:5432/name, jdbc:mysql://host:3306/name or jdbc:sqlite:/path`,
    );
  }
  const kind = scheme.startsWith("postgres") ? "postgresql" : "mysql";
  const url = new URL(bare);
  const parameter = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const mode = (parameter("sslmode") ?? parameter("sslMode") ?? "").toLowerCase();
  const isOn = [parameter("ssl"), parameter("useSSL"), parameter("useSsl")].includes("true");
  return {
    kind,
    host: plainHost(url.hostname),
    port: url.port === "" ? PORTS[kind] : Number(url.port),
    name: decodeURIComponent(url.pathname.slice(1)),
    user: parameter("user") ?? (url.username === "" ? undefined : decodeURIComponent(url.username)),
    password: parameter("password") ?? (url.password === "" ? undefined : decodeURIComponent(url.password)),
    tls: TLS_MODES[mode] ?? (isOn ? "on" : "off"),
  };
}

/** A value as events hold it: bytes as base64, whole numbers as text where they would lose digits. */
export function fieldValue(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return value;
}

/** A remembered number as a statement takes it, with all of its digits. */
export function numberOf(text: string, kind: Address["kind"]): unknown {
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || Number.isSafeInteger(value)) return Number.isNaN(value) ? 0 : value;
  return kind === "sqlite" ? BigInt(text) : text;
}

/** What may hold a colon that names nothing: literals, quoted names, comments, casts; then a placeholder. */
const PARTS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|::|:(?<name>[A-Za-z_]\w*)|(?<mark>\?)/g;

/** A statement with the values of its placeholders, in their order. */
export interface BoundStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Puts `place(number from 1)` for each `:name` that `named` knows, and for each `?` while `positional` has values; what
 * else looks like a placeholder stays as it is.
 */
export function bindStatement(
  text: string,
  named: ReadonlyMap<string, unknown>,
  positional: readonly unknown[],
  place: (number: number) => string,
): BoundStatement {
  const values: unknown[] = [];
  let marks = 0;
  const bound = text.replace(PARTS, (whole, ...rest) => {
    const { name, mark } = rest.at(-1) as { name?: string; mark?: string };
    if (name !== undefined && named.has(name)) return place(values.push(named.get(name)));
    if (mark !== undefined && marks < positional.length) return place(values.push(positional[marks++]));
    return whole;
  });
  return { text: bound.trim().replace(/;$/, ""), values };
}
