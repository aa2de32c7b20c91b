import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "#test/support/engine/random.ts";
import { adjacent, anyOf, type Intervals, ordered, type Relation, related, unordered } from "./algebra.ts";

/** [start, end] of each. */
type Pairs = readonly (readonly [number, number])[];

const list = (pairs: Pairs): Intervals => pairs.map(([start, end]) => ({ start, end, gaps: 0 }));
const pairs = (intervals: Intervals): Pairs => intervals.map(({ start, end }) => [start, end]);

const A = list([
  [0, 0],
  [4, 4],
]);
const B = list([
  [1, 1],
  [7, 7],
]);

test("lists are joined to the smallest stretches that hold one of each", () => {
  assert.deepEqual(pairs(ordered([A, B])), [
    [0, 1],
    [4, 7],
  ]);
  assert.deepEqual(pairs(unordered([A, B])), [
    [0, 1],
    [1, 4],
    [4, 7],
  ]);
  assert.deepEqual(pairs(adjacent([A, B])), [[0, 1]]);
  assert.deepEqual(pairs(anyOf([A, list([[3, 5]]), B])), [
    [0, 0],
    [1, 1],
    [4, 4],
    [7, 7],
  ]);
  assert.deepEqual(ordered([A, []]), []);
  assert.deepEqual(unordered([A, []]), []);
});

test("positions that belong to no part are gaps", () => {
  assert.deepEqual(
    unordered([A, B]).map(({ gaps }) => gaps),
    [0, 2, 2],
  );
  assert.deepEqual(
    ordered([list([[0, 2]]), list([[5, 6]])]).map(({ gaps }) => gaps),
    [2],
  );
});

const LONG = list([
  [0, 3],
  [2, 6],
  [8, 9],
]);
for (const [relation, others, expected] of [
  ["containing", [[3, 3]], [0, 1]],
  ["contained_by", [[0, 7]], [0, 1]],
  ["overlapping", [[3, 5]], [0, 1]],
  ["overlapping", [[7, 7]], []],
  ["before", [[7, 7]], [0, 1]],
  ["after", [[7, 7]], [2]],
  ["after", [], []],
] as const satisfies readonly (readonly [Relation, Pairs, readonly number[]])[]) {
  test(`of intervals those ${relation} ${JSON.stringify(others)} are kept, or the others`, () => {
    const places = (negated: boolean): number[] =>
      related(LONG, list(others), relation, negated).map((each) => LONG.indexOf(each));
    assert.deepEqual(places(false), expected);
    assert.deepEqual(
      places(true),
      [0, 1, 2].filter((place) => !(expected as readonly number[]).includes(place)),
    );
  });
}

/** Every way to choose one of each list. */
function choices(lists: readonly Intervals[]): Intervals[] {
  return lists.reduce<Intervals[]>(
    (all, each) => all.flatMap((chosen) => each.map((one) => [...chosen, one])),
    [[]],
  );
}

/** Stretches that choices span, without those that hold another one. */
function smallest(chosen: readonly Intervals[]): Pairs {
  const spans = chosen.map((parts): [number, number] => [
    Math.min(...parts.map(({ start }) => start)),
    Math.max(...parts.map(({ end }) => end)),
  ]);
  const kept = spans.filter(
    ([start, end]) => !spans.some(([s, e]) => s >= start && e <= end && (s > start || e < end)),
  );
  return [...new Map(kept.map((pair) => [pair.join(), pair])).values()].sort((a, b) => a[0] - b[0]);
}

test("random lists give what trying all choices gives", () => {
  const random = new Random(11);
  for (let round = 0; round < 500; round++) {
    const lists = Array.from({ length: 2 + random.below(2) }, () =>
      anyOf([
        Array.from({ length: 1 + random.below(4) }, () => {
          const start = random.below(20);
          return { start, end: start + random.below(3), gaps: 0 };
        }).sort((a, b) => a.start - b.start || b.end - a.end),
        [],
      ]),
    );
    const all = choices(lists);
    assert.deepEqual(pairs(unordered(lists)), smallest(all), `unordered ${JSON.stringify(lists)}`);
    const follows = (parts: Intervals): boolean =>
      parts.every(({ start }, at) => at === 0 || start > parts[at - 1]!.end);
    assert.deepEqual(
      pairs(ordered(lists)),
      smallest(all.filter(follows)),
      `ordered ${JSON.stringify(lists)}`,
    );
  }
});
