/** A hub of canned lines for the dashboard's tests: the built pages under the hub's own rules, a small /es, live rows. */

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { LiveServer } from "#hub/live/live-server.ts";
import type { LiveEvent } from "#hub/live/live-tail.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";

const DIST = join(import.meta.dirname, "../../ui/dist");
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' data:; font-src 'self'; frame-ancestors 'none'; base-uri 'none'";
const MEDIA: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};
const INDEX = "logs-2026.11.21";
const LINES = 3_000;
const SPAN_MS = 14 * 60_000;

type Json = Readonly<Record<string, unknown>>;

export interface CannedLine {
  readonly id: string;
  readonly timestampMs: number;
  readonly source: Json;
}

export interface FakeHub {
  readonly url: string;
  readonly live: LiveServer;
  /** Bodies of the searches that came, newest last. */
  readonly searches: Json[];
  /** Answers the next search with this status and body. */
  failNext(status: number, body: unknown): void;
  stop(): Promise<void>;
}

/** Starts the hub with lines that end at `endMs`. */
export async function startFakeHub(endMs: number): Promise<FakeHub> {
  const lines = cannedLines(endMs);
  const searches: Json[] = [];
  let failure: { status: number; body: unknown } | undefined;
  const server: Server = createServer((request, response) => {
    answer(request, response, lines, (body) => {
      searches.push(body);
      const failed = failure;
      failure = undefined;
      return failed;
    }).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const live = new LiveServer({
    allowedOrigins: [url],
    authenticate: () =>
      Promise.resolve({
        id: "local",
        byCookie: false,
        mayRead: () => true,
        isStillSignedIn: () => Promise.resolve(true),
      }),
    metrics: new Metrics(),
    log: silentLogger(),
  });
  await live.start();
  server.on("upgrade", (request, socket, head) => live.handleUpgrade(request, socket, head));
  return {
    url,
    live,
    searches,
    failNext: (status, body) => {
      failure = { status, body };
    },
    stop: async () => {
      await live.stop();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Returns a line as the pipeline offers it to live viewers. */
export function liveEvent(number: number, atMs: number): LiveEvent {
  const { id, source } = cannedLine(number, atMs);
  return { index: INDEX, id: `live-${id}`, timestampMs: atMs, source: Buffer.from(JSON.stringify(source)) };
}

function cannedLines(endMs: number): CannedLine[] {
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

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  lines: readonly CannedLine[],
  onSearch: (body: Json) => { status: number; body: unknown } | undefined,
): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://hub");
  if (pathname.endsWith("/_search")) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Json;
    const failed = onSearch(body);
    return failed === undefined
      ? send(response, 200, search(body, lines))
      : send(response, failed.status, failed.body);
  }
  if (pathname.endsWith("/_field_caps")) return send(response, 200, { fields: fieldCaps() });
  if (pathname.startsWith("/es/_cat/indices")) return send(response, 200, [{ index: INDEX, status: "open" }]);
  if (pathname.startsWith("/es/"))
    return send(response, 200, { _index: INDEX, _id: "x", _source: lines[0]!.source });
  if (pathname === "/health") return send(response, 200, { status: "ok" });
  if (pathname === "/api/auth/me")
    return send(response, 200, { kind: "anonymous", name: "anonymous", role: "admin" });
  if (pathname === "/api/status") return send(response, 200, STATUS);
  if (pathname === "/api/agents") return send(response, 200, AGENTS);
  if (pathname === "/api/slow-queries") return send(response, 200, SLOW_QUERIES);
  return sendFile(response, pathname === "/" ? "/index.html" : pathname);
}

async function sendFile(response: ServerResponse, path: string): Promise<void> {
  try {
    const content = await readFile(join(DIST, path));
    response
      .writeHead(200, { "content-type": MEDIA[extname(path)] ?? "", "content-security-policy": CSP })
      .end(content);
  } catch {
    response.writeHead(404).end();
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** A search as far as the pages use it. */
function search(body: Json, lines: readonly CannedLine[]): Json {
  const { bool } = body["query"] as { bool: Record<"must" | "filter" | "must_not", Json[]> };
  const found = lines.filter(
    (line) =>
      [...bool.must, ...bool.filter].every((clause) => matches(line, clause)) &&
      !bool.must_not.some((clause) => matches(line, clause)),
  );
  const before = (body["search_after"] as number[] | undefined)?.[0] ?? Number.POSITIVE_INFINITY;
  const hits = found
    .filter(({ timestampMs }) => timestampMs < before)
    .slice(0, body["size"] as number)
    .map(({ id, timestampMs, source }) => ({
      _index: INDEX,
      _id: id,
      _score: null,
      _source: source,
      sort: [timestampMs],
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

function fieldCaps(): Json {
  const text = (name: string): [string, Json][] => [
    [name, { text: { type: "text", searchable: true, aggregatable: false } }],
    [`${name}.keyword`, { keyword: { type: "keyword", searchable: true, aggregatable: true } }],
  ];
  const plain = (name: string, type: string): [string, Json] => [
    name,
    { [type]: { type, searchable: true, aggregatable: true } },
  ];
  return Object.fromEntries([
    plain("@timestamp", "date"),
    plain("event.duration_ms", "long"),
    ...text("host.name"),
    ...text("http.request.method"),
    plain("http.response.status_code", "long"),
    ...text("log.file.path"),
    ...text("log.level"),
    plain("log.offset", "long"),
    ["message", { text: { type: "text", searchable: true, aggregatable: false } }],
    ...text("tags"),
    ...text("url.original"),
  ]);
}

const STATUS = {
  name: "hub-1",
  version: "0.1.0",
  uptime_ms: 86_400_000,
  durability: "process",
  journal: { raw_bytes: 12_400_000, doc_bytes: 9_100_000, lag: 0 },
  indices: { count: 3, documents: 1_204_331, bytes: 481_000_000 },
};

const SLOW_QUERIES = {
  threshold_ms: 1000,
  queries: [
    {
      at: new Date().toISOString(),
      took_ms: 2_345,
      indices: [INDEX],
      body: '{"query":{"query_string":{"query":"url:*cart"}}}',
      total: 12,
      timed_out: false,
    },
  ],
};
const AGENTS = [
  {
    id: "a1",
    name: "web-1",
    version: "0.1.0",
    host: "web-1.example",
    health: "ok",
    reason: "",
    last_seen: new Date(Date.now() - 3_000).toISOString(),
    started: "2026-11-20T08:00:00.000Z",
    rss_bytes: 74_000_000,
    lines_read: 12_345_678,
    bytes_read: 2_400_000_000,
    bytes_acked: 2_400_000_000,
    open_files: 12,
    lag_bytes: 0,
    open_deleted_bytes: 0,
    inputs: [{ id: "log-1", type: "log", files: 12, lag_bytes: 0, errors: 0, last_error: "" }],
  },
  {
    id: "a2",
    name: "web-2",
    version: "0.1.0",
    host: "web-2.example",
    health: "lost",
    reason: "nothing heard of it since last_seen",
    last_seen: new Date(Date.now() - 400_000).toISOString(),
    started: "2026-11-20T08:00:00.000Z",
    rss_bytes: 91_000_000,
    lines_read: 345_678,
    bytes_read: 81_000_000,
    bytes_acked: 80_000_000,
    open_files: 3,
    lag_bytes: 1_000_000,
    open_deleted_bytes: 0,
    inputs: [
      {
        id: "log-1",
        type: "log",
        files: 3,
        lag_bytes: 1_000_000,
        errors: 2,
        last_error: "permission denied",
      },
    ],
  },
];
