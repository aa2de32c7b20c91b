import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import { createServer as createTlsServer, type TLSSocket, connect as tlsConnect } from "node:tls";
import { randomCredentials } from "#hub/cluster/discovery/cluster-credentials.ts";
import { callHub } from "#hub/cluster/discovery/hello-call.ts";
import { LINK_PROTOCOL, TransportListener } from "#hub/cluster/discovery/transport-listener.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { HubLinks, type LinkAddress } from "./hub-links.ts";
import type { HubAnswer, HubRequestOptions, HubTransport } from "./hub-transport.ts";
import { Link, type LinkEnd, LinkLost } from "./link.ts";
import { FrameKind, MAX_FRAME_BYTES, packRequest, writeFrame } from "./link-frames.ts";

const certificate = randomCredentials("0123456789abcdef0123456789abcdef").issue(["127.0.0.1"]);
const foreign = randomCredentials("another secret of 32 characters.").issue(["127.0.0.1"]);
const SUBJECT = "hub.b.hosts";
const options = { timeoutMs: 5_000 };

/** NATS without a server. */
class Nats implements HubTransport {
  readonly served = new Map<string, HubAnswer>();
  requests = 0;
  /** Of the last request. */
  timeoutMs = 0;

  request(subject: string, data: Uint8Array, { timeoutMs }: HubRequestOptions): Promise<Uint8Array> {
    this.requests++;
    this.timeoutMs = timeoutMs;
    const answer = this.served.get(subject);
    return answer?.({ data }) ?? Promise.reject(new AppError("unavailable", "no responders"));
  }

  serve(subject: string, answer: HubAnswer): () => void {
    this.served.set(subject, answer);
    return () => this.served.delete(subject);
  }
}

interface World {
  readonly caller: HubLinks;
  readonly answering: HubLinks;
  readonly nats: Nats;
  readonly clock: StillClock;
  /** The address that hub b announces. */
  announced: LinkAddress | undefined;
  /** Asks hub b. */
  readonly ask: (text: string, repeatable?: boolean) => Promise<string>;
  /** Asks until the answer comes by a link. */
  readonly open: () => Promise<void>;
  /** Messages by a way. */
  readonly sent: (way: "link" | "nats") => Promise<number>;
  readonly metric: (line: string) => Promise<boolean>;
}

/** Hub a, which calls, and hub b, which answers `echo`. */
async function world(
  t: TestContext,
  given: { readonly shown?: typeof certificate; readonly id?: string } = {},
) {
  const nats = new Nats();
  const clock = new StillClock();
  const metrics = new Metrics();
  const shared = { nats, clock, log: silentLogger(), certificate };
  const answering = new HubLinks({
    ...shared,
    node: given.id ?? "b",
    addressOf: () => undefined,
    metrics: new Metrics(),
  });
  const listener = new TransportListener({
    host: "127.0.0.1",
    port: 0,
    certificate: given.shown ?? certificate,
    log: silentLogger(),
  });
  listener.onLink((socket) => answering.server.accept(socket));
  await listener.start();
  const made: World = {
    caller: new HubLinks({ ...shared, node: "a", addressOf: () => made.announced, metrics }),
    answering,
    nats,
    clock,
    announced: { host: "127.0.0.1", port: listener.port, process: "1" },
    ask: async (text, repeatable = true) => {
      const answer = await made.caller.request(SUBJECT, Buffer.from(text), { ...options, repeatable });
      return Buffer.from(answer).toString();
    },
    open: async () => {
      const before = await made.sent("link");
      while ((await made.sent("link")) === before) {
        await made.ask("open");
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    sent: async (way) => {
      const text = await metrics.text();
      return Number(new RegExp(`messages_total\\{way="${way}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
    },
    metric: async (line) => (await metrics.text()).includes(line),
  };
  answering.serve(SUBJECT, ({ data }) => Promise.resolve(Buffer.concat([Buffer.from("re: "), data])));
  t.after(async () => {
    made.caller.stop();
    answering.stop();
    await listener.stop();
  });
  return { ...made, made, listener };
}

/** Waits until the metrics of the caller have a line. */
async function untilMetric({ metric }: Pick<World, "metric">, line: string): Promise<void> {
  while (!(await metric(line))) await new Promise((resolve) => setImmediate(resolve));
}

/** A relay between the hubs whose connections can be cut or stopped. */
async function relay(t: TestContext, port: number) {
  const sockets: Socket[] = [];
  const server: Server = createServer((inner) => {
    const outer = connect(port, "127.0.0.1");
    sockets.push(inner, outer);
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of sockets.splice(0)) socket.destroy();
  };
  t.after(() => {
    cut();
    server.close();
  });
  const stop = (): void => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return { port: (server.address() as { port: number }).port, cut, stop };
}

test("the first message goes by NATS and opens a link, which takes those that follow", async (t) => {
  const { ask, open, sent, metric, caller } = await world(t);
  assert.equal(await ask("first"), "re: first");
  assert.deepEqual([await sent("nats"), await sent("link")], [1, 0]);
  await open();
  const byNats = await sent("nats");
  const texts = Array.from({ length: 200 }, (_, number) => `message ${number}`);
  assert.deepEqual(
    await Promise.all(texts.map((text) => ask(text))),
    texts.map((text) => `re: ${text}`),
  );
  assert.equal(await sent("nats"), byNats);
  assert.ok(await metric('links_open{opened_by="this"} 1'));
  const large = Buffer.alloc(7 * 1_024 ** 2, 5);
  const answer = await caller.request(SUBJECT, large, options);
  assert.ok(Buffer.concat([Buffer.from("re: "), large]).equals(answer));
  assert.equal(await sent("nats"), byNats);
});

test("a message above the limit of frames goes by NATS", async (t) => {
  const { caller, open, sent } = await world(t);
  await open();
  const byNats = await sent("nats");
  await caller.request(SUBJECT, Buffer.alloc(MAX_FRAME_BYTES), options);
  assert.equal(await sent("nats"), byNats + 1);
});

test("a hub that announces no address is reached by NATS", async (t) => {
  const { made, ask, sent } = await world(t);
  made.announced = undefined;
  await ask("a");
  await ask("b");
  assert.deepEqual([await sent("nats"), await sent("link")], [2, 0]);
});

test("a subject that the hub doesn't serve on its link is requested by NATS", async (t) => {
  const { open, nats, caller } = await world(t);
  await open();
  nats.serve("hub.b.other", () => Promise.resolve(Buffer.from("by NATS")));
  const answer = await caller.request("hub.b.other", Buffer.from(""), options);
  assert.equal(Buffer.from(answer).toString(), "by NATS");
});

const REFUSALS = [
  ["a hub with another secret", { shown: foreign }, "foreign"],
  ["another hub with the same secret", { id: "c" }, "other"],
] as const;
for (const [name, given, reason] of REFUSALS)
  test(`${name} at the address is not called; NATS is, and the address is tried again later`, async (t) => {
    const { ask, sent, clock, metric, ...rest } = await world(t, given);
    assert.equal(await ask("a"), "re: a");
    await untilMetric({ metric }, `links_ended_total{reason="${reason}"} 1`);
    await ask("b"); // not tried again yet
    assert.deepEqual([await sent("link"), rest.nats.requests], [0, 2]);
    await clock.advance(1_000);
    await ask("c");
    await untilMetric({ metric }, `links_ended_total{reason="${reason}"} 2`);
    assert.equal(await sent("link"), 0);
  });

test("a link that another hub's hello ended isn't opened by what came with it", async (t) => {
  const { authority: ca, certificate: cert, key } = certificate;
  const impostor = createTlsServer({ ca, cert, key, ALPNProtocols: [LINK_PROTOCOL] }, (socket) => {
    socket.on("error", () => undefined);
    const hellos = new PassThrough();
    for (const hub of ["c", "b"]) writeFrame(hellos, FrameKind.HELLO, 0, Buffer.from(hub));
    socket.write(hellos.read());
  });
  t.after(() => impostor.close());
  impostor.listen(0, "127.0.0.1");
  await once(impostor, "listening");
  const onOpen = t.mock.fn();
  const ended = Promise.withResolvers<LinkEnd>();
  const { port } = impostor.address() as { port: number };
  new Link({ hub: "b", host: "127.0.0.1", port, certificate, onOpen, onEnd: ended.resolve });
  assert.equal(await ended.promise, "other");
  assert.equal(onOpen.mock.callCount(), 0);
});

test("a link isn't opened to a hub of a version that describes itself only", async (t) => {
  const { announced, ask, sent, metric } = await world(t);
  const plain = createServer((socket) => socket.end("{}\n"));
  t.after(() => plain.close());
  plain.listen(0, "127.0.0.1");
  await once(plain, "listening");
  Object.assign(announced!, { port: (plain.address() as { port: number }).port });
  await ask("a");
  await untilMetric({ metric }, 'links_ended_total{reason="away"} 1');
  assert.equal(await sent("link"), 0);
});

test("a hub that asks for the description gets no link, and one without the secret gets nothing", async (t) => {
  const { listener } = await world(t);
  const { signal } = new AbortController();
  const address = { host: "127.0.0.1", port: listener.port };
  assert.equal((await callHub(address, certificate, signal)).kind, "away");
  assert.equal((await callHub(address, foreign, signal)).kind, "foreign");
});

test("a message on a link that breaks is repeated by NATS only if it may be, for the rest of its time", async (t) => {
  const { made, announced, open, ask, answering, sent, nats, clock, listener } = await world(t);
  const { port, cut } = await relay(t, listener.port);
  made.announced = { ...announced!, port };
  await open();
  const arrived = Promise.withResolvers<void>();
  let calls = 0;
  answering.server.serve(SUBJECT, () => {
    if (++calls === 2) arrived.resolve();
    return new Promise(() => undefined);
  });
  const [safe, unsafe] = [ask("safe"), assert.rejects(ask("unsafe", false), LinkLost)];
  await arrived.promise;
  await clock.advance(2_000);
  cut();
  assert.equal(await safe, "re: safe");
  assert.equal(nats.timeoutMs, options.timeoutMs - 2_000);
  await unsafe;
  answering.serve(SUBJECT, ({ data }) => Promise.resolve(data));
  const byLink = await sent("link");
  await clock.advance(1_000);
  await open();
  assert.ok((await sent("link")) > byLink);
});

/** A link through a relay that has stopped; its timers run by `tick`. */
async function halfOpen(t: TestContext) {
  t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
  const opened = await world(t);
  const { port, stop } = await relay(t, opened.listener.port);
  opened.made.announced = { ...opened.announced!, port };
  await opened.open();
  stop();
  return { ...opened, tick: (ms: number) => t.mock.timers.tick(ms) };
}

test("a half-open link is noticed by its pings", async (t) => {
  const { ask, metric, tick } = await halfOpen(t);
  const answer = ask("a");
  for (let second = 1; second <= 4; second++) tick(1_000);
  assert.equal(await answer, "re: a"); // by NATS
  assert.ok(await metric('links_ended_total{reason="silent"} 1'));
});

test("a request that gets no answer in time ends its link only if two pings got none either", async (t) => {
  const { ask, caller, metric, nats, tick } = await halfOpen(t);
  const early = caller.request(SUBJECT, Buffer.from(""), { timeoutMs: 1_500 });
  tick(1_500);
  await assert.rejects(early, { code: "timeout" });
  assert.ok(await metric('links_open{opened_by="this"} 1'));
  const late = caller.request(SUBJECT, Buffer.from(""), { timeoutMs: 1_200, repeatable: true });
  const other = ask("other");
  const byNats = nats.requests;
  tick(1_200);
  await assert.rejects(late, { code: "timeout" }); // its time is over
  assert.equal(await other, "re: other");
  assert.equal(nats.requests, byNats + 1);
  assert.ok(await metric('links_ended_total{reason="silent"} 1'));
});

test("the link to a restarted hub, or to one that left, is ended", async (t) => {
  const { made, announced, open, caller, answering, metric } = await world(t);
  await open();
  made.announced = { ...announced!, process: "2" };
  caller.update();
  assert.ok(await metric('links_open{opened_by="this"} 0'));
  await open();
  answering.server.serve(SUBJECT, () => new Promise(() => undefined));
  const lost = assert.rejects(caller.request(SUBJECT, Buffer.from(""), options), LinkLost);
  made.announced = undefined;
  caller.update();
  await lost;
});

test("a stopped hub ends its links in both directions, with the messages on them", async (t) => {
  const one = await world(t);
  await one.open();
  one.answering.server.serve(SUBJECT, () => new Promise(() => undefined));
  const lost = assert.rejects(one.caller.request(SUBJECT, Buffer.from(""), options), LinkLost);
  one.caller.stop();
  await lost;
  assert.equal(await one.ask("by NATS"), "re: by NATS");
  const two = await world(t);
  await two.open();
  two.answering.stop();
  await untilMetric(two, 'links_ended_total{reason="lost"} 1');
  assert.equal(two.answering.server.count, 0);
});

test("a cancelled message ends at once, one without an answer in time is a timeout", async (t) => {
  const { open, caller, answering } = await world(t);
  await open();
  answering.server.serve(SUBJECT, () => new Promise(() => undefined));
  const abort = new AbortController();
  const cancelled = caller.request(SUBJECT, Buffer.from(""), { ...options, signal: abort.signal });
  abort.abort();
  await assert.rejects(cancelled, { code: "cancelled" });
  await assert.rejects(caller.request(SUBJECT, Buffer.from(""), { timeoutMs: 20 }), { code: "timeout" });
});

/** Connects to hub b without a HubLinks; resolves when its hello has arrived. */
async function connectPlain(t: TestContext, port: number, protocol = LINK_PROTOCOL): Promise<TLSSocket> {
  const { authority: ca, certificate: cert, key } = certificate;
  const checkServerIdentity = (): undefined => undefined;
  const socket = tlsConnect({ port, ca, cert, key, ALPNProtocols: [protocol], checkServerIdentity });
  t.after(() => socket.destroy());
  await once(socket, "readable");
  return socket;
}

test("a frame that is too long ends its link only", async (t) => {
  const { open, ask, sent, listener } = await world(t);
  await open();
  const socket = await connectPlain(t, listener.port);
  const byNats = await sent("nats");
  socket.write(Buffer.of(0x7f, 0xff, 0xff, 0xff, FrameKind.REQUEST, 0, 0, 0, 1));
  socket.resume();
  await once(socket, "close");
  assert.equal(await ask("a"), "re: a");
  assert.equal(await sent("nats"), byNats);
});

test("a caller of a later version only is refused, so that it sends by NATS", async (t) => {
  const { listener } = await world(t);
  await assert.rejects(connectPlain(t, listener.port, "tailrace-link/2"), {
    code: "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL",
  });
});

test("nothing more is read from a caller that doesn't read its answers", async (t) => {
  const { answering, listener } = await world(t);
  const answer = Buffer.alloc(2 * 1_024 ** 2);
  let answered = 0;
  answering.server.serve(SUBJECT, () => {
    answered++;
    return Promise.resolve(answer);
  });
  const socket = await connectPlain(t, listener.port);
  for (let id = 1; id <= 60; id++) {
    writeFrame(socket, FrameKind.REQUEST, id, packRequest(SUBJECT, Buffer.alloc(64 * 1_024)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const most = answered;
  assert.ok(most < 40, `${most} answers of 2 MiB wait`);
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
  while (bytes < 60 * answer.length) await once(socket, "data");
  assert.equal(answered, 60);
});

test("messages beyond what a link takes go by NATS", async (t) => {
  const { open, caller, answering, sent } = await world(t);
  await open();
  const answers: (() => void)[] = [];
  answering.server.serve(SUBJECT, ({ data }) => new Promise((resolve) => answers.push(() => resolve(data))));
  const byNats = await sent("nats");
  const all = Array.from({ length: 600 }, () => caller.request(SUBJECT, Buffer.from("x"), options));
  assert.equal(await sent("nats"), byNats + 600 - 512);
  while (answers.length < 512) await new Promise((resolve) => setImmediate(resolve));
  for (const answer of answers) answer();
  assert.equal((await Promise.all(all)).length, 600);
});
