import assert from "node:assert/strict";
import { test } from "node:test";
import { collectInSlices, TimeSlices } from "./time-slices.ts";

test("long work lets others have the thread between its slices", async () => {
  const slices = new TimeSlices();
  let others = 0;
  const timer = setInterval(() => others++, 1);
  for (let pauses = 0; pauses < 5; ) {
    if (!slices.isDue) continue;
    await slices.pause();
    pauses++;
  }
  clearInterval(timer);
  assert.ok(others > 0);
});

test("others have the thread while items that take time are collected", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  let turns = 0;
  function* items(): Iterable<number> {
    for (let nth = 0; nth < 20; nth++) {
      setImmediate(() => turns++);
      nowMs += 3;
      yield turns;
    }
  }
  const seen = await collectInSlices(items());
  assert.equal(seen.length, 20);
  // Three items of 3 ms are more than a slice of 8 ms.
  assert.deepEqual(seen.slice(0, 7), [0, 0, 0, 3, 3, 3, 6]);
});
