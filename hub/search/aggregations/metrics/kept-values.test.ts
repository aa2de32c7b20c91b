import assert from "node:assert/strict";
import { test } from "node:test";
import { BucketBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import { noMoments } from "./matrix-moments.ts";
import { matrixStats } from "./matrix-stats.ts";
import { scriptedMetric } from "./scripted-metric.ts";

test("a state's value is made once, however often an order asks for it", () => {
  const budget = new BucketBudget(10, false);
  const scripted = scriptedMetric.parse(
    { map_script: "state.n = 1", combine_script: "return 1", reduce_script: "return [states.length]" },
    { name: "own" } as Parameters<typeof scriptedMetric.parse>[1],
  );
  const state = { states: [1, 2] };
  const first = scripted.render(state, budget) as { value: unknown };
  assert.deepEqual(first, { value: [2] });
  assert.equal((scripted.render(state, budget) as { value: unknown }).value, first.value);

  const matrix = matrixStats.parse({ fields: ["a", "b"] }, { name: "own" } as Parameters<
    typeof matrixStats.parse
  >[1]);
  const moments = { ...noMoments(2), count: 2 };
  const fields = (): unknown => (matrix.render(moments, budget) as { fields: unknown }).fields;
  assert.equal(fields(), fields());
});
