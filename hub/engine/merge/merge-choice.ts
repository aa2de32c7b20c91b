/** Which segments of a shard are merged next. Neighbours only, so that documents keep their order. */

/** Smaller segments are of the lowest level: fresh ones of whatever size are merged together. */
const FLOOR_BYTES = 2 * 1024 * 1024;

/** Segments of one level that are merged, and the ratio of two levels' sizes. */
const FACTOR = 8;

/** Segments merged at once, at most. */
const MAX_INPUTS = 10;

/** So many of them are of the highest level: fewer wait for more, and aren't written again for smaller ones. */
const LEVEL_INPUTS = 6;

/**
 * Segments of a run from which on any of them are merged: small and large ones that alternate might wait indefinitely.
 */
const LONG_RUN = 2 * FACTOR;

/** Results aren't made larger than this. A merge holds about twice its result in memory: 1 GiB took the hub beyond 2. */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_DOCS = 5_000_000;

/** A segment above this share of the limits isn't merged any more. */
const LARGE_SHARE = 1 / 2;

/** A larger share of what a merge writes than this isn't that of its first segment, which is the result of those before. */
const FIRST_SHARE = 1 / 4;

/** A segment with a larger part of its documents deleted is written again by itself. */
const MAX_DELETED = 0.3;

/** Fresh segments of an idle shard are written again from this size on, which becomes half. */
export const FINAL_BYTES = 1024 * 1024;

/** A segment as the choice sees it. */
export interface MergeCandidate {
  readonly liveCount: number;
  readonly segment: {
    readonly docCount: number;
    readonly sizeBytes: number;
    /** Undefined counts as not fresh. */
    readonly isFresh: boolean | undefined;
  };
}

/**
 * Returns neighbouring segments to merge, those of the lowest level first; none if nothing is worth it. Each document is
 * written again about as often as there are levels.
 */
export function chooseMerge<T extends MergeCandidate>(segments: readonly T[]): readonly T[] {
  const levels = segments.map(levelOf);
  const highest = Math.max(0, ...levels.filter(Number.isFinite));
  for (let level = 0; level <= highest; level++) {
    let from = 0;
    for (let at = 0; at <= segments.length; at++) {
      if (at < segments.length && levels[at]! <= level) continue;
      const chosen = worthMerging(segments.slice(from, at), level);
      if (chosen.length > 0) return chosen;
      from = at + 1;
    }
  }
  const worst = segments.find((entry) => entry.liveCount < entry.segment.docCount * (1 - MAX_DELETED));
  return worst !== undefined && worst.segment.sizeBytes > FLOOR_BYTES ? [worst] : [];
}

/**
 * Returns neighbouring segments of an idle shard to merge, newest first: fresh ones, with those before them that are no
 * larger than what follows, so that a document is rarely written again; none where little is gained.
 */
export function chooseFinal<T extends MergeCandidate>(segments: readonly T[]): readonly T[] {
  for (let to = segments.length; to > 0; ) {
    let from = to;
    let bytes = 0;
    let docs = 0;
    let freshBytes = 0;
    for (; from > 0 && to - from < MAX_INPUTS; from--) {
      const { segment, liveCount } = segments[from - 1]!;
      const { sizeBytes, isFresh } = segment;
      if (isFresh !== true && sizeBytes > bytes) break;
      if (from < to && (bytes + sizeBytes > MAX_BYTES || docs + liveCount > MAX_DOCS)) break;
      bytes += sizeBytes;
      docs += liveCount;
      if (isFresh === true) freshBytes += sizeBytes;
    }
    if (freshBytes >= FINAL_BYTES) return segments.slice(from, to);
    to = Math.min(from, to - 1);
  }
  return [];
}

/**
 * The segments of a run, which are of a level or below, that are merged: not the first ones while they are much larger than
 * what follows.
 */
function worthMerging<T extends MergeCandidate>(run: readonly T[], level: number): readonly T[] {
  for (let from = 0; run.length - from >= FACTOR; from++) {
    const inputs = run.slice(from, from + MAX_INPUTS);
    const ofLevel = inputs.filter((entry) => levelOf(entry) === level).length;
    if (ofLevel < LEVEL_INPUTS && run.length < LONG_RUN) continue;
    const bytes = inputs.reduce((sum, entry) => sum + liveBytes(entry), 0);
    if (liveBytes(inputs[0]!) > FIRST_SHARE * bytes) continue;
    const fitting = withinLimits(inputs);
    if (fitting.length > 1) return fitting;
  }
  return [];
}

/** Size by live documents in steps of FACTOR; Infinity for one that is large enough. */
function levelOf(entry: MergeCandidate): number {
  const live = liveBytes(entry);
  if (live > LARGE_SHARE * MAX_BYTES || entry.liveCount > LARGE_SHARE * MAX_DOCS)
    return Number.POSITIVE_INFINITY;
  return Math.floor(Math.log(Math.max(live, FLOOR_BYTES) / FLOOR_BYTES) / Math.log(FACTOR));
}

function liveBytes({ liveCount, segment }: MergeCandidate): number {
  return (segment.sizeBytes * liveCount) / Math.max(1, segment.docCount);
}

function withinLimits<T extends MergeCandidate>(run: readonly T[]): readonly T[] {
  let bytes = 0;
  let docs = 0;
  const count = run.findIndex(({ segment, liveCount }) => {
    bytes += segment.sizeBytes;
    docs += liveCount;
    return bytes > MAX_BYTES || docs > MAX_DOCS;
  });
  return count < 0 ? run : run.slice(0, count);
}
