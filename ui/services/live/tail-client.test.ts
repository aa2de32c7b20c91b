import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { ClientMessage, HubMessage, Row, TailOpen } from "#proto/live.ts";
import type { TailSocket } from "./tail-channel.ts";
import { TailClient, type TailLine, type TailListener, type TailState } from "./tail-client.ts";

/** A connection in the test's hand. */
class FakeSocket implements TailSocket {
  isOpen = false;
  sent: Record<string, unknown>[] = [];
  onopen: TailSocket["onopen"];
  onmessage: TailSocket["onmessage"];
  onclose: TailSocket["onclose"];

  send(message: ClientMessage): void {
    this.sent.push(message as unknown as Record<string, unknown>);
  }

  close(): void {
    this.isOpen = false;
  }

  open(): void {
    this.isOpen = true;
    this.onopen?.();
  }

  say(message: HubMessage): void {
    this.onmessage?.(message);
  }

  drop(code: number, reason = ""): void {
    this.isOpen = false;
    this.onclose?.(code, reason);
  }
}

function setUp(): { client: TailClient; sockets: FakeSocket[]; lines: TailLine[]; states: TailState[] } {
  const sockets: FakeSocket[] = [];
  const lines: TailLine[] = [];
  const states: TailState[] = [];
  const listener: TailListener = {
    onLines: (more) => lines.push(...more),
    onGap: () => undefined,
    onStats: () => undefined,
    onState: (state) => states.push(state),
    onRefused: () => undefined,
  };
  let subs = 0;
  const client = new TailClient(listener, {
    connect: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
    nextSub: () => ++subs,
  });
  return { client, sockets, lines, states };
}

function rows(from: number, to: number): Row[] {
  return Array.from(
    { length: to - from },
    (_, i): Row => [`id${from + i}`, 1, 0, 0, `line ${from + i}`, null, 0],
  );
}

function batch(from: number, to: number, cursor: string): HubMessage {
  return { t: "tail.rows", sub: 1, seq: 1, cursor, srcs: [["logs", "web", "/a"]], rows: rows(from, to) };
}

test("credit is given back when half of it is used", () => {
  const { client, sockets } = setUp();
  client.start({ query: "x", index: ["logs-*"] });
  sockets[0]!.open();
  assert.deepEqual(sockets[0]!.sent, [{ t: "tail.open", sub: 1, index: ["logs-*"], q: "x", credit: 5_000 }]);
  sockets[0]!.say(batch(0, 2_499, "a"));
  assert.equal(sockets[0]!.sent.length, 1);
  sockets[0]!.say(batch(2_499, 2_500, "b"));
  assert.deepEqual(sockets[0]!.sent[1], { t: "tail.credit", sub: 1, add: 2_500 });
});

test("after a break it goes on behind its cursor and shows no line twice", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { client, sockets, lines, states } = setUp();
    client.start({ query: "", index: [] });
    sockets[0]!.open();
    sockets[0]!.say({ t: "tail.opened", sub: 1, cursor: "start" });
    sockets[0]!.say(batch(0, 3, "after-2"));
    sockets[0]!.drop(1006);
    assert.equal(states.at(-1)?.name, "waiting");
    mock.timers.tick(250);
    sockets[1]!.open();
    assert.equal((sockets[1]!.sent[0] as unknown as TailOpen).from, "after-2");
    sockets[1]!.say(batch(2, 5, "after-4"));
    assert.deepEqual(
      lines.map(({ row }) => row[4]),
      ["line 0", "line 1", "line 2", "line 3", "line 4"],
    );
  } finally {
    mock.timers.reset();
  }
});

test("a hub that restarts is given the time it asks for", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { client, sockets } = setUp();
    client.start({ query: "", index: [] });
    sockets[0]!.open();
    sockets[0]!.say({ t: "bye", reason: "restart", retryAfterMs: 2_000 });
    sockets[0]!.drop(1001, "restart");
    mock.timers.tick(1_999);
    assert.equal(sockets.length, 1);
    mock.timers.tick(1);
    assert.equal(sockets.length, 2);
  } finally {
    mock.timers.reset();
  }
});

test("a refusal that would be the same again isn't tried again, and its reason is shown", () => {
  for (const code of [4400, 4401, 4403]) {
    const { client, sockets, states } = setUp();
    client.start({ query: "", index: [] });
    sockets[0]!.open();
    sockets[0]!.drop(code, "sign in again");
    assert.deepEqual(states.at(-1), { name: "ended", reason: "sign in again" });
    client.retryNow();
    assert.equal(sockets.length, 1);
  }
});

test("another filter closes the tail and opens one anew on the same socket", () => {
  const { client, sockets } = setUp();
  client.start({ query: "a", index: [] });
  sockets[0]!.open();
  sockets[0]!.say(batch(0, 1, "c"));
  client.start({ query: "b", index: [] });
  assert.equal(sockets.length, 1);
  assert.deepEqual(sockets[0]!.sent.slice(1), [
    { t: "tail.close", sub: 1 },
    { t: "tail.open", sub: 2, index: [], q: "b", credit: 5_000 },
  ]);
});

test("lines of the tail before, which were on their way, are left out", () => {
  const { client, sockets, lines } = setUp();
  client.start({ query: "a", index: [] });
  sockets[0]!.open();
  client.start({ query: "b", index: [] });
  sockets[0]!.say(batch(0, 1, "c"));
  assert.deepEqual(lines, []);
});

test("a pause outlasts a reconnect", () => {
  const { client, sockets } = setUp();
  client.start({ query: "", index: [] });
  client.pause();
  sockets[0]!.open();
  assert.deepEqual(sockets[0]!.sent[1], { t: "tail.pause", sub: 1 });
  client.resume();
  assert.deepEqual(sockets[0]!.sent[2], { t: "tail.resume", sub: 1 });
});
