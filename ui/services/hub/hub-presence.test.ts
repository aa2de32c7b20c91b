import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CLOSE } from "#proto/live.ts";
import { HubPresence, type Presence } from "./hub-presence.ts";
import type { SocketListener, SocketState } from "./hub-socket.ts";
import type { HubState } from "./session-client.ts";

/** A presence over a hub that is told how to answer. `calls`: the calls that pages repeat, and those that are tried. */
function followed(t: TestContext) {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  t.mock.method(Math, "random", () => 1);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let listener: SocketListener = {};
  const socket = {
    isOpen: false,
    state: "idle" as SocketState,
    start: () => undefined,
    listen: (given: SocketListener) => {
      listener = given;
      return () => undefined;
    },
  };
  const hub = { state: "ready" as HubState, works: true, shown: "ready" as Presence, calls: 0, asked: 0 };
  const call = async (): Promise<void> => {
    hub.calls++;
    await Promise.resolve();
    if (!hub.works) presence.miss();
  };
  const presence = new HubPresence({
    socket,
    isHidden: () => false,
    fetchState: () => {
      hub.asked++;
      return Promise.resolve(hub.state);
    },
    tryCall: call,
    onChange: (shown) => (hub.shown = shown),
    onBack: () => void call(),
  });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      nowMs += 100;
      t.mock.timers.tick(100);
      await settle();
    }
  };
  const turn = async (state: SocketState): Promise<void> => {
    socket.state = state;
    socket.isOpen = state === "open";
    listener.onState?.(state);
    await settle();
  };
  const signOut = async (): Promise<void> => {
    await turn("ended");
    listener.onClose?.(CLOSE.signedOut, "");
    await settle();
  };
  /** Lets calls of pages fail until that is shown; the hub is asked again 6 s later. */
  const fail = async (): Promise<void> => {
    hub.works = false;
    presence.miss();
    await pass(1_500 + 3_000);
    assert.equal(hub.shown, "failing");
  };
  presence.start();
  t.after(() => presence.stop());
  return { hub, presence, pass, turn, fail, signOut };
}

test("a failing hub that answers calls again is shown as ready about a second later", async (t) => {
  const { hub, pass, turn, fail } = followed(t);
  await turn("open");
  await fail();
  hub.works = true;
  await pass(5_900);
  assert.equal(hub.shown, "failing", "it hasn't been asked again");
  await pass(1_300);
  assert.equal(hub.shown, "ready");
});

test("a hub that fails on is shown so all the time", async (t) => {
  const { hub, pass, turn, fail } = followed(t);
  await turn("open");
  await fail();
  for (let second = 0; second < 120; second++) {
    await pass(1_000);
    assert.equal(hub.shown, "failing");
  }
  assert.ok(hub.calls <= 8, `${hub.calls} calls`);
});

test("a failing hub that goes away is shown as away, and as ready when its connection is back and a call works", async (t) => {
  const { hub, turn, fail } = followed(t);
  await turn("open");
  await fail();
  hub.state = "away";
  await turn("waiting");
  assert.equal(hub.shown, "away");
  hub.state = "ready";
  await turn("open");
  assert.equal(hub.shown, "failing");
  hub.works = true;
  await turn("waiting");
  assert.equal(hub.shown, "failing", "its health alone says nothing");
});

test("failing ends at once when the connection is back and a call works", async (t) => {
  const { hub, turn, fail } = followed(t);
  await turn("open");
  await fail();
  hub.state = "away";
  await turn("waiting");
  [hub.state, hub.works] = ["ready", true];
  await turn("open");
  assert.equal(hub.shown, "ready");
});

test("calls that fail don't hide that the session has ended", async (t) => {
  const { hub, presence, pass, turn, fail, signOut } = followed(t);
  await turn("open");
  await fail();
  await signOut();
  assert.equal(hub.shown, "signed_out");
  for (let round = 0; round < 5; round++) {
    presence.miss();
    assert.equal(hub.shown, "signed_out");
    await pass(6_100);
    assert.equal(hub.shown, "signed_out");
  }
  hub.state = "away";
  presence.miss();
  await pass(60_000);
  assert.equal(hub.shown, "away");
  hub.state = "ready";
  await pass(5_000);
  assert.equal(hub.shown, "signed_out");
});
