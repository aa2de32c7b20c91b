/** Random aggregations of buckets, with random aggregations below them. */

import type { Aggregation, Scope } from "./aggregation.ts";
import { dateHistogram } from "./date-buckets.ts";
import { dateRanges } from "./date-ranges.ts";
import { type Item, objectsOf } from "./documents.ts";
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

export function randomBuckets(scope: Scope, depth: number): Aggregation {
  const { dice } = scope.subject;
  if (dice.chance(0.12)) return scope.level === "root" ? nested(scope, depth) : reverseNested(scope, depth);
  return dice.pick(MAKERS)(scope, randomSub(scope, depth));
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

function nested({ subject }: Scope, depth: number): Aggregation {
  const sub = randomSub({ subject, level: "object", isScored: false }, depth);
  return {
    body: { nested: { path: "o" }, ...sub.body },
    expect: (items) => sub.expectBucket(items.flatMap(objectsOf)),
  };
}

function reverseNested({ subject }: Scope, depth: number): Aggregation {
  const sub = randomSub({ subject, level: "root", isScored: false }, depth);
  return {
    body: { reverse_nested: {}, ...sub.body },
    expect(items) {
      const roots = new Map(items.map(({ id, root }) => [id, { id, root } as Item]));
      return sub.expectBucket([...roots.values()]);
    },
  };
}

/** `global` counts all documents, whatever the query. */
export function globalBucket(scope: Scope, depth: number): Aggregation {
  const sub = randomSub({ ...scope, isScored: false }, depth);
  return { body: { global: {}, ...sub.body }, expect: () => sub.expectBucket(scope.subject.items) };
}
