import assert from "node:assert/strict";
import { test } from "node:test";
import { mayLieBeyond, pickValue } from "./picked-value.ts";

for (const values of [
  [1.7e308, 1.7e308],
  [1.6e308, 1.7e308],
  [-1.7e308, -1.6e308],
  [-1.7e308, 1.7e308],
  [5e-324, 5e-324],
  [1, 2],
  [-5, 1, 1.7e308, Number.MAX_VALUE],
])
  test(`the median of ${values.join(", ")} lies between them`, () => {
    assert.ok(!mayLieBeyond("median"));
    const median = pickValue(values, values.length, "median");
    const middle = values.length >> 1;
    assert.ok(median >= values[middle - 1]! && median <= values[middle]!, String(median));
  });
