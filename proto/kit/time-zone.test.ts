/** Tests of time zones: changes of the clock and names that are none. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { findTimeZone, fixedOffset, UTC } from "./time-zone.ts";

const HOUR_MS = 3_600_000;

for (const [local, utc, why] of [
  ["2026-03-29T01:59:59.999Z", "2026-03-29T00:59:59.999Z", "just before summer time"],
  [
    "2026-03-29T02:30:00.000Z",
    "2026-03-29T01:00:00.000Z",
    "a time that is skipped is the moment of the change",
  ],
  ["2026-03-29T03:00:00.000Z", "2026-03-29T01:00:00.000Z", "the first of summer time"],
  ["2026-10-25T02:30:00.000Z", "2026-10-25T00:30:00.000Z", "of a time that comes twice the first"],
  ["2026-10-25T03:00:00.000Z", "2026-10-25T02:00:00.000Z", "after the change back"],
] as const) {
  test(`Berlin's ${local.slice(0, 19)} is ${why}`, () => {
    assert.equal(new Date(findTimeZone("Europe/Berlin")!.toUtc(Date.parse(local))).toISOString(), utc);
  });
}

test("zones are named by the tables of the world or by an offset, and other names are none", () => {
  assert.equal(findTimeZone("UTC"), UTC);
  assert.equal(findTimeZone("+02:00")!.toUtc(2 * HOUR_MS), 0);
  assert.equal(findTimeZone("Asia/Kathmandu")!.suffix(Date.UTC(2026, 0, 1)), "+05:45");
  assert.equal(findTimeZone("Europe/Atlantis"), undefined);
  assert.deepEqual(["Z", "GMT", "-0330", "+2", "UTC+2", "+19:00", "2"].map(fixedOffset), [
    0,
    0,
    -3.5 * HOUR_MS,
    2 * HOUR_MS,
    2 * HOUR_MS,
    undefined,
    undefined,
  ]);
});
