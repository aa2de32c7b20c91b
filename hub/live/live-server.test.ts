import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, test } from "node:test";
import { WebSocket } from "ws";
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
import { LiveServer, type Viewer } from "./live-server.ts";
import type { LiveEvent } from "./live-tail.ts";

const ORIGIN = "https://logs.example.org";
const VIEWER: Viewer = {
  id: "ann",
  byCookie: true,
  mayRead: (index) => !index.startsWith("secret"),
  isStillSignedIn: () => Promise.resolve(true),
};

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Hub {
  readonly live: LiveServer;
  readonly url: string;
}

async function startHub(limits: Partial<LiveLimits> = {}, viewer: Viewer | undefined = VIEWER): Promise<Hub> {
  const live = new LiveServer({
    allowedOrigins: [ORIGIN],
    authenticate: (request) =>
      Promise.resolve(request.headers["x-nobody"] === undefined ? viewer : undefined),
    metrics: new Metrics(),
    log: silentLogger(),
    limits: { batchDelayMs: 5, ...limits },
  });
  await live.start();
  const server: Server = createServer((_, response) => response.writeHead(404).end());
  server.on("upgrade", (request, socket, head) => live.handleUpgrade(request, socket, head));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(async () => {
    await live.stop();
    server.close();
    await once(server, "close");
  });
  return { live, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}${LIVE_PATH}` };
}

/** A client that keeps what it gets until somebody asks. */
class Client {
  readonly socket: WebSocket;
  readonly messages: HubMessage[] = [];
  #wake: () => void = () => undefined;

  constructor(
    url: string,
    options: { origin?: string; headers?: Record<string, string> } = { origin: ORIGIN },
  ) {
    this.socket = new WebSocket(url, LIVE_PROTOCOL, options);
    this.socket.on("message", (data) => {
      this.messages.push(JSON.parse((data as Buffer).toString()) as HubMessage);
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

async function openTail(hub: Hub, open: Partial<TailOpen> = {}): Promise<Client> {
  const client = new Client(hub.url);
  await client.next("welcome");
  client.open(open);
  await client.next("tail.opened");
  return client;
}

function events(
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

function numbered(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `line ${from + i}`);
}

test("a viewer is welcomed with the limits and gets the rows that match", async () => {
  const hub = await startHub();
  const client = new Client(hub.url);
  const welcome = await client.next("welcome");
  assert.equal(welcome.limits.ringRows, 5_000);
  assert.equal(client.socket.protocol, LIVE_PROTOCOL);
  assert.equal(hub.live.tail.listening, false);
  client.open({ q: "blue OR service:shop", fields: ["service"] });
  await client.next("tail.opened");
  assert.equal(hub.live.tail.listening, true);
  hub.live.tail.offer([
    ...events(["red"]),
    ...events(["BLUE"]),
    ...events(["green"], "logs-2", { service: "shop" }),
  ]);
  const { batches } = await client.take(2);
  assert.deepEqual(batches[0]?.srcs, [
    ["logs-1", "web", "/a.log"],
    ["logs-2", "web", "/a.log"],
  ]);
  assert.deepEqual(batches[0]?.rows, [
    ["id-BLUE", 1_000, 5, 0, "BLUE", null, 0],
    ["id-green", 1_000, 5, 1, "green", { service: "shop" }, 0],
  ]);
});

const REFUSED: readonly (readonly [string, ConstructorParameters<typeof Client>[1], number])[] = [
  ["another origin", { origin: "https://evil.example.org" }, 403],
  ["the same host with another port", { origin: `${ORIGIN}:8443` }, 403],
  ["an opaque origin", { origin: "null" }, 403],
  ["a session without an origin", {}, 403],
  ["nobody signed in", { origin: ORIGIN, headers: { "x-nobody": "1" } }, 401],
];

test("an upgrade from elsewhere or of nobody is refused", async () => {
  const hub = await startHub();
  for (const [name, options, status] of REFUSED) {
    const { socket } = new Client(hub.url, options);
    const [, response] = (await once(socket, "unexpected-response")) as [unknown, { statusCode: number }];
    assert.equal(response.statusCode, status, name);
  }
});

test("the default port may be said or left out, and a key needs no origin", async () => {
  const hub = await startHub({}, { ...VIEWER, byCookie: false });
  await new Client(hub.url, { origin: `${ORIGIN}:443` }).next("welcome");
  await new Client(hub.url, {}).next("welcome");
});

const BAD_MESSAGES: readonly (readonly [string | Buffer, number])[] = [
  ["{oops", 4400],
  ["[]", 4400],
  ['{"t":"nothing"}', 4400],
  ['{"t":"hello","v":2}', 4400],
  ['{"t":"tail.open","sub":1,"index":"logs","q":"","credit":1}', 4400],
  ['{"t":"tail.open","sub":1.5,"index":[],"q":"","credit":1}', 4400],
  ['{"t":"tail.credit","sub":1,"add":-1}', 4400],
  [Buffer.from('{"t":"ping","n":1}'), 4400],
  ["x".repeat(64 * 1024 + 1), 1009],
];

test("a bad message ends the socket with its code", async () => {
  const hub = await startHub();
  for (const [message, expected] of BAD_MESSAGES) {
    const client = new Client(hub.url);
    await client.next("welcome");
    client.socket.send(message);
    const [code, reason] = (await once(client.socket, "close")) as [number, Buffer];
    assert.equal(code, expected, String(message).slice(0, 80));
    if (code === 4400) assert.notEqual(reason.toString(), "");
  }
});

test("too many messages end the socket", async () => {
  const hub = await startHub({ inboundRate: 5 });
  const client = new Client(hub.url);
  await client.next("welcome");
  for (let n = 0; n < 50; n++) client.send({ t: "ping", n });
  assert.equal((await once(client.socket, "close"))[0], 4429);
});

test("a filter that isn't right is answered with its place, and the socket goes on", async () => {
  const hub = await startHub();
  const client = new Client(hub.url);
  await client.next("welcome");
  client.open({ q: 'level:error AND "oops' });
  const error = await client.next("error");
  assert.equal(error.sub, 1);
  assert.equal(error.code, "parsing");
  assert.deepEqual(error.at, [16, 17]);
  assert.ok(error.hint);
  client.open({ q: "level:error" });
  await client.next("tail.opened");
});

test("an index that may not be read is refused by name and left out of patterns", async () => {
  const hub = await startHub();
  const client = new Client(hub.url);
  await client.next("welcome");
  client.open({ index: ["secret-1"] });
  assert.equal((await client.next("error")).code, "forbidden");
  client.open({ index: ["*"] });
  await client.next("tail.opened");
  hub.live.tail.offer([...events(["hidden"], "secret-1"), ...events(["seen"])]);
  assert.deepEqual((await client.take(1)).texts, ["seen"]);
});

test("no more rows are sent than there is credit for", async () => {
  const hub = await startHub();
  const client = await openTail(hub, { credit: 3 });
  hub.live.tail.offer(events(numbered(0, 10)));
  assert.deepEqual((await client.take(3)).texts, numbered(0, 3));
  client.send({ t: "ping", n: 1 });
  await client.next("pong");
  assert.deepEqual(client.messages, []);
  client.send({ t: "tail.credit", sub: 1, add: 7 });
  assert.deepEqual((await client.take(7)).texts, numbered(3, 10));
});

test("what doesn't fit the ring is dropped from its start and counted", async () => {
  const hub = await startHub({ ringRows: 100 });
  const client = await openTail(hub, { credit: 0 });
  hub.live.tail.offer(events(numbered(0, 1_000)));
  client.send({ t: "tail.credit", sub: 1, add: 100 });
  const gap = await client.next("tail.gap");
  assert.deepEqual(gap, { t: "tail.gap", sub: 1, n: 900, fromTs: 1_000, toTs: 1_899, why: "slow_client" });
  assert.deepEqual((await client.take(100)).texts, numbered(900, 1_000));
});

test("a ring is bounded in bytes too", async () => {
  const hub = await startHub({ ringSizeBytes: 10_000 });
  const client = await openTail(hub, { credit: 0 });
  hub.live.tail.offer(events(numbered(0, 50).map((text) => text.padEnd(1_000, "."))));
  client.send({ t: "tail.credit", sub: 1, add: 100 });
  const gap = await client.next("tail.gap");
  assert.ok(gap.n >= 40 && gap.n < 50, `gap of ${gap.n}`);
  assert.equal((await client.take(50 - gap.n)).texts.length, 50 - gap.n);
});

test("above the rate rows are left out and counted where they would have stood", async () => {
  const hub = await startHub();
  const client = await openTail(hub, { maxRate: 5 });
  hub.live.tail.offer(events(numbered(0, 12)));
  assert.deepEqual((await client.take(5)).texts, numbered(0, 5));
  const gap = await client.next("tail.gap");
  assert.deepEqual([gap.n, gap.why, gap.fromTs, gap.toTs], [7, "rate_cap", 1_005, 1_011]);
});

test("a paused tail sends nothing, and goes on with one gap and the newest rows", async () => {
  const hub = await startHub({ ringRows: 10 });
  const client = await openTail(hub);
  client.send({ t: "tail.pause", sub: 1 });
  client.send({ t: "ping", n: 1 });
  await client.next("pong");
  hub.live.tail.offer(events(numbered(0, 25)));
  client.send({ t: "ping", n: 2 });
  await client.next("pong");
  client.send({ t: "tail.resume", sub: 1 });
  const gap = await client.next("tail.gap");
  assert.deepEqual([gap.n, gap.why], [15, "paused"]);
  assert.deepEqual((await client.take(10)).texts, numbered(15, 25));
});

test("counts are sent each second", async () => {
  const hub = await startHub();
  const client = await openTail(hub, { credit: 4, maxRate: 6 });
  hub.live.tail.offer(events(numbered(0, 10)));
  const stats = await client.next("tail.stats");
  assert.deepEqual([stats.matched, stats.sent, stats.dropped], [10, 4, 4]);
  assert.ok(stats.lagMs >= 0);
});

test("a viewer who comes back with a cursor misses nothing and gets nothing twice", async () => {
  const hub = await startHub();
  const first = await openTail(hub);
  hub.live.tail.offer(events(numbered(0, 5)));
  const { batches } = await first.take(5);
  first.socket.close();
  await once(first.socket, "close");
  hub.live.tail.offer(events(numbered(5, 9)));
  const second = await openTail(hub, { from: batches.at(-1)!.cursor });
  hub.live.tail.offer(events(numbered(9, 12)));
  const { texts, gaps } = await second.take(7);
  assert.deepEqual(texts, numbered(5, 12));
  assert.equal(gaps, 0);
});

test("a cursor of another hub's run is answered with a gap of unknown size", async () => {
  const hub = await startHub();
  const client = await openTail(hub, { from: "bm9uc2Vuc2U" });
  const gap = await client.next("tail.gap");
  assert.deepEqual([gap.n, gap.why], [0, "hub_restart"]);
});

test("a tail can begin with the last lines that match", async () => {
  const hub = await startHub();
  await openTail(hub);
  hub.live.tail.offer(events(["a 1", "b 1", "a 2", "a 3"]));
  const client = await openTail(hub, { q: "a", from: { last: 2 } });
  assert.deepEqual((await client.take(2)).texts, ["a 2", "a 3"]);
});

test("a long message is cut and marked", async () => {
  const hub = await startHub();
  const client = await openTail(hub);
  hub.live.tail.offer(events(["x".repeat(9_000)]));
  const { batches } = await client.take(1);
  assert.equal(batches[0]!.rows[0]![4].length, 8_192);
  assert.equal(batches[0]!.rows[0]![6], 1);
});

test("tails and sockets beyond the limits are refused in words", async () => {
  const hub = await startHub({ subscriptionsPerSocket: 2, socketsPerViewer: 1, tailsPerHub: 10 });
  const client = await openTail(hub);
  client.open({ sub: 1 });
  assert.match((await client.next("error")).message, /open already/);
  client.open({ sub: 2 });
  await client.next("tail.opened");
  client.open({ sub: 3 });
  assert.equal((await client.next("error")).code, "overloaded");
  client.send({ t: "tail.close", sub: 2 });
  client.open({ sub: 3 });
  await client.next("tail.opened");
  const [code, reason] = (await once(new Client(hub.url).socket, "close")) as [number, Buffer];
  assert.equal(code, 4409);
  assert.match(reason.toString(), /limit/);
});

test("a client that reads nothing costs a bounded amount and is ended; others go on", async () => {
  const hub = await startHub({ bufferedStopBytes: 64 * 1024, slowCloseMs: 50, ringRows: 50 });
  const slow = await openTail(hub, { credit: 20_000, maxRate: 20_000 });
  const quick = await openTail(hub, { q: "last" });
  slow.socket.pause();
  const line = "x".repeat(8_000);
  const ended = new Promise<void>((resolve) => {
    const offer = setInterval(() => {
      hub.live.tail.offer(events(Array.from({ length: 100 }, () => line)));
      if (hub.live.tail.openTails === 1) {
        clearInterval(offer);
        resolve();
      }
    }, 5);
  });
  await ended;
  hub.live.tail.offer(events(["last"]));
  assert.deepEqual((await quick.take(1)).texts, ["last"]);
  slow.socket.resume();
  assert.equal((await once(slow.socket, "close"))[0], 4408);
});

test("a hub that stops says so and when to come back", async () => {
  const hub = await startHub();
  const client = await openTail(hub);
  const closed = once(client.socket, "close");
  await hub.live.stop();
  assert.equal((await client.next("bye")).retryAfterMs, 2_000);
  assert.equal((await closed)[0], 1001);
  assert.equal(hub.live.tail.listening, false);
});

test("a socket that leaves pings unanswered is ended", async () => {
  const hub = await startHub({ heartbeatMs: 10 });
  const client = new Client(hub.url);
  await client.next("welcome");
  client.socket.pause();
  const gone = new Promise<void>((resolve) => {
    const look = setInterval(() => {
      if (hub.live.openSockets > 0) return;
      clearInterval(look);
      resolve();
    }, 5);
  });
  await gone;
});
