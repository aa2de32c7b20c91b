import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { RefreshSchedule } from "./refresh-schedule.ts";

const DEFAULT = { ms: 1_000, isSet: false };
const SET = { ms: 1_000, isSet: true };
const NEVER = { ms: Number.POSITIVE_INFINITY, isSet: true };

suite("an index without a refresh interval", () => {
  test("isn't refreshed periodically without searches", () => {
    const pace = new RefreshSchedule();
    assert.equal(pace.isDue(DEFAULT, false, 1_000_000), false);
    assert.equal(pace.isDue(DEFAULT, true, 1_000_000), true, "unless somebody waits");
  });

  test("is refreshed for the first search that comes, then once a second", () => {
    const pace = new RefreshSchedule();
    assert.equal(pace.search(DEFAULT, 10_000), true);
    pace.refreshed(10_000, 1);
    assert.equal(pace.isDue(DEFAULT, false, 10_999), false);
    assert.equal(pace.isDue(DEFAULT, false, 11_000), true);
    pace.refreshed(11_000, 1);
    assert.equal(pace.isDue(DEFAULT, true, 11_500), false, "who waits, waits for the second");
    assert.equal(pace.isDue(DEFAULT, false, 39_999), true);
    assert.equal(pace.isDue(DEFAULT, false, 40_000), false, "nobody searches it any more");
  });

  test("is refreshed for searches a few times a second at most", () => {
    const pace = new RefreshSchedule();
    pace.search(DEFAULT, 0);
    pace.refreshed(0, 2);
    assert.equal(pace.search(DEFAULT, 399), false);
    assert.equal(pace.search(DEFAULT, 400), true);
    pace.refreshed(1_000, 100);
    assert.equal(pace.search(DEFAULT, 4_999), false, "refreshing takes a fortieth of the time at most");
    assert.equal(pace.search(DEFAULT, 5_000), true);
  });
});

test("an interval that was set is kept to the letter", () => {
  const pace = new RefreshSchedule();
  assert.equal(pace.isDue(SET, false, 0), true);
  pace.refreshed(0, 1);
  assert.equal(pace.isDue(SET, true, 999), false);
  assert.equal(pace.search(SET, 999_999), false);
  assert.equal(pace.isDue(SET, false, 1_000), true);
  assert.equal(pace.isDue(NEVER, true, 1e12), false);
  assert.equal(new RefreshSchedule().isDue(NEVER, false, 1_000), false, "nor for the first time");
});
