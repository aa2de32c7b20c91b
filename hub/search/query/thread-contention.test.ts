import assert from "node:assert/strict";
import { test } from "node:test";
import { ThreadContention } from "./thread-contention.ts";

test("a thread that runs for less than it is busy is disturbed by others", () => {
  let times = { busyMs: 0, ranMs: 0 };
  const contention = new ThreadContention(() => times);
  const after = (busyMs: number, ranMs: number): boolean => {
    times = { busyMs: times.busyMs + busyMs, ranMs: times.ranMs + ranMs };
    return contention.isContended;
  };
  assert.equal(after(40, 10), false, "it is too short to say");
  assert.equal(after(20, 20), true, "30 of 60 ms");
  assert.equal(after(40, 40), true, "as before");
  assert.equal(after(20, 15), false, "55 of 60 ms");
});
