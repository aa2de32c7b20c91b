import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "#test/support/engine/random.ts";
import type { Interval, Intervals } from "./algebra.ts";
import {
  anySpan,
  containingSpans,
  orderedSpans,
  remainingSpans,
  spansWithin,
  unorderedSpans,
} from "./span-algebra.ts";

/** [start, end, width] of each. */
type Triples = readonly (readonly [start: number, end: number, width?: number])[];

const list = (triples: Triples): Intervals => triples.map(([start, end, gaps = 0]) => ({ start, end, gaps }));
const triples = (spans: Intervals): Triples => spans.map(({ start, end, gaps }) => [start, end, gaps]);

const A = list([
  [0, 0],
  [4, 4],
]);
const B = list([
  [1, 1],
  [7, 7],
]);

test("spans of several lists stand by their order, common ones twice", () => {
  assert.deepEqual(triples(anySpan([A, list([[4, 5]]), A])), [
    [0, 0, 0],
    [0, 0, 0],
    [4, 4, 0],
    [4, 4, 0],
    [4, 5, 0],
  ]);
});

test("ordered spans begin with each of the first list, and their width is what stands between", () => {
  const C = list([
    [0, 0],
    [2, 2],
    [4, 4],
  ]);
  assert.deepEqual(triples(orderedSpans([C, list([[7, 7]])], 4)), [
    [2, 7, 4],
    [4, 7, 2],
  ]);
  assert.deepEqual(triples(orderedSpans([A, B], 9)), [
    [0, 1, 0],
    [4, 7, 2],
  ]);
  assert.deepEqual(orderedSpans([A, []], 9), []);
});

test("a gap between ordered spans takes its positions", () => {
  assert.deepEqual(triples(orderedSpans([A, { gap: 2 }, B], 0)), [[4, 7, 0]]);
  assert.deepEqual(triples(orderedSpans([A, B, { gap: 1 }], 0)), [[0, 2, 0]]);
});

test("unordered spans may overlap, and their width is their length", () => {
  assert.deepEqual(triples(unorderedSpans([B, A], 0)), [[0, 1, 2]]);
  assert.deepEqual(triples(unorderedSpans([B, A], 2)), [
    [0, 1, 2],
    [1, 4, 4],
    [4, 7, 4],
  ]);
  assert.deepEqual(triples(unorderedSpans([list([[1, 3]]), list([[2, 2]])], -1)), [[1, 3, 3]]);
});

test("spans remain that no excluded one is near to", () => {
  assert.deepEqual(triples(remainingSpans(A, list([[5, 5]]), 0, 0)), triples(A));
  assert.deepEqual(triples(remainingSpans(A, list([[5, 5]]), 0, 1)), [[0, 0, 0]]);
  assert.deepEqual(triples(remainingSpans(A, list([[2, 3]]), 1, 0)), [[0, 0, 0]]);
  assert.deepEqual(triples(remainingSpans(A, [], 9, 9)), triples(A));
});

test("of spans those are found that hold others, or that others hold", () => {
  const big = list([
    [0, 3],
    [2, 6],
    [8, 9],
  ]);
  const little = list([
    [3, 3],
    [5, 7],
  ]);
  assert.deepEqual(triples(containingSpans(big, little)), [
    [0, 3, 0],
    [2, 6, 0],
  ]);
  assert.deepEqual(triples(spansWithin(big, little)), [[3, 3, 0]]);
});

/** Every way to choose one of each list. */
function choices(lists: readonly Intervals[]): Interval[][] {
  return lists.reduce<Interval[][]>(
    (all, each) => all.flatMap((chosen) => each.map((one) => [...chosen, one])),
    [[]],
  );
}

test("terms in random places are near each other where trying all choices says so", () => {
  const random = new Random(5);
  for (let round = 0; round < 2000; round++) {
    const lists = Array.from({ length: 2 + random.below(2) }, () => {
      const starts = new Set(Array.from({ length: 1 + random.below(3) }, () => random.below(12)));
      return list([...starts].sort((a, b) => a - b).map((start) => [start, start]));
    });
    const slop = random.below(4);
    const width = (parts: readonly Interval[]): number => {
      const starts = parts.map(({ start }) => start);
      return Math.max(...starts) + 1 - Math.min(...starts);
    };
    const near = choices(lists).filter((parts) => width(parts) - parts.length <= slop);
    const context = JSON.stringify({ lists, slop });
    assert.equal(unorderedSpans(lists, slop).length > 0, near.length > 0, context);
    const follows = (parts: readonly Interval[]): boolean =>
      parts.every(({ start }, at) => at === 0 || start > parts[at - 1]!.end);
    assert.equal(orderedSpans(lists, slop).length > 0, near.some(follows), context);
  }
});
