import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ThreadState, ThreadWatch, WATCH_MS } from "./thread-watch.ts";

const START: ThreadState = { nowMs: 0, cpuMs: 0, turns: 0, isCommitting: false, overdue: undefined };
const CANCELLED = { overdue: { operation: "search", cancelledMs: 0 } };

/** Looks `looks` times; `each` is what changes between two looks. Returns the first reason to end the thread. */
function watched(first: Partial<ThreadState>, looks: number, each: Partial<ThreadState>): string | undefined {
  let state = { ...START, ...first };
  const watch = new ThreadWatch();
  let reason: string | undefined;
  for (let look = 0; look < looks && reason === undefined; look++) {
    reason = watch.look(state);
    state = {
      ...state,
      nowMs: state.nowMs + (each.nowMs ?? WATCH_MS),
      cpuMs: state.cpuMs + (each.cpuMs ?? 0),
      turns: state.turns + (each.turns ?? 0),
    };
  }
  return reason;
}

const IGNORED = "a search did not end when it was cancelled";

describe("a thread with a cancelled call", () => {
  test("is ended where it calculates on, or waits on, for more than 2 s", () => {
    for (const each of [{ cpuMs: WATCH_MS }, { turns: 5 }]) {
      assert.equal(watched(CANCELLED, 5, each), undefined);
      assert.equal(watched(CANCELLED, 6, each), IGNORED);
    }
  });

  test("isn't ended while it doesn't get the processor", () => {
    assert.equal(watched(CANCELLED, 20, { cpuMs: 20 }), undefined);
    assert.equal(watched(CANCELLED, 50, { cpuMs: 30 }), IGNORED);
  });

  test("isn't ended since the process stood still", () => {
    assert.equal(watched(CANCELLED, 3, { nowMs: 60_000, cpuMs: 10, turns: 1 }), undefined);
  });

  test("isn't ended while it commits", () => {
    assert.equal(watched({ ...CANCELLED, isCommitting: true }, 100, { cpuMs: WATCH_MS }), undefined);
  });

  test("has its time for each call anew", () => {
    const watch = new ThreadWatch();
    for (let look = 1; look < 50; look++) {
      const nowMs = look * WATCH_MS;
      const overdue = { operation: "search", cancelledMs: nowMs - 100 };
      assert.equal(watch.look({ ...START, nowMs, cpuMs: nowMs, overdue }), undefined);
    }
  });
});

test("a thread that makes no turn for 30 s is ended, later where it commits; pauses of the process don't count", () => {
  assert.equal(watched({}, 60, {}), undefined);
  assert.equal(watched({}, 62, {}), "it did not react for 31 s");
  assert.equal(watched({ isCommitting: true }, 200, {}), undefined);
  assert.equal(watched({ isCommitting: true }, 250, {}), "it did not react for 121 s");
  assert.equal(watched({}, 62, { cpuMs: 400 }), "it did not react for 31 s");
  assert.equal(watched({}, 20, { nowMs: 60_000 }), undefined);
});

test("a turn of a thread that gets little processor time may take 120 s", () => {
  assert.equal(watched({}, 200, { cpuMs: 20 }), undefined);
  assert.equal(watched({}, 250, { cpuMs: 20 }), "it did not react for 121 s");
  assert.equal(watched({}, 200, { cpuMs: 150 }), "it did not react for 50 s");
});
