import assert from "node:assert/strict";
import { test } from "node:test";
import { USE_HTTP_STATUS } from "#proto/live.ts";
import { Client, startHub, VIEWER } from "#test/support/live/live-harness.ts";
import type { CallRequest, RunCall } from "./run-call.ts";

const echo: RunCall = (request) => Promise.resolve({ status: 200, body: JSON.stringify(request) });

async function connect(run: RunCall | undefined, limits = {}): Promise<Client> {
  const hub = await startHub(limits, VIEWER, run);
  const client = new Client(hub.url);
  const { calls } = await client.next("welcome");
  assert.equal(calls, run !== undefined);
  return client;
}

test("a call is answered with its status and its body as it is", async () => {
  const client = await connect(echo);
  client.send({ t: "call", id: 7, method: "PUT", path: "/api/saved/search/x", body: "{}" });
  assert.deepEqual(await client.next("answer"), { t: "answer", id: 7, status: 200 });
  assert.deepEqual(JSON.parse(client.bodies[0]!), { method: "PUT", path: "/api/saved/search/x", body: "{}" });
});

test("what the socket can't do is left to HTTP: without calls, too many at once, an answer too large", async () => {
  const none = await connect(undefined);
  none.send({ t: "call", id: 1, method: "GET", path: "/api/status" });
  assert.equal((await none.next("answer")).status, USE_HTTP_STATUS);
  const pending = await connect(() => new Promise(() => undefined), { callsPerSocket: 1 });
  pending.send({ t: "call", id: 1, method: "GET", path: "/api/status" });
  pending.send({ t: "call", id: 2, method: "GET", path: "/api/status" });
  assert.deepEqual(await pending.next("answer"), { t: "answer", id: 2, status: USE_HTTP_STATUS });
  const large = await connect(() => Promise.resolve({ status: 200, body: "x".repeat(11) }), {
    answerSizeBytes: 10,
  });
  large.send({ t: "call", id: 1, method: "GET", path: "/api/status" });
  assert.equal((await large.next("answer")).status, USE_HTTP_STATUS);
});

const REFUSED_PATHS = [
  "/api/auth/login",
  "/api/connections",
  "/api/live",
  "/metrics",
  "/es/../api/auth/x",
  "http://other/",
  "/es/a b",
];

test("a call leads to the interfaces only, not to the sign-in", async () => {
  for (const path of REFUSED_PATHS) {
    const client = await connect(echo);
    const closed = new Promise<number>((resolve) => client.socket.once("close", resolve));
    client.send({ t: "call", id: 1, method: "GET", path });
    assert.equal(await closed, 4400, path);
  }
});

test("a call that is cancelled ends at once, and so do those of a socket that closes", async () => {
  const ended: string[] = [];
  const begun: (() => void)[] = [];
  const run: RunCall = ({ path }, signal) => {
    begun.shift()?.();
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        ended.push(path);
        reject(new Error("cancelled"));
        begun.shift()?.();
      });
    });
  };
  const next = (): Promise<void> => new Promise((resolve) => begun.push(resolve));
  const client = await connect(run);
  let step = next();
  client.send({ t: "call", id: 1, method: "GET", path: "/es/a/_search" });
  await step;
  step = next();
  client.send({ t: "call.cancel", id: 1 });
  await step;
  step = next();
  client.send({ t: "watch.open", sub: 1, path: "/api/agents", everyMs: 0 });
  await step;
  step = next();
  client.socket.close();
  await step;
  assert.deepEqual(ended, ["/es/a/_search", "/api/agents"]);
});

test("a watched answer is sent at once and again only when it has changed", async () => {
  const bodies = ["1", "1", "1", "2", "2"];
  const asked: CallRequest[] = [];
  const run: RunCall = (request) => {
    asked.push(request);
    return Promise.resolve({ status: 200, body: bodies[Math.min(asked.length, bodies.length) - 1]! });
  };
  const client = await connect(run, { watchMinMs: 2 });
  client.send({ t: "watch.open", sub: 3, path: "/api/agents", everyMs: 1 });
  assert.deepEqual(await client.next("watched"), { t: "watched", sub: 3, status: 200 });
  await client.next("watched");
  assert.deepEqual(client.bodies, ["1", "2"]);
  assert.ok(asked.length >= 4);
  assert.deepEqual(asked[0], { method: "GET", path: "/api/agents" });
});

test("watches beyond the limit are left to HTTP, one that is closed makes room", async () => {
  const client = await connect(echo, { watchesPerSocket: 1 });
  client.send({ t: "watch.open", sub: 1, path: "/api/a", everyMs: 0 });
  assert.equal((await client.next("watched")).status, 200);
  client.send({ t: "watch.open", sub: 2, path: "/api/b", everyMs: 0 });
  assert.equal((await client.next("watched")).status, USE_HTTP_STATUS);
  client.send({ t: "watch.close", sub: 1 });
  client.send({ t: "watch.open", sub: 2, path: "/api/b", everyMs: 0 });
  assert.deepEqual(await client.next("watched"), { t: "watched", sub: 2, status: 200 });
});
