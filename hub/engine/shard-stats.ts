/** Statistics of a shard. */

import type { ShardSegment } from "#hub/engine/commit/shard-segment.ts";
import { fieldDataCache } from "#hub/engine/segment/uninverted-column.ts";
import type { Mapping } from "./mapping/mapping.ts";
import type { ShardDocuments } from "./shard-documents.ts";

const NOTHING = [0, 0] as const;
const NO_TERMS = { index: NOTHING, blocks: NOTHING, postings: NOTHING };

export interface ShardStats {
  /** Live documents. */
  readonly docs: number;
  readonly deleted: number;
  /** Size of the segments. */
  readonly bytes: number;
  readonly segments: number;
  /** Memory of text fields that were uninverted for sorting, by field, bytes. */
  readonly fieldData: ReadonlyMap<string, number>;
  /** What completion fields take on disk, by field, bytes. */
  readonly completions: ReadonlyMap<string, number>;
  /** Memory of the buffer and of segments that aren't committed. */
  readonly memoryBytes: number;
  /** When something was applied, or before opening committed, for the last time, ms since 1970. */
  readonly writtenMs: number;
  /** Of the newest commit; 0 for none. */
  readonly generation: number;
}

/** `times`: see ShardStats. */
export function statsOf(
  { segments, buffer, mapping }: ShardDocuments,
  times: Pick<ShardStats, "writtenMs" | "generation">,
): ShardStats {
  let live = 0;
  let all = 0;
  let bytes = 0;
  for (const entry of segments) {
    live += entry.liveCount;
    all += entry.segment.docCount;
    bytes += entry.segment.sizeBytes;
  }
  return {
    docs: live + (buffer?.liveCount ?? 0),
    deleted: all - live + (buffer === null ? 0 : buffer.docCount - buffer.liveCount),
    bytes,
    segments: segments.length,
    memoryBytes: segments.reduce((sum, { imageBytes }) => sum + imageBytes, 0) + (buffer?.sizeBytes ?? 0),
    fieldData: fieldDataOf(segments),
    completions: completionsOf(segments, mapping),
    ...times,
  };
}

function fieldDataOf(segments: readonly ShardSegment[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { segment } of segments) {
    for (const [field, bytes] of fieldDataCache().sizes(segment))
      sums.set(field, (sums.get(field) ?? 0) + bytes);
  }
  return sums;
}

function completionsOf(segments: readonly ShardSegment[], mapping: Mapping): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { path, type } of mapping.fields()) {
    if (type !== "completion") continue;
    for (const { segment } of segments) {
      const { index, blocks, postings } = segment.fieldEntry(path)?.terms ?? NO_TERMS;
      sums.set(path, (sums.get(path) ?? 0) + index[1] + blocks[1] + postings[1]);
    }
  }
  return sums;
}

/** Bytes of sealed segments that aren't durable. */
export function uncommittedBytesOf(segments: readonly ShardSegment[]): number {
  return segments.reduce((total, entry) => total + entry.uncommittedBytes, 0);
}
