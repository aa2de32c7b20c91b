/** The input of a merge: segments with the documents to copy and their new numbers. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { Segment } from "../segment/segment.ts";

/** One segment of a merge. */
export interface MergeInput {
  readonly segment: Segment;
  /** Documents to take over; null: all. */
  readonly live: Bitset | null;
  /** New number of each document, -1 for those left out. */
  readonly newDocs: Int32Array;
  /** New number of the first document that follows those of the segments before. */
  readonly firstDoc: number;
}

/** A segment and its live documents, null for all. */
export interface LiveSegment {
  readonly segment: Segment;
  readonly live: Bitset | null;
}

/** Numbers the documents that are taken over, segment by segment. */
export function numberDocuments(segments: readonly LiveSegment[]): MergeInput[] {
  let next = 0;
  return segments.map(({ segment, live }) => {
    const firstDoc = next;
    const newDocs = new Int32Array(segment.docCount);
    next = live === null ? numberAll(newDocs, next) : numberLive(newDocs, live, next);
    const isWhole = next - firstDoc === segment.docCount;
    return { segment, live: isWhole ? null : live, newDocs, firstDoc };
  });
}

/** Numbers documents that all live; returns the number after theirs. */
function numberAll(newDocs: Int32Array, first: number): number {
  for (let doc = 0; doc < newDocs.length; doc++) newDocs[doc] = first + doc;
  return first + newDocs.length;
}

function numberLive(newDocs: Int32Array, live: Bitset, first: number): number {
  let next = first;
  for (let doc = 0; doc < newDocs.length; doc++) newDocs[doc] = live.has(doc) ? next++ : -1;
  return next;
}

/** Documents of the merged segment. */
export function mergedDocCount(inputs: readonly MergeInput[]): number {
  let total = 0;
  for (const { segment, live } of inputs) total += live === null ? segment.docCount : live.count();
  return total;
}
