import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "#proto/kit/clock.ts";
import { SearchControl } from "./search-control.ts";
import { expectDocuments } from "./turns.ts";

/** A clock that a test moves. */
class HandClock implements Clock {
  ms = 0;
  now(): number {
    return this.ms;
  }
  monotonic(): number {
    return this.ms;
  }
  sleep(): Promise<void> {
    return Promise.resolve();
  }
}

const NEVER = new AbortController().signal;

test("a search that ran out of time ends after its slice", async () => {
  const clock = new HandClock();
  const control = new SearchControl(clock, NEVER, 20, () => 0);
  assert.equal(control.isDue, false);
  clock.ms = 10;
  assert.equal(control.isDue, true);
  await control.pause();
  assert.equal(control.timedOut, false);
  clock.ms = 25;
  await control.pause();
  assert.equal(control.timedOut, true);
});

test("a search leaves the thread to documents that are on their way, after a least time", async (context) => {
  context.after(() => expectDocuments(() => false));
  const clock = new HandClock();
  const control = new SearchControl(clock, NEVER, undefined, () => 0);
  clock.ms = 1;
  assert.equal(control.isDue, false);
  expectDocuments(() => true);
  assert.equal(control.isDue, true);
  await control.pause();
  clock.ms = 1.1;
  assert.equal(control.isDue, false, "documents come without end, and it has to end as well");
  clock.ms = 1.3;
  assert.equal(control.isDue, true);
});

test("a search ends when its client goes away", async () => {
  const client = new AbortController();
  const control = new SearchControl(new HandClock(), client.signal, undefined, () => 0);
  await control.pause();
  client.abort();
  await assert.rejects(control.pause(), { code: "cancelled" });
});

test("a search is refused, or ended, where the heap is nearly full", async () => {
  assert.throws(() => new SearchControl(new HandClock(), NEVER, undefined, () => 0.95), {
    code: "memory_limit",
    message: /95 % of the hub's memory/,
  });
  let share = 0.5;
  const control = new SearchControl(new HandClock(), NEVER, undefined, () => share);
  const run = async (): Promise<void> => {
    for (let slice = 0; slice < 20; slice++) await control.pause();
  };
  await run();
  share = 0.91;
  await assert.rejects(run(), { code: "memory_limit" });
});
