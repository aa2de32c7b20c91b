import assert from "node:assert/strict";
import { test } from "node:test";
import { scrollToRow, visibleRows } from "#ui/services/table/row-heights.ts";
import { TailLog } from "./tail-log.ts";
import { RecentKeys, TailRing } from "./tail-ring.ts";

test("a ring keeps the newest entries under their numbers", () => {
  const ring = new TailRing<number>(3);
  for (let i = 0; i < 5; i++) ring.push(i * 10);
  assert.deepEqual([ring.first, ring.end, ring.size], [2, 5, 3]);
  assert.deepEqual([ring.at(1), ring.at(2), ring.at(4), ring.at(5)], [undefined, 20, 40, undefined]);
  ring.clear();
  assert.deepEqual([ring.first, ring.end, ring.size, ring.at(4)], [5, 5, 0, undefined]);
  ring.push(50);
  assert.deepEqual([ring.size, ring.at(5)], [1, 50]);
});

test("keys are remembered up to the capacity", () => {
  const keys = new RecentKeys(2);
  assert.deepEqual(
    [keys.add("a"), keys.add("a"), keys.add("b"), keys.add("c"), keys.add("a")],
    [true, false, true, true, true],
  );
});

test("the rows in sight are drawn with a margin, and never beyond the last", () => {
  assert.deepEqual(visibleRows(0, 100, 20, 1_000), { first: 0, end: 11 });
  assert.deepEqual(visibleRows(2_000, 100, 20, 1_000), { first: 94, end: 111 });
  assert.deepEqual(visibleRows(2_000, 100, 20, 3), { first: 3, end: 3 });
});

test("a row in sight needs no scrolling", () => {
  assert.equal(scrollToRow(5, 0, 200, 20), 0);
  assert.equal(scrollToRow(10, 0, 200, 20), 20);
  assert.equal(scrollToRow(1, 100, 200, 20), 20);
});

test("rates are those between two counts, and an opened tail begins anew", () => {
  const log = new TailLog();
  const stats = { t: "tail.stats", sub: 1, dropped: 0, lagMs: 3 } as const;
  log.addStats({ ...stats, matched: 100, sent: 50 }, 1_000);
  assert.equal(log.matchedRate, 0);
  log.addStats({ ...stats, matched: 300, sent: 150 }, 3_000);
  assert.deepEqual([log.matchedRate, log.shownRate], [100, 50]);
  log.addStats({ ...stats, matched: 5, sent: 5 }, 4_000);
  assert.deepEqual([log.matchedRate, log.shownRate], [100, 50]);
});

test("gaps are entries and are counted", () => {
  const log = new TailLog();
  log.addLines([{ row: ["1", 0, 0, 0, "a", null, 0], source: ["i", "", ""] }], false);
  log.addGap({ t: "tail.gap", sub: 1, n: 12, fromTs: 0, toTs: 0, why: "rate_cap" });
  assert.deepEqual([log.ring.size, log.skipped, log.unseen], [2, 12, 1]);
  assert.ok("gap" in log.ring.last()!);
});
