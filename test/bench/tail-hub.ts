/**
 * The live side of a hub as a process of its own, fed with made-up events: `tail-hub.ts`, driven by messages of its
 * parent. `{rate, forMs}` offers events and answers with how many; `{rss: true}` answers with its memory, bytes.
 */

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { LiveServer } from "#hub/live/live-server.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { DEFAULT_LIMITS } from "#proto/live.ts";

/** Asked of the process. */
export type TailHubRequest = { readonly rate: number; readonly forMs: number } | { readonly rss: true };

const DIST = join(import.meta.dirname, "../../ui/dist");
const MEDIA: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
};
/** Events are made ahead: it is their delivery that is measured. */
const SOURCES = 1_000;
/** Values of the field the viewers' filters look at: a filter matches one in so many events. */
const GROUPS = 100;
const FIELDS = 10;
const TICK_MS = 10;

const sources = Array.from({ length: SOURCES }, (_, number) =>
  Buffer.from(
    JSON.stringify({
      message: `GET /shop/item/${number} 200 ${number * 31} bytes in ${number % 400} ms for customer ${number * 7919}`,
      log: { level: number % 50 === 0 ? "error" : "info", file: { path: "/var/log/shop/access.log" } },
      host: { name: `web-${number % 5}` },
      ...Object.fromEntries(
        Array.from({ length: FIELDS }, (_, field) => [`f${field}`, `g${(number * (field + 1)) % GROUPS}x`]),
      ),
    }),
  ),
);

const server = createServer((request, response) => {
  void serve(request.url ?? "/").then(
    ([type, body]) => response.writeHead(200, { "content-type": type }).end(body),
    () => response.writeHead(404).end("{}"),
  );
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const live = new LiveServer({
  allowedOrigins: [url],
  authenticate: () =>
    Promise.resolve({
      id: "bench",
      byCookie: false,
      mayRead: () => true,
      isStillSignedIn: () => Promise.resolve(true),
    }),
  metrics: new Metrics(),
  log: silentLogger(),
  limits: { tailsPerHub: DEFAULT_LIMITS.tailsPerHub * 2, socketsPerViewer: DEFAULT_LIMITS.tailsPerHub * 2 },
});
await live.start();
server.on("upgrade", (request, socket, head) => live.handleUpgrade(request, socket, head));
process.on("message", (request: TailHubRequest) => {
  if ("rss" in request) {
    globalThis.gc?.();
    process.send?.({ rss: process.memoryUsage.rss() });
  } else void offer(request).then((offered) => process.send?.({ offered }));
});
process.on("disconnect", () => process.exit(0));
process.send?.({ url });

async function serve(path: string): Promise<[type: string, body: Buffer | string]> {
  if (path === "/health" || path.startsWith("/api/")) return ["application/json", "{}"];
  if (path.startsWith("/es/"))
    return ["application/json", '{"took":0,"timed_out":false,"hits":{"total":0,"hits":[]}}'];
  const file = path === "/" ? "/index.html" : path;
  return [MEDIA[extname(file)] ?? "text/plain", await readFile(join(DIST, file))];
}

let made = 0;

async function offer({ rate, forMs }: { readonly rate: number; readonly forMs: number }): Promise<number> {
  const startMs = performance.now();
  const { promise, resolve } = Promise.withResolvers<number>();
  let offered = 0;
  const timer = setInterval(() => {
    const elapsedMs = Math.min(forMs, performance.now() - startMs);
    const due = Math.floor((elapsedMs / 1_000) * rate) - offered;
    const timestampMs = Date.now();
    live.tail.offer(
      Array.from({ length: due }, () => {
        const number = made++;
        return { index: "logs-bench", id: `e${number}`, timestampMs, source: sources[number % SOURCES]! };
      }),
    );
    offered += due;
    if (elapsedMs < forMs) return;
    clearInterval(timer);
    resolve(offered);
  }, TICK_MS);
  return promise;
}
