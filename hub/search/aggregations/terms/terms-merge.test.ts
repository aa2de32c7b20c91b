import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeywordColumn } from "#hub/engine/searcher/searcher.ts";
import { type MergeOrder, mergeCounts, type OrdinalCounts } from "./terms-merge.ts";

/** A segment with some terms, ascending, and their documents. */
function segment(terms: Readonly<Record<string, number>>): OrdinalCounts {
  const texts = Object.keys(terms);
  const reader = { text: (at: number) => texts[at]!, bytes: (at: number) => Buffer.from(texts[at]!) };
  // Nothing else of a column is asked for.
  return {
    column: { reader: () => reader } as unknown as KeywordColumn,
    counts: Int32Array.from(Object.values(terms)),
  };
}

const SEGMENTS = [
  segment({ a: 1, b: 4, d: 2, f: 0 }),
  segment({ b: 1, c: 3, f: 0 }),
  segment({}),
  segment({ a: 2, e: 3, g: 1 }),
];

for (const [order, keep, buckets, others, errorBound] of [
  ["frequent", 9, "b5 a3 c3 e3 d2 g1", 0, 0],
  ["frequent", 4, "b5 a3 c3 e3", 3, 3],
  ["frequent", 3, "b5 a3 c3", 6, 3],
  ["frequent", 2, "b5 a3", 9, 3],
  ["first", 9, "a3 b5 c3 d2 e3 g1", 0, 0],
  ["first", 2, "a3 b5", 9, 0],
] as const satisfies readonly (readonly [MergeOrder, number, string, number, number])[]) {
  test(`the ${keep} ${order} terms of some segments`, () => {
    const steps = mergeCounts(SEGMENTS, { order, keep, filter: undefined });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    const state = step.value;
    const sorted = [...state.buckets];
    if (order === "frequent") sorted.sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
    assert.equal(sorted.map(({ key, count }) => `${key}${count}`).join(" "), buckets);
    assert.equal(state.others, others);
    assert.equal(state.errorBound, errorBound);
  });
}
