import assert from "node:assert/strict";
import { test } from "node:test";
import { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import { NumberKeys } from "./number-keys.ts";

test("keys within owners keep their buckets, from few to so many that the table is of several parts", () => {
  const keys = new NumberKeys(new CollectBudget());
  const [owners, each] = [30, 3_000];
  const bucketOf = (owner: number, key: number): number => owner + owners * key;
  // Twice: new ones, then known ones.
  for (let round = 0; round < 2; round++)
    for (let key = 0; key < each; key++)
      for (let owner = 0; owner < owners; owner++)
        assert.equal(keys.bucket(owner, 7 * key - 100), bucketOf(owner, key));
  assert.equal(keys.owners, owners);
  for (const owner of [0, 17, owners - 1]) {
    const known = keys.of(owner);
    assert.deepEqual(
      [...known.keys],
      Array.from({ length: each }, (_, key) => 7 * key - 100),
    );
    assert.deepEqual(
      [...known.buckets],
      Array.from({ length: each }, (_, key) => bucketOf(owner, key)),
    );
  }
});
