import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Random } from "#test/support/engine/random.ts";
import { inRange, type RangeLimits, SortedRanges } from "./sorted-ranges.ts";

suite("SortedRanges", () => {
  test("finds the ranges that a look at each of them finds", () => {
    const random = new Random(3);
    for (let round = 0; round < 200; round++) {
      const ranges = Array.from({ length: 1 + random.below(12) }, (): RangeLimits => {
        const from = random.below(20) - 5;
        return {
          from: random.below(6) === 0 ? null : from,
          to: random.below(6) === 0 ? null : from + random.below(8),
        };
      }).toSorted((a, b) => (a.from ?? -1e9) - (b.from ?? -1e9));
      const places = Array.from({ length: 30 }, () => random.below(15)).toSorted((a, b) => a - b);
      const values = places.map(() => random.below(24) - 7);
      const expected = new Set<string>();
      for (const [at, place] of places.entries())
        for (const [bucket, range] of ranges.entries())
          if (inRange(values[at]!, range)) expected.add(`${place}/${bucket}`);
      const found: string[] = [];
      new SortedRanges(ranges).put({ values, places, count: places.length }, (place, bucket) =>
        found.push(`${place}/${bucket}`),
      );
      assert.deepEqual(found.toSorted(), [...expected].toSorted());
    }
  });
});
