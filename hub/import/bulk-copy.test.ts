import assert from "node:assert/strict";
import { test } from "node:test";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { Pace } from "./bulk-copy.ts";

test("a copy waits until what it took before is due", async () => {
  const clock = new StillClock();
  const pace = new Pace(100, clock);
  const { signal } = new AbortController();
  await pace.take(200, signal);
  let isFree = false;
  const next = pace.take(1, signal).then(() => (isFree = true));
  await clock.advance(1_990);
  assert.equal(isFree, false);
  await clock.advance(10);
  await next;
  assert.equal(isFree, true);
});
