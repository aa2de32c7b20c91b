import assert from "node:assert/strict";
import { test } from "node:test";
import { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import { KeyTable } from "./bucket-collector.ts";

test("an owner gets buckets of many keys in steps", () => {
  const keys = new KeyTable<number>(new CollectBudget());
  const seen = keys.bucket(1, 7);
  const steps = [...keys.addAll(1, Array(10_000).keys())].length;
  assert.equal(steps, 9);
  assert.equal(keys.size, 10_000);
  assert.equal(keys.of(1).get(7), seen);
  assert.equal(keys.of(0).size, 0);
});
