/**
 * The kernel against its twins on random documents, for as long as TAILRACE_FUZZ_SECONDS says. TAILRACE_SEED repeats
 * a run that failed.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { kernelIndexing } from "#hub/engine/documents/kernel-documents.ts";
import { Segment } from "#hub/engine/segment/segment.ts";
import { chooseSeed } from "#test/harness/random.ts";
import { plainIndexing } from "#test/oracles/engine/plain-indexing.ts";
import {
  assertSameSegment,
  mergedBoth,
  randomDocuments,
  sealed,
  testKernel,
} from "#test/support/engine/kernel.ts";
import { Random } from "#test/support/engine/random.ts";
import { testMapping } from "#test/support/engine/shard.ts";

const DURATION_MS = Number(process.env["TAILRACE_FUZZ_SECONDS"] ?? 2) * 1000;
const MAX_DOCUMENTS = 1500;
const MERGED_SEGMENTS = 3;

/** All documents of a segment, or those that a deletion of some leaves. */
function randomLive({ docCount }: Segment, random: Random): Bitset | null {
  if (random.oneIn(2)) return null;
  const live = Bitset.full(docCount);
  const share = 1 + random.below(10);
  for (let doc = 0; doc < docCount; doc++) if (random.oneIn(share)) live.remove(doc);
  return live;
}

test("random documents make the same segments by the kernel and by its twin, merged ones too", async () => {
  const kernel = await testKernel();
  const mapping = testMapping();
  const first = chooseSeed();
  const end = Date.now() + DURATION_MS;
  const before: Segment[] = [];
  let rounds = 0;
  for (let seed = first; rounds === 0 || Date.now() < end; seed++, rounds++) {
    const random = new Random(seed);
    const sources = randomDocuments(random, random.below(MAX_DOCUMENTS));
    const lenient = random.oneIn(2);
    const actual = sealed(kernelIndexing(kernel), mapping, sources, lenient);
    const expected = sealed(plainIndexing, mapping, sources, lenient);
    assert.deepEqual(actual.outcomes, expected.outcomes, `TAILRACE_SEED=${seed}`);
    assertSameSegment(actual.segment, expected.segment, `TAILRACE_SEED=${seed}`);
    if (sources.length > 0) before.push(new Segment(actual.segment));
    if (before.length < MERGED_SEGMENTS) continue;
    const segments = before.splice(0).map((segment) => ({ segment, live: randomLive(segment, random) }));
    const { byKernel, byTwin } = mergedBoth(segments);
    assertSameSegment(byKernel, byTwin, `merged, TAILRACE_SEED=${seed}`);
  }
});
