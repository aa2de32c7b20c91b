import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { DEFAULT_LIMITS, type HubMessage, USE_HTTP_STATUS } from "#proto/live.ts";
import { tailsOver } from "#ui/services/live/tail-channel.ts";
import { SocketCalls } from "./hub-connection.ts";
import { HubSocket, type SocketLike } from "./hub-socket.ts";
import { callJson } from "./json-call.ts";

/** A browser's socket in the test's hand. */
class FakeSocket implements SocketLike {
  readyState: SocketLike["readyState"] = 0;
  readonly sent: Record<string, unknown>[] = [];
  onopen: SocketLike["onopen"] = null;
  onmessage: SocketLike["onmessage"] = null;
  onclose: SocketLike["onclose"] = null;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.readyState = 3;
  }

  open(calls = true): void {
    this.readyState = 1;
    this.onopen?.({} as Event);
    this.say({ t: "welcome", v: 1, session: "s", limits: DEFAULT_LIMITS, serverTime: 0, calls });
  }

  say(message: HubMessage, body?: string): void {
    const text = JSON.stringify(message);
    this.onmessage?.({ data: body === undefined ? text : `${text}\n${body}` } as MessageEvent);
  }

  drop(code = 1006): void {
    this.readyState = 3;
    this.onclose?.({ code, reason: "" } as CloseEvent);
  }
}

interface Rig {
  readonly socket: HubSocket;
  readonly calls: SocketCalls;
  readonly sockets: FakeSocket[];
  /** What went over HTTP. */
  readonly http: string[];
}

function setUp(): Rig {
  const sockets: FakeSocket[] = [];
  const http: string[] = [];
  const socket = new HubSocket(() => {
    const made = new FakeSocket();
    sockets.push(made);
    return made;
  });
  const calls = new SocketCalls(socket, (address, { method = "GET" }) => {
    http.push(`${method} ${address}`);
    return Promise.resolve(new Response("http"));
  });
  return { socket, calls, sockets, http };
}

function connected(): Rig & { readonly wire: FakeSocket } {
  const rig = setUp();
  rig.socket.start();
  rig.sockets[0]!.open();
  return { ...rig, wire: rig.sockets[0]! };
}

beforeEach(() => mock.timers.enable({ apis: ["setTimeout", "setInterval"] }));
afterEach(() => mock.timers.reset());

test("a request goes over the socket, and over HTTP where there is none or it isn't for it", async () => {
  const { calls, http, wire } = connected();
  const answer = calls.fetch("/api/agents", { method: "GET" });
  assert.deepEqual(wire.sent.at(-1), { t: "call", id: 1, method: "GET", path: "/api/agents" });
  wire.say({ t: "answer", id: 1, status: 200 }, "[1]");
  assert.equal(await (await answer).text(), "[1]");
  for (const path of ["/api/auth/me", "/health", "/api/auth/login?x", "/api/connections"])
    await calls.fetch(path, {});
  await calls.fetch("/es/a/_bulk", { method: "POST", body: "x".repeat(30_000) });
  assert.deepEqual(http, [
    "GET /api/auth/me",
    "GET /health",
    "GET /api/auth/login?x",
    "GET /api/connections",
    "POST /es/a/_bulk",
  ]);
  const alone = setUp();
  await alone.calls.fetch("/api/agents", {});
  alone.socket.start();
  alone.sockets[0]!.open(false);
  await alone.calls.fetch("/api/agents", {});
  assert.equal(alone.http.length, 2);
});

test("an answer that is too large for the socket is asked for over HTTP", async () => {
  const { calls, http, wire } = connected();
  const answer = calls.fetch("/es/a/_doc/1", { method: "GET" });
  wire.say({ t: "answer", id: 1, status: USE_HTTP_STATUS }, "");
  assert.equal(await (await answer).text(), "http");
  assert.deepEqual(http, ["GET /es/a/_doc/1"]);
});

test("a search shows its parts, and is cancelled at once", async () => {
  const { calls, wire } = connected();
  const parts: string[] = [];
  const abort = new AbortController();
  const answer = calls.fetch("/es/logs-*/_search?ignore_unavailable=true", {
    method: "POST",
    body: "{}",
    signal: abort.signal,
    onPart: (text, done, of) => parts.push(`${text} ${done}/${of}`),
  });
  assert.deepEqual(wire.sent.at(-1), { t: "search", id: 1, index: "logs-*", body: "{}" });
  wire.say({ t: "part", id: 1, done: 1, of: 3 }, "a");
  abort.abort();
  await assert.rejects(answer, { name: "AbortError" });
  assert.deepEqual(wire.sent.at(-1), { t: "call.cancel", id: 1 });
  wire.say({ t: "part", id: 1, done: 2, of: 3 }, "b");
  wire.say({ t: "answer", id: 1, status: 200 }, "c");
  assert.deepEqual(parts, ["a 1/3"]);
});

test("when the connection breaks, what changes nothing is asked again, and a change is reported as broken", async () => {
  const { calls, http, wire } = connected();
  const search = calls.fetch("/es/a/_search", { method: "POST", body: "{}" });
  const change = calls.fetch("/api/saved/search/x", { method: "PUT", body: "{}" });
  wire.drop();
  assert.equal(await (await search).text(), "http");
  await assert.rejects(change, TypeError);
  assert.deepEqual(http, ["POST /es/a/_search"]);
});

test("a watched answer is pushed and answers requests, until something is changed", async () => {
  const { calls, wire, sockets } = connected();
  let pushes = 0;
  const end = calls.watch("/api/agents", 1_000, () => pushes++);
  assert.deepEqual(wire.sent.at(-1), { t: "watch.open", sub: 1, path: "/api/agents", everyMs: 1_000 });
  wire.say({ t: "watched", sub: 1, status: 200 }, "[1]");
  assert.equal(pushes, 1);
  assert.equal(await (await calls.fetch("/api/agents", {})).text(), "[1]");
  void calls.fetch("/api/alerts/x", { method: "DELETE" }).catch(() => undefined);
  void calls.fetch("/api/agents", {}).catch(() => undefined);
  assert.deepEqual(wire.sent.at(-1), { t: "call", id: 3, method: "GET", path: "/api/agents" });
  void calls.fetch("/api/alerts/x", {}).catch(() => undefined);
  wire.drop();
  mock.timers.tick(20_000);
  sockets[1]!.open();
  assert.deepEqual(sockets[1]!.sent[0], { t: "watch.open", sub: 1, path: "/api/agents", everyMs: 1_000 });
  end();
  assert.deepEqual(sockets[1]!.sent.at(-1), { t: "watch.close", sub: 1 });
});

test("a hub that doesn't answer is silent after three seconds, and open with its next word", () => {
  const { socket, wire } = connected();
  const states: string[] = [];
  socket.listen({ onState: (state) => states.push(state) });
  mock.method(performance, "now", () => nowMs);
  let nowMs = 0;
  const pass = (ms: number): void => {
    for (let at = 0; at < ms; at += 1_000) {
      nowMs += 1_000;
      mock.timers.tick(1_000);
    }
  };
  pass(2_000);
  wire.say({ t: "pong", n: 1 });
  pass(2_000);
  assert.deepEqual(states, []);
  pass(1_000);
  assert.deepEqual(states, ["silent"]);
  wire.say({ t: "pong", n: 1 });
  assert.deepEqual(states, ["silent", "open"]);
  mock.restoreAll();
});

test("where no socket gets through, requests alone are used; one that broke is dialled again", () => {
  const blocked = setUp();
  blocked.socket.start();
  for (let tries = 0; tries < 3; tries++) {
    blocked.sockets.at(-1)!.drop();
    mock.timers.tick(15_000);
  }
  assert.equal(blocked.socket.state, "http");
  const { socket, wire, sockets } = connected();
  wire.drop();
  assert.equal(socket.state, "waiting");
  mock.timers.tick(15_000);
  assert.equal(sockets.length, 2);
  sockets[1]!.drop(4401);
  mock.timers.tick(60_000);
  assert.deepEqual([socket.state, sockets.length], ["ended", 2]);
  socket.start();
  assert.equal(sockets.length, 2, "not by itself");
  tailsOver(socket).connect();
  assert.deepEqual([socket.state, sockets.length], ["connecting", 3], "where a person opens a tail again");
});

test("a remedy that the hub names stands in the place of the general one for its status", async () => {
  const refusal = (reason: string) =>
    callJson(
      () => Promise.resolve(new Response(JSON.stringify({ error: { reason } }), { status: 403 })),
      { method: "GET", address: "/api/users" },
      { statuses: { 403: "Ask an administrator." } },
    );
  await assert.rejects(refusal("vic lacks a right"), { hint: "Ask an administrator." });
  await assert.rejects(refusal("vic lacks a right; ask for another role"), { hint: "" });
});
