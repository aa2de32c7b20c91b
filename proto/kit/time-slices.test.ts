import assert from "node:assert/strict";
import { test } from "node:test";
import { TimeSlices } from "./time-slices.ts";

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
