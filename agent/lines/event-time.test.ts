import assert from "node:assert/strict";
import { test } from "node:test";
import { eventTimeMs } from "./event-time.ts";

for (const [field, timeMs] of [
  ["2026-01-02T03:04:05.678901234Z", Date.UTC(2026, 0, 2, 3, 4, 5, 678)],
  ["2026-01-02T03:04:05+01:00", Date.UTC(2026, 0, 2, 2, 4, 5)],
  ["1969-12-31T23:59:59Z", 0],
  ["soon", 0],
  [1_700_000_000_000, 0],
  [undefined, 0],
] as const) {
  test(`the time of ${String(field)} is ${timeMs}`, () => {
    assert.equal(eventTimeMs(field), timeMs);
  });
}
