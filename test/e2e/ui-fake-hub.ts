/** A hub of canned lines for the dashboard's tests: the built pages under the hub's own rules, a small /es, live rows. */

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { LiveServer } from "#hub/live/live-server.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { CANNED_INDEX, type CannedLine, cannedLines, type Json, searchLines } from "./canned-lines.ts";

const DIST = join(import.meta.dirname, "../../ui/dist");
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' data:; font-src 'self'; frame-ancestors 'none'; base-uri 'none'";
const MEDIA: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

interface Failure {
  readonly status: number;
  readonly body: unknown;
}

export interface FakeHub {
  readonly url: string;
  readonly live: LiveServer;
  /** Bodies of the searches that came, newest last. */
  readonly searches: Json[];
  /** Answers all searches for this query with a status and body. */
  failQuery(query: string, status: number, body: unknown): void;
  stop(): Promise<void>;
}

/** Starts the hub with lines that end at `endMs`. */
export async function startFakeHub(endMs: number): Promise<FakeHub> {
  const lines = cannedLines(endMs);
  const searches: Json[] = [];
  const failures = new Map<string, Failure>();
  const server: Server = createServer((request, response) => {
    answer(request, response, lines, (body) => {
      searches.push(body);
      const text = JSON.stringify(body);
      return [...failures].find(([query]) => text.includes(`"query":${JSON.stringify(query)}`))?.[1];
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
    failQuery: (query, status, body) => void failures.set(query, { status, body }),
    stop: async () => {
      await live.stop();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  lines: readonly CannedLine[],
  onSearch: (body: Json) => Failure | undefined,
): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://hub");
  if (pathname.endsWith("/_search")) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Json;
    const failed = onSearch(body);
    return failed === undefined
      ? send(response, 200, searchLines(body, lines))
      : send(response, failed.status, failed.body);
  }
  if (pathname.endsWith("/_field_caps")) return send(response, 200, { fields: fieldCaps() });
  if (pathname.startsWith("/es/_cat/indices"))
    return send(response, 200, [{ index: CANNED_INDEX, status: "open" }]);
  if (pathname.startsWith("/es/"))
    return send(response, 200, { _index: CANNED_INDEX, _id: "x", _source: lines[0]!.source });
  if (pathname === "/health") return send(response, 200, { status: "ok" });
  if (pathname === "/api/auth/me")
    return send(response, 200, { kind: "anonymous", name: "anonymous", role: "admin" });
  if (pathname === "/api/status") return send(response, 200, STATUS);
  if (pathname === "/api/agents") return send(response, 200, AGENTS);
  if (pathname === "/api/slow-queries") return send(response, 200, SLOW_QUERIES);
  if (pathname.startsWith("/api/saved/")) return send(response, 200, { objects: [] });
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
    // Longer than the list shows.
    plain("upstream.connections.keepalive_idle", "long"),
  ]);
}

const STATUS = {
  name: "hub-1",
  version: "0.2.0",
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
      indices: [CANNED_INDEX],
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
    version: "0.2.0",
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
    version: "0.2.0",
    host: "web-2.example",
    health: "lost",
    reason: "no status received since last_seen",
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
