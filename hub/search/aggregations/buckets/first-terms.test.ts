import assert from "node:assert/strict";
import { test } from "node:test";
import { avg } from "#hub/search/aggregations/metrics/numeric-metric.ts";
import { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import { type BucketOrder, compareBuckets } from "#hub/search/aggregations/tree/bucket-order.ts";
import { atOnce } from "#hub/search/aggregations/tree/steps.ts";
import { Random } from "#test/support/engine/random.ts";
import { type CollectedTerms, firstTerms } from "./first-terms.ts";
import { NumberKeys } from "./number-keys.ts";
import { cutTerms, mergeTerms, type TermBucket } from "./terms-state.ts";

const random = new Random(11);
const below = new Map([["mean", { aggregation: parseAverage(), pipelines: [], meta: undefined }]] as const);
const buckets: readonly TermBucket[] = Array.from({ length: 3000 }, (_, at) => ({
  key: `k${at}`,
  count: 1 + random.below(5),
  below: {
    mean: { count: 1, sum: random.below(40), min: 0, max: 0, sumOfSquares: 0, format: { kind: "raw" } },
  },
}));

function parseAverage(): ReturnType<typeof avg.parse> {
  return avg.parse({ field: "n" }, { name: "mean" } as Parameters<typeof avg.parse>[1]);
}

const by = (what: BucketOrder["by"], descending: boolean): BucketOrder => ({
  by: what,
  name: "mean",
  part: "",
  descending,
});

/** `asked`: told of each bucket whose state below is made. */
function collected(asked: (at: number) => void = () => undefined): CollectedTerms {
  return {
    length: buckets.length,
    count: (at) => buckets[at]!.count,
    key: (at) => buckets[at]!.key,
    below(at) {
      asked(at);
      return buckets[at]!.below;
    },
    *belowSteps(at) {
      asked(at);
      yield;
      return buckets[at]!.below;
    },
  };
}

for (const order of [
  [by("count", true)],
  [by("count", false), by("key", true)],
  [by("key", true)],
  [by("metric", true), by("count", true)],
  [by("metric", false)],
]) {
  test(`the first by ${order.map((each) => `${each.by}${each.descending ? " down" : ""}`).join(", ")} are those of all in order`, () => {
    const sorted = [...buckets].sort(compareBuckets(order, below));
    for (const keep of [0, 1, 10, 2999, 5000]) {
      const first = atOnce(firstTerms(collected(), { order, below }, keep));
      assert.deepEqual(
        Array.from(first, (at) => buckets[at]!.key),
        sorted.slice(0, keep).map(({ key }) => key),
      );
    }
  });
}

test("sub-aggregations of buckets that aren't shown aren't computed", () => {
  let asked = 0;
  const shape = { below, size: 5, minDocCount: 1, order: [by("count", true)], showError: false };
  const handed = cutTerms(
    collected(() => asked++),
    shape,
    5,
  );
  const state = { ...handed, parts: 1, kind: "text", format: { kind: "raw" } } as const;
  const merged = atOnce(mergeTerms([state, state], below));
  assert.equal(asked, 0);
  assert.equal((merged.buckets[0]!.below["mean"] as { count: number }).count, 2);
  assert.ok(asked <= 2);
});

test("keys of an owner have their buckets", () => {
  const keys = new NumberKeys(new CollectBudget());
  const expected = new Map<string, number>();
  for (let step = 0; step < 2000; step++) {
    const [owner, key] = [random.below(3), random.below(500)];
    const bucket = keys.bucket(owner, key);
    assert.equal(bucket, expected.get(`${owner} ${key}`) ?? expected.size);
    expected.set(`${owner} ${key}`, bucket);
  }
  for (const owner of [0, 1, 2, 3]) {
    const { keys: found, buckets: numbers } = keys.of(owner);
    const pairs = Array.from(found, (key, at) => [`${owner} ${key}`, numbers[at]!] as const);
    assert.deepEqual(new Map(pairs), new Map([...expected].filter(([name]) => name.startsWith(`${owner} `))));
  }
});
