import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeywordColumn } from "#hub/engine/searcher/searcher.ts";
import { atOnce } from "#hub/search/aggregations/tree/steps.ts";
import { Random } from "#test/support/engine/random.ts";
import { MergedTermsCache } from "./merged-terms.ts";
import { mergeShared } from "./shared-terms.ts";
import { mergeCounts, type OrdinalCounts } from "./terms-merge.ts";

/** A column of these terms, sorted. */
function columnOf(terms: readonly string[]): KeywordColumn {
  const bytes = terms.map((term) => Buffer.from(term)).sort((a, b) => Buffer.compare(a, b));
  const reader = { bytes: (at: number) => bytes[at]!, text: (at: number) => bytes[at]!.toString() };
  return { cardinality: bytes.length, reader: () => reader } as unknown as KeywordColumn;
}

const random = new Random(12);

function segmentsOf(count: number, terms: number, most: number): OrdinalCounts[] {
  return Array.from({ length: count }, () => {
    const own = Array.from({ length: terms }, (_, at) => `ü${at * 7}`).filter(() => random.oneIn(2));
    return { column: columnOf(own), counts: Int32Array.from(own, () => random.below(most)) };
  });
}

const byKey = <T extends { key: string | number }>(buckets: readonly T[]): T[] =>
  [...buckets].sort((a, b) => Buffer.compare(Buffer.from(String(a.key)), Buffer.from(String(b.key))));

for (const [count, terms, most, keep] of [
  [1, 5000, 5, 300],
  [4, 5000, 4, 20],
  [5, 500, 200_000, 20],
  [3, 800, 2, 5000],
] as const)
  test(`counts of ${count} segments by merged number are those joined by term: ${keep} of ${terms}, below ${most}`, () => {
    const cache = new MergedTermsCache();
    for (let round = 0; round < 3; round++) {
      const segments = segmentsOf(count, terms, most);
      const columns = segments.map(({ column }) => column);
      const expected = atOnce(mergeCounts(segments, { order: "frequent", keep, filter: undefined }));
      assert.equal(cache.known("index", "field", columns), undefined);
      for (const order of [columns, columns.toReversed()]) {
        const numbered = atOnce(cache.open("index", "field", order))!;
        const merged = atOnce(mergeShared(segments, numbered, keep));
        assert.deepEqual(byKey(merged.buckets), byKey(expected.buckets));
        assert.deepEqual([merged.others, merged.errorBound], [expected.others, expected.errorBound]);
      }
      assert.notEqual(cache.known("index", "field", columns), undefined);
      assert.equal(cache.known("index", "field", [...columns, columnOf(["new"])]), undefined);
    }
  });

test("numbers of the fields used last are kept within the limit, a field beyond it isn't numbered", () => {
  const cache = new MergedTermsCache(25_000);
  const columnsOf = (terms: number): KeywordColumn[] => [
    columnOf(Array.from({ length: terms }, (_, at) => `t${at}`)),
  ];
  assert.equal(atOnce(cache.open("index", "large", columnsOf(2501))), undefined);
  const [a, b, c] = [columnsOf(1000), columnsOf(1000), columnsOf(1000)];
  atOnce(cache.open("index", "a", a));
  atOnce(cache.open("index", "b", b));
  assert.notEqual(cache.known("index", "a", a), undefined);
  atOnce(cache.open("index", "c", c));
  assert.notEqual(cache.known("index", "a", a), undefined);
  assert.equal(cache.known("index", "b", b), undefined);
});
