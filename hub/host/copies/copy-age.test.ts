import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import type { Position } from "#proto/position.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { CopyAge } from "./copy-age.ts";

const at = (sequence: number): Position => ({ incarnation: 1, sequence });

/** Copies that are at `applied` of a log that ends at `end`; an `end` of -1 can't be read. */
async function world(t: TestContext) {
  const clock = new StillClock();
  const state = { end: 5, applied: 5, isShared: true, refreshes: 0, refreshed: Promise.resolve() };
  const age = new CopyAge({
    logEnd: async () => {
      if (state.end < 0) throw new AppError("timeout", "away");
      return at(state.end);
    },
    applied: () => at(state.applied),
    isShared: () => state.isShared,
    refresh: () => {
      state.refreshes++;
      return state.refreshed;
    },
    clock,
    log: silentLogger(),
  });
  await age.start();
  t.after(async () => {
    const stopped = age.stop();
    await clock.advance(10);
    await stopped;
  });
  return { age, clock, state };
}

test("copies that have reached a recent end of the log aren't behind, also while it grows", async (t) => {
  const { age, clock, state } = await world(t);
  await clock.advance(20);
  assert.equal(age.behind(), undefined);
  for (let second = 0; second < 20; second++) {
    state.applied = state.end;
    state.end += 100;
    await clock.advance(1_000);
    assert.equal(age.behind(), undefined);
  }
});

test("copies whose reader stands still are behind after 5 s, and others can be asked", async (t) => {
  const { age, clock, state } = await world(t);
  await clock.advance(20);
  state.end = 6;
  await clock.advance(4_000);
  assert.equal(age.behind(), undefined);
  await clock.advance(3_000);
  const { error, othersAnswer } = age.behind()!;
  assert.deepEqual([error.code, othersAnswer], ["unavailable", true]);
  assert.match(error.message, /may lack what other hubs wrote in the last \d s: it is still reading the log/);
  state.applied = 6;
  await clock.advance(1_100);
  assert.equal(age.behind(), undefined);
});

test("copies that have caught up are behind until they are refreshed: a search found what they had long before", async (t) => {
  const { age, clock, state } = await world(t);
  await clock.advance(20);
  state.end = 100;
  await clock.advance(7_000);
  const before = state.refreshes;
  state.applied = 100;
  age.reached(clock.monotonic());
  assert.notEqual(age.behind(), undefined);
  await clock.advance(1_100);
  assert.deepEqual([age.behind(), state.refreshes], [undefined, before + 1]);
  await clock.advance(10_000);
  assert.equal(state.refreshes, before + 1);
});

test("copies of a hub that can't read the log's end are behind, until it can", async (t) => {
  const { age, clock, state } = await world(t);
  await clock.advance(20);
  state.end = -1;
  await clock.advance(7_000);
  const { error, othersAnswer } = age.behind()!;
  assert.match(error.message, /the end of the log can't be read/);
  assert.equal(othersAnswer, false);
  state.end = 5;
  await clock.advance(1_100);
  assert.equal(age.behind(), undefined);
});

test("a hub that stood still is behind until it has looked again", async (t) => {
  const { age, clock } = await world(t);
  await clock.advance(20);
  assert.equal(age.behind(), undefined);
  const later = clock.monotonic.bind(clock);
  t.mock.method(clock, "monotonic", () => later() + 60_000);
  assert.notEqual(age.behind(), undefined);
  await clock.advance(1_100);
  assert.equal(age.behind(), undefined);
});

test("a hub without others is never behind, and neither when another one joins", async (t) => {
  const { age, clock, state } = await world(t);
  Object.assign(state, { isShared: false, end: 9 });
  await clock.advance(1_100);
  const { refreshes } = state;
  await clock.advance(60_000);
  assert.deepEqual([age.behind(), state.refreshes], [undefined, refreshes]);
  state.isShared = true;
  assert.equal(age.behind(), undefined);
});

test("copies are behind until a slow refresh ends, and the log's end is read meanwhile", async (t) => {
  const { age, clock, state } = await world(t);
  await clock.advance(20);
  state.end = 100;
  await clock.advance(7_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  Object.assign(state, { applied: 100, refreshed: promise });
  await clock.advance(9_000);
  assert.notEqual(age.behind(), undefined);
  resolve();
  await clock.advance(10);
  assert.equal(age.behind(), undefined);
});

test("copies that were too old again during a refresh need another one", async (t) => {
  const { age, clock, state } = await world(t);
  await clock.advance(20);
  state.end = 100;
  await clock.advance(7_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  Object.assign(state, { applied: 100, refreshed: promise });
  await clock.advance(1_100);
  state.end = 200;
  await clock.advance(7_000);
  Object.assign(state, { applied: 200, refreshed: new Promise<void>(() => undefined) });
  resolve();
  await clock.advance(2_000);
  assert.notEqual(age.behind(), undefined);
});

test("copies that can't be refreshed are behind, with that as the reason", async (t) => {
  const { age, clock, state } = await world(t);
  await clock.advance(20);
  state.end = 100;
  await clock.advance(7_000);
  const failed = Promise.reject(new AppError("unavailable", "the thread is gone"));
  failed.catch(() => undefined);
  Object.assign(state, { applied: 100, refreshed: failed });
  await clock.advance(3_000);
  assert.match(age.behind()!.error.message, /they can't be refreshed: the thread is gone/);
  state.refreshed = Promise.resolve();
  await clock.advance(1_100);
  assert.equal(age.behind(), undefined);
});
