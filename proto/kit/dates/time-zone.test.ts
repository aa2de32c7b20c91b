/** Tests of time zones: changes of the clock and names that are none. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS } from "#proto/kit/units.ts";
import { findTimeZone, fixedOffset, TimeZone, UTC } from "./time-zone.ts";

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

test("a zone has an offset at any time, with seconds for old times", () => {
  const berlin = findTimeZone("Europe/Berlin")!;
  assert.equal(berlin.offsetAt(Date.UTC(1843, 2, 31)), 53 * 60_000 + 28_000);
  for (const beyond of [8.64e15, 1e17, 1e308, Number.POSITIVE_INFINITY])
    assert.equal(berlin.offsetAt(beyond), berlin.offsetAt(8.64e15), `${beyond}`);
  for (const before of [-8.64e15, -1e17, -1e308])
    assert.equal(berlin.offsetAt(before), berlin.offsetAt(-8.64e15), `${before}`);
  assert.equal(berlin.toUtc(Number.NaN), Number.NaN);
  assert.equal(berlin.toUtc(1e308), 1e308);
});

test("days are alike whatever was asked before", () => {
  const change = Date.UTC(2026, 2, 29, 1);
  for (const days of [
    [0, 1, -1],
    [1, 0, -1],
    [-1, 0, 1],
    [-1, 1, 0],
  ]) {
    const zone = new TimeZone("Europe/Berlin");
    for (const day of days) {
      zone.offsetAt(change + day * 24 * HOUR_MS);
      assert.equal(zone.offsetAt(change - 1), HOUR_MS);
      assert.equal(zone.offsetAt(change), 2 * HOUR_MS);
    }
  }
});

test("a name that is longer than those of zones is neither looked up nor kept", (t) => {
  const looked = t.mock.method(Intl, "DateTimeFormat").mock;
  assert.equal(findTimeZone("Mars/".repeat(100_000)), undefined);
  assert.equal(looked.callCount(), 0);
  assert.equal(findTimeZone("America/Argentina/ComodRivadavia")?.offsetAt(0), -3 * HOUR_MS);
});
