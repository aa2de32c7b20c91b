import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { SlowQueries } from "./slow-queries.ts";

test("slow searches are kept, the newest first, up to the capacity", () => {
  const slow = new SlowQueries(systemClock, silentLogger(), 100);
  slow.note(99, ["logs"], { size: 1 }, 5, false);
  assert.deepEqual(slow.list(), []);
  for (let n = 0; n < 300; n++)
    slow.note(100 + n, ["logs"], { from: 12345678901234567890n }, undefined, true);
  const [newest] = slow.list();
  assert.equal(slow.list().length, 200);
  assert.equal(newest?.took_ms, 399);
  assert.equal(newest?.total, null);
});

test("a long body is cut", () => {
  const slow = new SlowQueries(systemClock, silentLogger(), 0);
  slow.note(1, [], { query: "x".repeat(10_000) }, 0, false);
  assert.ok(slow.list()[0]!.body.length < 2100);
});
