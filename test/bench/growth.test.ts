import assert from "node:assert/strict";
import { test } from "node:test";
import { exponentOf, LINEAR, Series, sizesUpTo } from "./growth/series.ts";

test("the exponent is that of the size to which a value grows", () => {
  const grown = (exponent: number) => [10, 100, 1000].map((size) => [size, 3 * size ** exponent] as const);
  for (const exponent of [0, 0.5, 1, 2])
    assert.ok(Math.abs(exponentOf(grown(exponent)) - exponent) < 1e-9, String(exponent));
  assert.equal(
    exponentOf([
      [1, 0],
      [10, 0],
    ]),
    0,
  );
});

test("sizes rise by the factor to the largest", () => {
  assert.deepEqual(sizesUpTo(1000, 3, 10), [10, 100, 1000]);
  assert.deepEqual(sizesUpTo(5, 3, 10), [1, 5]);
});

test("a measure has its value at each size and the exponent, with its target", () => {
  const series = new Series("documents");
  const disk = (value: number) => [{ measure: "disk", unit: "MiB", value, growth: LINEAR }];
  series.add(10, disk(2));
  assert.deepEqual(
    series.results().map(({ case: name }) => name),
    ["disk, 10 documents"],
  );
  series.add(100, disk(20));
  const [first, second, exponent] = series.results();
  assert.deepEqual([first?.value, second?.value, exponent?.case], [2, 20, "disk by documents"]);
  assert.ok(Math.abs(exponent!.value - 1) < 1e-9);
  assert.equal(exponent?.target, LINEAR);
  assert.match(
    series.table(),
    /^\| by documents \| 10 \| 100 \| exponent \|\n.*\n\| disk, MiB \| 2 \| 20 \| 1\.00 \|\n$/,
  );
});
