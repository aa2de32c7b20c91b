/** Random aggregations of buckets, with random aggregations below them. */

import type { Aggregation, Scope } from "./aggregation.ts";
import { dateHistogram } from "./date-buckets.ts";
import { dateRanges } from "./date-ranges.ts";
import { itemsAt, type Level, NESTED_PATHS } from "./documents.ts";
import { laterBuckets } from "./later-buckets.ts";
import { randomMetric } from "./metrics.ts";
import { addressRanges, adjacency, filter, filters, histogram, missing, ranges } from "./plain-buckets.ts";
import { type SubAggregations, subOf } from "./sub-aggregations.ts";
import { termBuckets } from "./term-buckets.ts";

type Maker = (scope: Scope, sub: SubAggregations) => Aggregation;

const MAKERS: readonly Maker[] = [
  dateHistogram,
  dateHistogram,
  dateHistogram,
  dateRanges,
  histogram,
  ranges,
  addressRanges,
  filter,
  filters,
  missing,
  adjacency,
  laterBuckets,
  laterBuckets,
  termBuckets,
  termBuckets,
  termBuckets,
  termBuckets,
];

/** Parts have no times. */
const OF_PARTS: readonly Maker[] = MAKERS.filter((maker) => maker !== dateHistogram && maker !== dateRanges);

export function randomBuckets(scope: Scope, depth: number): Aggregation {
  const { dice } = scope.subject;
  if (dice.chance(0.15)) return dice.pick(NESTED[scope.level])(scope, depth);
  return dice.pick(scope.level === "part" ? OF_PARTS : MAKERS)(scope, randomSub(scope, depth));
}

/** Returns aggregations to be put below one of buckets; `depth`: how many levels of buckets there may be. */
export function randomSub(scope: Scope, depth: number): SubAggregations {
  const { dice } = scope.subject;
  const count = depth <= 0 ? dice.below(2) : 1 + dice.below(2);
  const made = Object.fromEntries(
    dice.times(count, (at): [string, Aggregation] => [
      `sub${at}`,
      depth > 0 && dice.chance(0.6) ? randomBuckets(scope, depth - 1) : randomMetric(scope),
    ]),
  );
  return subOf(made);
}

type Step = (scope: Scope, depth: number) => Aggregation;

/** From a level to those below and above it. */
const NESTED: Readonly<Record<Level, readonly Step[]>> = {
  root: [below("object"), below("part")],
  object: [below("part"), above("root")],
  part: [above("root"), above("object")],
};

function below(level: Level): Step {
  return ({ subject }, depth) => {
    const sub = randomSub({ subject, level, isScored: false }, depth);
    return {
      body: { nested: { path: NESTED_PATHS[level] }, ...sub.body },
      expect: (items) => sub.expectBucket(items.flatMap((item) => itemsAt(item, level))),
    };
  };
}

function above(level: Level): Step {
  return ({ subject }, depth) => {
    const sub = randomSub({ subject, level, isScored: false }, depth);
    const path = NESTED_PATHS[level];
    return {
      body: { reverse_nested: path === "" ? {} : { path }, ...sub.body },
      expect(items) {
        const found = items.flatMap((item) => itemsAt(item, level));
        // Several objects may be of one document.
        return sub.expectBucket([...new Map(found.map((item) => [item.object ?? item.root, item])).values()]);
      },
    };
  };
}

/** `global` counts all documents, whatever the query. */
export function globalBucket(scope: Scope, depth: number): Aggregation {
  const sub = randomSub({ ...scope, isScored: false }, depth);
  return { body: { global: {}, ...sub.body }, expect: () => sub.expectBucket(scope.subject.items) };
}
