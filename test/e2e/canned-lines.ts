/** Lines of a shop that never was, and the searches that the pages make of them. */

import type { LiveEvent } from "#hub/live/live-tail.ts";

export const CANNED_INDEX = "logs-2026.11.21";
const LINES = 3_000;
const SPAN_MS = 14 * 60_000;

export type Json = Readonly<Record<string, unknown>>;

/** One line, newest first among the others. */
export interface CannedLine {
  readonly id: string;
  readonly timestampMs: number;
  readonly source: Json;
}

/** Returns a line as the pipeline offers it to live viewers. */
export function liveEvent(number: number, atMs: number): LiveEvent {
  const { id, source } = cannedLine(number, atMs);
  return {
    index: CANNED_INDEX,
    id: `live-${id}`,
    timestampMs: atMs,
    source: Buffer.from(JSON.stringify(source)),
  };
}

/** Returns all lines up to a time, newest first. */
export function cannedLines(endMs: number): CannedLine[] {
  const lines: CannedLine[] = [];
  for (let i = 0; i < LINES; i++) {
    // More lines towards the middle, several in the same millisecond.
    const share = i / LINES;
    const atMs = Math.round(endMs - SPAN_MS * (share + 0.06 * Math.sin(share * 12)) - 1_000);
    lines.push(cannedLine(i, Math.min(endMs - 1_000, atMs - (atMs % 20))));
  }
  return lines.toSorted((a, b) => b.timestampMs - a.timestampMs);
}

const PATHS = ["/api/v1/orders", "/api/v1/cart/items", "/checkout", "/healthz", "/assets/app.css", "/login"];
const TEXTS = [
  'upstream timed out after 30000 ms while reading response header, upstream: "http://10.2.4.17:8080"',
  "payment declined by provider: insufficient funds, order will be retried",
  "cache refreshed: 1,204 keys in 87 ms",
  "connection pool exhausted (64 of 64 in use), waiting",
];

function cannedLine(number: number, atMs: number): CannedLine {
  const random = (salt: number): number => ((number * 2_654_435_761 + salt * 40_503) >>> 7) % 1_000;
  const host = `web-${1 + (random(1) % 5)}`;
  const level = random(2) < 30 ? "ERROR" : random(2) < 110 ? "WARN" : random(2) < 800 ? "INFO" : "DEBUG";
  const path = PATHS[random(3) % PATHS.length]!;
  const status = level === "ERROR" ? 503 : random(4) < 40 ? 404 : 200;
  const took = 2 + (random(5) % 400);
  const message =
    level === "INFO" || level === "DEBUG"
      ? `10.0.${random(6) % 9}.${random(7) % 250} - - "GET ${path}?page=${random(8) % 40} HTTP/1.1" ${status} ${random(9) * 31} "-" "Mozilla/5.0" ${took} ms`
      : TEXTS[random(10) % TEXTS.length]!;
  const source = {
    "@timestamp": new Date(atMs).toISOString(),
    message,
    host: { name: host },
    log: {
      level,
      file: { path: `/var/log/shop/${random(11) % 2 === 0 ? "access" : "app"}.log` },
      offset: number * 210,
    },
    http: { request: { method: "GET" }, response: { status_code: status } },
    url: { original: path },
    event: { duration_ms: took },
    tags: ["shop", "eu-west"],
  };
  return { id: `line-${number}`, timestampMs: atMs, source };
}

/** A search as far as the pages use it. */
export function searchLines(body: Json, lines: readonly CannedLine[]): Json {
  const { bool } = body["query"] as { bool: Record<"must" | "filter" | "must_not", Json[]> };
  const found = lines.filter(
    (line) =>
      [...bool.must, ...bool.filter].every((clause) => matches(line, clause)) &&
      !bool.must_not.some((clause) => matches(line, clause)),
  );
  const [beforeMs, beforeOffset] = (body["search_after"] as [number, number] | undefined) ?? [Infinity, 0];
  const hits = found
    .filter(({ timestampMs }) => timestampMs < beforeMs || (timestampMs === beforeMs && 0 < beforeOffset))
    .slice(0, body["size"] as number)
    .map(({ id, timestampMs, source }) => ({
      _index: CANNED_INDEX,
      _id: id,
      _score: null,
      _source: source,
      sort: [timestampMs, 0],
    }));
  const aggregations =
    body["aggs"] === undefined ? {} : { aggregations: aggregate(body["aggs"] as Json, found) };
  return {
    took: 7,
    timed_out: false,
    _shards: { total: 3, successful: 3, skipped: 0, failed: 0 },
    hits: { total: found.length, max_score: null, hits },
    ...aggregations,
  };
}

function matches(line: CannedLine, clause: Json): boolean {
  const [kind, inner] = Object.entries(clause)[0] as [string, Json];
  if (kind === "range") {
    const { gte, lt } = inner["@timestamp"] as { gte: number; lt: number };
    return line.timestampMs >= gte && line.timestampMs < lt;
  }
  if (kind === "query_string")
    return JSON.stringify(line.source)
      .toLowerCase()
      .includes((inner["query"] as string).toLowerCase());
  if (kind === "exists") return valueAt(line.source, inner["field"] as string) !== undefined;
  const [field, value] = Object.entries(inner)[0]!;
  return String(valueAt(line.source, field)) === value;
}

function aggregate(aggs: Json, found: readonly CannedLine[]): Json {
  if (aggs["newest"] !== undefined) return { newest: { value: found[0]?.timestampMs ?? null } };
  if (aggs["values"] !== undefined) {
    const { terms } = aggs["values"] as { terms: { field: string } };
    return { values: { buckets: count(found, terms.field) }, existing: { doc_count: found.length } };
  }
  const { date_histogram: times } = aggs["times"] as {
    date_histogram: { interval: string; extended_bounds: { min: number; max: number } };
  };
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const [, amount, unit] = /^(\d+)(\w+)$/.exec(times.interval)!;
  const step = Number(amount) * units[unit!]!;
  const buckets: Json[] = [];
  const { min, max } = times.extended_bounds;
  for (let key = Math.floor(min / step) * step; key <= max; key += step) {
    const inside = found.filter(({ timestampMs }) => timestampMs >= key && timestampMs < key + step);
    buckets.push({ key, doc_count: inside.length, levels: { buckets: count(inside, "log.level") } });
  }
  return { times: { buckets } };
}

function count(lines: readonly CannedLine[], field: string): Json[] {
  const counts = new Map<string, number>();
  for (const { source } of lines) {
    const value = String(valueAt(source, field.replace(/\.keyword$/, "")));
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([key, doc_count]) => ({ key, doc_count }));
}

function valueAt(source: Json, field: string): unknown {
  if (Object.hasOwn(source, field)) return source[field];
  return field.split(".").reduce<unknown>((value, part) => (value as Json | undefined)?.[part], source);
}
