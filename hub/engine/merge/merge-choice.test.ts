import assert from "node:assert/strict";
import { test } from "node:test";
import { MIB } from "#proto/kit/units.ts";
import { chooseFinal, chooseMerge, type MergeCandidate } from "./merge-choice.ts";

/** Bytes of a document in a fresh segment and in a merged one. */
const FRESH_BYTES = 150;
const MERGED_BYTES = 80;

function segmentOf(docCount: number, isFresh: boolean, liveCount = docCount): MergeCandidate {
  const sizeBytes = docCount * (isFresh ? FRESH_BYTES : MERGED_BYTES);
  return { liveCount, segment: { docCount, sizeBytes, isFresh } };
}

/** A shard to which segments of so many documents are added; what its merges have written. */
class Merges {
  segments: MergeCandidate[] = [];
  written = 0;
  mostSegments = 0;

  add(docs: number): void {
    this.segments.push(segmentOf(docs, true));
    while (this.#merge(chooseMerge(this.segments)));
    this.mostSegments = Math.max(this.mostSegments, this.segments.length);
  }

  rest(): void {
    while (this.#merge(chooseFinal(this.segments)));
  }

  #merge(chosen: readonly MergeCandidate[]): boolean {
    if (chosen.length === 0) return false;
    const docs = chosen.reduce((sum, { liveCount }) => sum + liveCount, 0);
    const at = this.segments.indexOf(chosen[0]!);
    assert.deepEqual(this.segments.slice(at, at + chosen.length), chosen, "neighbours");
    const merged = segmentOf(docs, false);
    assert.ok(merged.segment.sizeBytes <= 256 * MIB);
    this.segments.splice(at, chosen.length, merged);
    this.written += docs;
    return true;
  }
}

for (const [documents, each, most] of [
  [400_000, 5_000, 2.5],
  [400_000, 20_000, 1],
  [2_000_000, 2_000, 4],
  [2_000_000, 10_000, 3.5],
  [10_000_000, 10_000, 3],
  [1_000_000, 30_000, 1.05],
] as const)
  test(`${documents} documents by ${each} are written again ${most} times at most`, () => {
    const merges = new Merges();
    for (let done = 0; done < documents; done += each) merges.add(each);
    merges.rest();
    assert.ok(merges.written <= most * documents, `${merges.written / documents} times`);
    assert.ok(merges.mostSegments <= 20, `${merges.mostSegments} segments`);
    assert.ok(merges.segments.every(({ segment }) => segment.isFresh === false || segment.sizeBytes < MIB));
  });

test("segments of a level wait for others of theirs, however many smaller ones follow", () => {
  const merged = Array.from({ length: 3 }, () => segmentOf(300_000, false));
  const fresh = Array.from({ length: 7 }, () => segmentOf(24_000, true));
  assert.deepEqual(chooseMerge([...merged, ...fresh]), []);
  const more = Array.from({ length: 3 }, () => segmentOf(300_000, false));
  const six = [...merged, ...more, ...fresh];
  assert.deepEqual(chooseMerge(six), six.slice(0, 10));
});

test("small and large segments by turns are merged before there are many", () => {
  const turns = Array.from({ length: 16 }, (_, at) => segmentOf(at % 2 === 0 ? 300_000 : 2_000, false));
  assert.deepEqual(chooseMerge(turns.slice(1)), []);
  assert.deepEqual(chooseMerge(turns), turns.slice(0, 10));
});

test("a large segment isn't written again for a few small ones", () => {
  const large = segmentOf(1_000_000, false);
  const small = Array.from({ length: 7 }, () => segmentOf(1_000, true));
  assert.deepEqual(chooseMerge([large, ...small]), []);
  const more = [...small, segmentOf(1_000, true)];
  assert.deepEqual(chooseMerge([large, ...more]), more);
});

test("segments that are large enough don't keep those after them from being merged", () => {
  const large = Array.from({ length: 9 }, () => segmentOf(2_000_000, false));
  const others = Array.from({ length: 8 }, () => segmentOf(500_000, false));
  assert.deepEqual(chooseMerge(large), []);
  assert.deepEqual(chooseMerge([...large, ...others]), others.slice(0, 6));
});

test("a segment with many deleted documents is written again by itself", () => {
  const half = segmentOf(100_000, false, 50_000);
  assert.deepEqual(chooseMerge([segmentOf(100_000, false), half]), [half]);
  assert.deepEqual(chooseMerge([segmentOf(100_000, false, 80_000)]), []);
});
