import assert from "node:assert/strict";
import { test } from "node:test";
import { type CapacityDemand, planCapacity, RATES } from "./plan.ts";

const DEMAND: CapacityDemand = { daily: 50e9, retentionDays: 30, hubs: 3, cores: 16, disk: 8e12 };

const ROWS: readonly (readonly [
  name: string,
  change: Partial<CapacityDemand>,
  binding: string,
  clusters: number,
])[] = [
  ["50 GB a day fit", {}, "disk of each hub", 1],
  ["10 TB a day for 30 days need more disk than there is", { daily: 10e12 }, "disk of each hub", 14],
  ["for a day the processors bind", { daily: 10e12, retentionDays: 1 }, "processors of each hub", 3],
  ["with many cores the log does", { daily: 10e12, retentionDays: 1, cores: 128 }, "stream of the log", 2],
];

for (const [name, change, binding, clusters] of ROWS) {
  test(name, () => {
    const plan = planCapacity({ ...DEMAND, ...change }, RATES);
    assert.deepEqual([plan.binding.name, plan.clusters], [binding, clusters]);
  });
}

test("the largest amount a day just meets its limit, and one more doesn't", () => {
  for (const cores of [2, 16, 256]) {
    const plan = planCapacity({ ...DEMAND, cores }, RATES);
    const { binding } = planCapacity({ ...DEMAND, cores, daily: plan.largestDaily }, RATES);
    assert.equal(binding.name, plan.binding.name);
    assert.ok(Math.abs(binding.needed / binding.available - 1) < 1e-9);
  }
});

test("a hub with one core has none left to index with", () => {
  const plan = planCapacity({ ...DEMAND, cores: 1 }, RATES);
  assert.deepEqual([plan.largestDaily, plan.clusters], [0, Number.POSITIVE_INFINITY]);
});
