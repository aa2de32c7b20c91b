import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeywordColumn } from "#hub/engine/searcher/searcher.ts";
import { atOnce } from "#hub/search/aggregations/tree/steps.ts";
import { Random } from "#test/support/engine/random.ts";
import { mergeShared, SharedTermsCache } from "./shared-terms.ts";
import { mergeCounts, type OrdinalCounts } from "./terms-merge.ts";

/** A column of these terms, sorted. */
function columnOf(terms: readonly string[]): KeywordColumn {
  const bytes = terms.map((term) => Buffer.from(term)).sort((a, b) => Buffer.compare(a, b));
  const reader = { bytes: (at: number) => bytes[at]!, text: (at: number) => bytes[at]!.toString() };
  return { cardinality: bytes.length, reader: () => reader } as unknown as KeywordColumn;
}

const random = new Random(11);

/** Segments whose terms overlap; `most` documents a term. */
function segmentsOf(count: number, terms: number, most: number): OrdinalCounts[] {
  return Array.from({ length: count }, () => {
    const own = Array.from({ length: terms }, (_, at) => `ä${at * 7}`).filter(() => random.oneIn(2));
    return { column: columnOf(own), counts: Int32Array.from(own, () => random.below(most)) };
  });
}

const byKey = <T extends { key: string | number }>(buckets: readonly T[]): T[] =>
  [...buckets].sort((a, b) => Buffer.compare(Buffer.from(String(a.key)), Buffer.from(String(b.key))));

for (const [count, terms, most, keep] of [
  [1, 10, 5, 3],
  [4, 500, 4, 20],
  [5, 500, 200_000, 20],
  [3, 800, 2, 100],
  [3, 100, 9, 1000],
] as const)
  test(`counts of ${count} segments by number are those joined by term: ${keep} of ${terms}, below ${most}`, () => {
    const cache = new SharedTermsCache();
    for (let round = 0; round < 4; round++) {
      const segments = segmentsOf(count, terms, most);
      const expected = atOnce(mergeCounts(segments, { order: "frequent", keep, filter: undefined }));
      const shared = cache.open("index", "field", count * terms)!;
      for (const again of [1, 2]) {
        atOnce(shared.number(segments.map(({ column }) => column)));
        const merged = atOnce(mergeShared(segments, shared, keep));
        assert.deepEqual(byKey(merged.buckets), byKey(expected.buckets), `${round}.${again}`);
        assert.deepEqual([merged.others, merged.errorBound], [expected.others, expected.errorBound]);
      }
    }
  });

test("fields used last are kept within the limit, a field beyond it isn't", () => {
  const cache = new SharedTermsCache(64 * 4000);
  assert.equal(cache.open("index", "large", 2001), undefined);
  const first = cache.open("index", "a", 1500)!;
  const names = Array.from({ length: 1500 }, (_, at) => `t${at}`);
  for (const name of ["a", "b"]) atOnce(cache.open("index", name, 1500)!.number([columnOf(names)]));
  assert.equal(cache.open("index", "a", 1500), first);
  atOnce(cache.open("index", "c", 1500)!.number([columnOf(names)]));
  assert.equal(cache.open("index", "a", 1500), first);
  assert.notEqual(cache.open("other", "a", 1500), first);
});
