import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { LIVE_PROTOCOL } from "#proto/live.ts";
import { Client, events, ORIGIN, openTail, startHub, VIEWER } from "#test/support/live/live-harness.ts";

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

test("an upgrade of another origin or without a sign-in is refused", async () => {
  const hub = await startHub();
  for (const [name, options, status] of REFUSED) {
    const { socket } = new Client(hub.url, options);
    const [, response] = (await once(socket, "unexpected-response")) as [unknown, { statusCode: number }];
    assert.equal(response.statusCode, status, name);
  }
});

test("an origin may name the default port or omit it, and a key needs no origin", async () => {
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

test("a faulty filter is answered with the position of the fault, and the socket stays open", async () => {
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

test("one viewer's tails leave some for the others, and are given back with the socket", async () => {
  const hub = await startHub({ tailsPerHub: 6 });
  const first = await openTail(hub);
  const second = await openTail(hub);
  second.open({ sub: 2 });
  await second.next("tail.opened");
  second.open({ sub: 3 });
  const { code, message } = await second.next("error");
  assert.equal(code, "overloaded");
  assert.match(message, /3 tails are open for you, of 6 for all users/);
  second.send({ t: "tail.close", sub: 2 });
  second.open({ sub: 3 });
  await second.next("tail.opened");
  first.socket.close();
  while (hub.live.openSockets > 1) await new Promise((resolve) => setImmediate(resolve));
  second.open({ sub: 4 });
  await second.next("tail.opened");
});

test("a hub that stops announces it with the time to reconnect", async () => {
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
