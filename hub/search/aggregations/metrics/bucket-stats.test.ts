import assert from "node:assert/strict";
import { test } from "node:test";
import { SUM_WIDTH, SumOffset } from "#hub/engine/columns/column-sums.ts";
import { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import { Random } from "#test/support/engine/random.ts";
import { BucketStats } from "./bucket-stats.ts";

const BUCKETS = 3;

/** Adds values as columns do. */
function addTo(sums: Float64Array, values: Float64Array, buckets: Int32Array): void {
  for (const [at, value] of values.entries()) {
    const from = SUM_WIDTH * buckets[at]!;
    sums[from + SumOffset.COUNT]!++;
    sums[from + SumOffset.TOTAL]! += value;
    sums[from + SumOffset.SQUARES]! += value * value;
    sums[from + SumOffset.MIN] = Math.min(sums[from + SumOffset.MIN]!, value);
    sums[from + SumOffset.MAX] = Math.max(sums[from + SumOffset.MAX]!, value);
  }
}

test("runs give what their values give one by one, to the last bit of sums of squares that are rounded", () => {
  const random = new Random(3);
  const [runs, each] = [new BucketStats(new CollectBudget()), new BucketStats(new CollectBudget())];
  for (let run = 0; run < 4; run++) {
    const values = Float64Array.from({ length: 500 }, () => random.below(2 ** 31) - 2 ** 20);
    const buckets = Int32Array.from(values, () => random.below(BUCKETS));
    each.addEach(
      values,
      Int32Array.from(values, (_, at) => at),
      buckets,
      values.length,
    );
    const isAdded = runs.addRun(BUCKETS, (sums) => {
      addTo(sums, values, buckets);
      return true;
    });
    assert.equal(isAdded, true);
  }
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    assert.ok(each.of(bucket).sumOfSquares > Number.MAX_SAFE_INTEGER);
    assert.deepEqual(runs.of(bucket), each.of(bucket));
  }
});

test("a run that can't be added leaves the buckets as they are", () => {
  const stats = new BucketStats(new CollectBudget());
  assert.equal(
    stats.addRun(BUCKETS, () => false),
    false,
  );
  assert.deepEqual(stats.of(0), { count: 0, sum: 0, min: null, max: null, sumOfSquares: 0 });
});
