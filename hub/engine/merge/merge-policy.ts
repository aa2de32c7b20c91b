/** Which segments to merge: runs of neighbours of like size, so that documents stay in the order they came. */

import type { ShardSegment } from "#hub/engine/commit/shard-segment.ts";

/** Smaller segments count as this big: fresh ones of whatever size are merged together. */
const FLOOR_BYTES = 2 * 1024 * 1024;

/** Segments of one level that are merged into one of the next. */
const FACTOR = 8;

/** Segments merged at once, at most. */
const MAX_INPUTS = 10;

/** Results aren't made larger than this: a merge's cost and the memory for it stay bounded. */
const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_DOCS = 5_000_000;

/** A segment with a larger part of its documents deleted is written anew by itself. */
const MAX_DELETED = 0.3;

/** Returns neighbouring segments to merge, lowest level first; none where nothing is worth it. */
export function chooseMerge(segments: readonly ShardSegment[]): readonly ShardSegment[] {
  const levels = segments.map(levelOf);
  const highest = Math.max(0, ...levels);
  for (let level = 0; level <= highest; level++) {
    let from = 0;
    for (let at = 0; at <= segments.length; at++) {
      if (at < segments.length && levels[at]! <= level) continue;
      if (at - from >= FACTOR) {
        const run = withinLimits(segments.slice(from, Math.min(at, from + MAX_INPUTS)));
        if (run.length > 1) return run;
      }
      from = at + 1;
    }
  }
  const worst = segments.find((entry) => entry.liveCount < entry.segment.docCount * (1 - MAX_DELETED));
  return worst !== undefined && worst.segment.sizeBytes > FLOOR_BYTES ? [worst] : [];
}

/** Size by live documents in steps of FACTOR. */
function levelOf(entry: ShardSegment): number {
  const { docCount, sizeBytes } = entry.segment;
  const live = (sizeBytes * entry.liveCount) / Math.max(1, docCount);
  return Math.floor(Math.log(Math.max(live, FLOOR_BYTES) / FLOOR_BYTES) / Math.log(FACTOR));
}

function withinLimits(run: readonly ShardSegment[]): readonly ShardSegment[] {
  let bytes = 0;
  let docs = 0;
  const count = run.findIndex((entry) => {
    bytes += entry.segment.sizeBytes;
    docs += entry.liveCount;
    return bytes > MAX_BYTES || docs > MAX_DOCS;
  });
  return count < 0 ? run : run.slice(0, count);
}
