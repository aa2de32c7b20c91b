/** A hub's live side and a viewer of it, for tests: both end with the test. */

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "node:test";
import { WebSocket } from "ws";
import { LiveServer, type Viewer } from "#hub/live/live-server.ts";
import type { LiveEvent } from "#hub/live/live-tail.ts";
import type { CompileLogTail } from "#hub/live/log-tail.ts";
import type { RunCall } from "#hub/live/run-call.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import {
  type HubMessage,
  LIVE_PATH,
  LIVE_PROTOCOL,
  type LiveLimits,
  type TailOpen,
  type TailRows,
} from "#proto/live.ts";

export const ORIGIN = "https://logs.example.org";
export const VIEWER: Viewer = {
  id: "ann",
  byCookie: true,
  mayRead: (index) => !index.startsWith("secret"),
  isStillSignedIn: () => Promise.resolve(true),
};

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export interface Hub {
  readonly live: LiveServer;
  readonly url: string;
  /** Where queries of LogQL are tailed. */
  readonly logTailUrl: string;
}

const LOG_TAIL_PATH = "/loki/api/v1/tail";

export async function startHub(
  limits: Partial<LiveLimits> = {},
  viewer: Viewer | undefined = VIEWER,
  run?: RunCall,
  compileLogTail?: CompileLogTail,
  makeSearchable?: () => Promise<void>,
): Promise<Hub> {
  const live = new LiveServer({
    allowedOrigins: [ORIGIN],
    authenticate: (request) =>
      Promise.resolve(request.headers["x-nobody"] === undefined ? viewer : undefined),
    ...(run !== undefined && { runFor: () => run }),
    ...(compileLogTail !== undefined && { compileLogTail }),
    ...(makeSearchable !== undefined && { makeSearchable }),
    metrics: new Metrics(),
    log: silentLogger(),
    limits: { batchDelayMs: 5, ...limits },
  });
  await live.start();
  const server: Server = createServer((_, response) => response.writeHead(404).end());
  server.on("upgrade", (request, socket, head) => {
    if (request.url!.startsWith(LOG_TAIL_PATH)) live.handleLogTail(request, socket, head);
    else live.handleUpgrade(request, socket, head);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(async () => {
    await live.stop();
    server.close();
    await once(server, "close");
  });
  const origin = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { live, url: origin + LIVE_PATH, logTailUrl: origin + LOG_TAIL_PATH };
}

/** A frame of Loki's tail. */
interface TailFrame {
  readonly streams: readonly {
    readonly stream: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [string, string])[];
  }[];
  readonly dropped_entries: readonly { readonly labels: object; readonly timestamp: string }[];
}

/** A client of Loki's tail. */
export class TailReader {
  readonly socket: WebSocket;
  readonly opened: Promise<unknown>;
  /** Status of the answer that refuses the upgrade. */
  readonly refused: Promise<number | undefined>;
  readonly #frames: TailFrame[] = [];
  #wake: () => void = () => undefined;

  constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.on("error", () => undefined);
    const opened = Promise.withResolvers<void>();
    const refused = Promise.withResolvers<number | undefined>();
    this.socket.on("open", () => opened.resolve());
    this.socket.on("unexpected-response", (_, { statusCode }) => refused.resolve(statusCode));
    this.socket.on("message", (data) => {
      this.#frames.push(JSON.parse((data as Buffer).toString()) as TailFrame);
      this.#wake();
    });
    this.opened = opened.promise;
    this.refused = refused.promise;
    cleanups.push(() => Promise.resolve(this.socket.terminate()));
  }

  async next(): Promise<TailFrame> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) return frame;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** A client that keeps what it gets until somebody asks. */
export class Client {
  readonly socket: WebSocket;
  readonly messages: HubMessage[] = [];
  /** Bodies after the heads of frames, in their order. */
  readonly bodies: string[] = [];
  #wake: () => void = () => undefined;

  constructor(
    url: string,
    options: { origin?: string; headers?: Record<string, string> } = { origin: ORIGIN },
  ) {
    this.socket = new WebSocket(url, LIVE_PROTOCOL, options);
    this.socket.on("message", (data) => {
      const [head, body] = (data as Buffer).toString().split("\n", 2);
      this.messages.push(JSON.parse(head!) as HubMessage);
      if (body !== undefined) this.bodies.push(body);
      this.#wake();
    });
    this.socket.on("error", () => undefined);
    cleanups.push(() => Promise.resolve(this.socket.terminate()));
  }

  send(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }

  open(open: Partial<TailOpen> = {}): void {
    this.send({ t: "tail.open", sub: 1, index: [], q: "", credit: 1_000, ...open });
  }

  /** Takes the next message of a type; others before it are dropped. */
  async next<T extends HubMessage["t"]>(type: T): Promise<Extract<HubMessage, { t: T }>> {
    for (;;) {
      const message = this.messages.shift();
      if (message?.t === type) return message as Extract<HubMessage, { t: T }>;
      if (message === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Takes rows until there are `count`; returns them and the gaps between. */
  async take(count: number): Promise<{ texts: string[]; gaps: number; batches: TailRows[] }> {
    const texts: string[] = [];
    const batches: TailRows[] = [];
    let gaps = 0;
    while (texts.length < count) {
      const message = this.messages.shift();
      if (message === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else if (message.t === "tail.gap") gaps += message.n;
      else if (message.t === "tail.rows") {
        texts.push(...message.rows.map((row) => row[4]));
        batches.push(message);
      }
    }
    return { texts, gaps, batches };
  }
}

export async function openTail(hub: Hub, open: Partial<TailOpen> = {}): Promise<Client> {
  const client = new Client(hub.url);
  await client.next("welcome");
  client.open(open);
  await client.next("tail.opened");
  return client;
}

export function events(
  texts: readonly string[],
  index = "logs-1",
  extra: Record<string, unknown> = {},
): LiveEvent[] {
  return texts.map((message, i) => ({
    index,
    id: `id-${message}`,
    timestampMs: 1_000 + i,
    source: Buffer.from(
      JSON.stringify({
        message,
        log: { level: "error", file: { path: "/a.log" } },
        host: { name: "web" },
        ...extra,
      }),
    ),
  }));
}

export function numbered(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `line ${from + i}`);
}
