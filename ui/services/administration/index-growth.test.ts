import assert from "node:assert/strict";
import { test } from "node:test";
import type { IndexRow } from "./index-admin.ts";
import { daysUntilFull, GROWTH_DAYS, indexGrowth } from "./index-growth.ts";

const DAY_MS = 86_400_000;
const TODAY_MS = Date.UTC(2026, 0, 31);
const NOW_MS = TODAY_MS + 3_600_000;

const row = (name: string, daysAgo: number, sizeBytes: number): IndexRow => ({
  name,
  health: "green",
  isOpen: true,
  docs: 1,
  deleted: 0,
  sizeBytes,
  shards: 1,
  replicas: 0,
  segments: 1,
  createdMs: TODAY_MS - daysAgo * DAY_MS,
});

test("indices that are made by time are a size of their day, by kind; the others are none", () => {
  const rows = [
    row("logs-2026.01.29", 2, 100),
    row("logs-2026.01.30", 1, 300),
    row("logs-2026.01.31", 0, 10),
    row("audit-000002", 1, 50),
    row("users", 1, 9_999),
  ];
  const growth = indexGrowth(rows, NOW_MS);
  assert.deepEqual(
    growth.days,
    [2, 1, 0].map((ago) => TODAY_MS - ago * DAY_MS),
  );
  assert.deepEqual(growth.families, [
    { name: "logs-*", bytes: [100, 300, 10] },
    { name: "audit-*", bytes: [0, 50, 0] },
  ]);
  assert.equal(growth.bytesPerDay, 225);
  assert.equal(daysUntilFull(1_000, growth), 4);
});

test("older days than those of the picture are left out, and kinds beyond six are one", () => {
  const rows = Array.from({ length: 9 }, (_, at) => row(`k${at}-2026.01.30`, 1, 10 - at));
  const { days, families } = indexGrowth([...rows, row("old-2025.01.01", 300, 5)], NOW_MS);
  assert.equal(days.length, GROWTH_DAYS);
  assert.equal(families.length, 6);
  assert.deepEqual([families[5]!.name, families[5]!.bytes.at(-2)], ["", 5 + 4 + 3 + 2]);
});

test("nothing is forecast from the first day alone", () => {
  const growth = indexGrowth([row("logs-2026.01.31", 0, 10)], NOW_MS);
  assert.equal(daysUntilFull(100, growth), undefined);
  assert.equal(daysUntilFull(100, indexGrowth([], NOW_MS)), undefined);
});
