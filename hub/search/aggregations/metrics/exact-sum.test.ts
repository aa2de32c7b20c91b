import assert from "node:assert/strict";
import { test } from "node:test";
import { addExact, type ExactSum, sumOf } from "./exact-sum.ts";

const LISTS: readonly (readonly number[])[] = [
  [0.1, 0.2, 0.3, 0.4],
  [1e16, 1, -1e16, 1, 1e-8],
  [1e300, -1e300, 3.5, 1e-300],
  [2 ** 53, 1, 1, -(2 ** 53)],
  [1, 2 ** -53, 2 ** -106],
  Array.from({ length: 200 }, (_, at) => Math.sin(at) * 10 ** (at % 17)),
];

test("a sum is the same in any order and grouping", () => {
  for (const list of LISTS) {
    const wanted = sumOf(list.reduce<ExactSum>(addExact, 0));
    assert.equal(sumOf(list.toReversed().reduce<ExactSum>(addExact, 0)), wanted, String(list));
    for (const cut of [1, 2, 3]) {
      const left = list.slice(0, cut).reduce<ExactSum>(addExact, 0);
      const right = list
        .slice(cut)
        .toSorted((a, b) => a - b)
        .reduce<ExactSum>(addExact, 0);
      assert.equal(sumOf(addExact(right, left)), wanted, String(list));
    }
  }
});

test("a sum is the double that is nearest to the true one", () => {
  for (const [list, wanted] of [
    [[1e16, 1, -1e16], 1],
    [[0.1, 0.2, -0.3], 2.7755575615628914e-17],
    [[2 ** 53, 1, 1], 2 ** 53 + 2],
    // Halfway between two doubles, and a little above.
    [[1, 2 ** -53, 2 ** -106], 1 + 2 ** -52],
    [[1, 2 ** -53], 1],
    [[1e308, 1e308], Number.POSITIVE_INFINITY],
    [[], 0],
  ] as const)
    assert.equal(sumOf(list.reduce<ExactSum>(addExact, 0)), wanted, String(list));
});

test("whole numbers stay one double", () => {
  assert.equal([1, 2 ** 40, -7, 2 ** 52].reduce<ExactSum>(addExact, 0), 1 + 2 ** 40 - 7 + 2 ** 52);
});
