import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { collectInSlices, TimeSlices } from "./time-slices.ts";

test("of several requests whose slice is over one goes on in each turn, in their order", async () => {
  const resumed: string[] = [];
  const pauses = ["a", "b", "c"].map((name) => new TimeSlices().pause().then(() => resumed.push(name)));
  const seen: string[] = [];
  while (resumed.length < pauses.length) {
    await nextTurn();
    seen.push(resumed.join(""));
  }
  assert.deepEqual(seen, ["a", "ab", "abc"]);
  await new TimeSlices().pause(); // and the next one begins the queue anew
});

test("a slice is over after some milliseconds, and begins again after a pause", async (context) => {
  let nowMs = 1_000;
  context.mock.method(performance, "now", () => nowMs);
  const slices = new TimeSlices();
  assert.equal(slices.isDue, false);
  nowMs += 10;
  assert.equal(slices.isDue, true);
  await slices.pause();
  assert.equal(slices.isDue, false);
});

test("collects in slices what an iterator makes", async () => {
  assert.deepEqual(await collectInSlices(new Set([1, 2, 3])), [1, 2, 3]);
});
