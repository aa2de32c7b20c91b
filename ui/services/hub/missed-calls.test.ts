import assert from "node:assert/strict";
import { test } from "node:test";
import { MissedCalls } from "./missed-calls.ts";

/** A call that fails takes this long at most. */
const CALL_MS = 5_000;

test("a hub that is ready and whose answers fail is asked less and less often, once a minute in the end", () => {
  const missed = new MissedCalls();
  let nowMs = 0;
  const waits: number[] = [];
  const failing: boolean[] = [];
  for (let round = 0; round < 12; round++) {
    const waitMs = missed.miss(nowMs);
    waits.push(waitMs);
    failing.push(missed.isFailing(nowMs));
    nowMs += waitMs;
    missed.back(nowMs);
    nowMs += CALL_MS;
  }
  assert.ok(waits[0]! <= 1_500, "a hub that was restarted is back soon");
  assert.ok(waits.slice(8).every((waitMs) => waitMs >= 30_000 && waitMs <= 60_000));
  assert.deepEqual(failing.slice(0, 4), [false, false, true, true]);
});

test("a hub whose calls have worked for a while is asked soon after the next miss", () => {
  const missed = new MissedCalls();
  for (let round = 0; round < 9; round++) {
    missed.miss(0);
    missed.back(0);
  }
  assert.equal(missed.isFailing(9_000), true);
  assert.equal(missed.isFailing(11_000), false);
  assert.ok(missed.miss(11_000) <= 1_500);
});
