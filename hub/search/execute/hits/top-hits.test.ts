import assert from "node:assert/strict";
import { test } from "node:test";
import { COLUMN_BLOCK, NO_MORE_DOCS, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { type KeySource, NUMBER_ORDER } from "#hub/search/sort/key.ts";
import { TopHits } from "./top-hits.ts";

const BLOCKS = 20;

/** A source whose keys are computed of documents; `seen` gets the documents whose key was asked for. */
function source(keyOf: (doc: number) => number, seen: number[] = []): KeySource {
  return {
    order: NUMBER_ORDER,
    rankOf: Number,
    segment: () => ({
      load: (docs, _scores, length, out) => {
        for (let at = 0; at < length; at++) out[at] = keyOf(docs[at]!);
        seen.push(...docs.subarray(0, length));
      },
      rank: (_doc, key) => key,
      value: (_doc, key) => key,
      keyOf: Number,
    }),
  };
}

test("the second key is read only of documents whose first key may be that of a hit", () => {
  const seen: number[] = [];
  const top = new TopHits({
    limit: 2,
    sources: [source((doc) => doc % 10), source((doc) => -doc, seen)],
    after: { ranks: [3, -30] },
    keepScores: true,
  });
  top.segment({ docCount: 100 } as SegmentReader, 0);
  const batch = (from: number): void => {
    const docs = Int32Array.from({ length: 10 }, (_, at) => from + at);
    top.collect(
      docs,
      Float32Array.from(docs, (doc) => doc / 2),
      docs.length,
    );
  };
  batch(0);
  assert.deepEqual(seen.splice(0), [3, 4, 5, 6, 7, 8, 9]);
  batch(10);
  assert.deepEqual(seen.splice(0), [13, 14], "the worst hit is document 4");
  batch(20);
  assert.deepEqual(seen.splice(0), [23]);
  assert.deepEqual(
    top.finish().map(({ doc, score, ranks }) => [doc, score, ...ranks]),
    [
      [23, 11.5, 3, -23],
      [13, 6.5, 3, -13],
    ],
  );
});

test("blocks before the hit after which hits begin aren't read, and those right behind it are read first", () => {
  for (const [sign, after, first] of [
    [1, 5.5, [5, 6, 7, 8, 9, 10, 11, 12]],
    [-1, -14.5, [7, 8, 9, 10, 11, 12, 13, 14]],
  ] as const) {
    const keys = source((doc) => (sign * doc) / COLUMN_BLOCK);
    const top = new TopHits({
      limit: 3,
      sources: [
        {
          ...keys,
          segment: (segment) => ({
            ...keys.segment(segment),
            bestOfBlock: (block) => (sign > 0 ? block : -block - 1),
            worstOfBlock: (block) => (sign > 0 ? block + 1 : -block),
          }),
        },
      ],
      after: { ranks: [after] },
      keepScores: false,
    });
    top.segment({ docCount: BLOCKS * COLUMN_BLOCK } as SegmentReader, 0);
    assert.deepEqual(top.bestBlocks(), first);
    const useful = Array.from({ length: BLOCKS }, (_, block) => block).filter((block) =>
      top.mayImprove(block),
    );
    assert.deepEqual([useful[0], useful.at(-1)], sign > 0 ? [5, BLOCKS - 1] : [0, 14]);
    assert.equal(top.firstUseful(0), sign > 0 ? 5 * COLUMN_BLOCK : 0);
    assert.equal(top.firstUseful(15 * COLUMN_BLOCK), sign > 0 ? 15 * COLUMN_BLOCK : NO_MORE_DOCS);
  }
});
