/** What searchers see of a shard: its segments as of the last refresh, retained until nobody reads them. */

import type { ShardSegment } from "#hub/engine/commit/shard-segment.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import type { SnapshotReader } from "#hub/engine/segment/snapshot-reader.ts";
import type { Mapping } from "./mapping/mapping.ts";

/** Belongs to the shard's thread. */
export class VisibleSegments {
  #readers: readonly SnapshotReader[] = [];

  /** Shows segments as they are now to searchers made from now on. Returns true where something changed. */
  show(segments: readonly ShardSegment[]): boolean {
    const visible = segments.filter((entry) => entry.liveCount > 0).map((entry) => entry.snapshot());
    const before = this.#readers;
    if (visible.length === before.length && visible.every((reader, index) => reader === before[index]))
      return false;
    for (const reader of visible) reader.segment.retain();
    this.#readers = visible;
    for (const reader of before) reader.segment.release();
    return true;
  }

  /** A snapshot as of the last `show`; its `close` must be called. */
  searcher(mapping: Mapping): Searcher {
    const readers = this.#readers;
    for (const reader of readers) reader.segment.retain();
    let isOpen = true;
    return {
      segments: readers,
      mapping,
      totalDocs: readers.reduce((total, reader) => total + reader.liveCount, 0),
      close() {
        if (isOpen) for (const reader of readers) reader.segment.release();
        isOpen = false;
      },
    };
  }

  /** Shows nothing any more; searchers that are open stay readable. */
  close(): void {
    for (const reader of this.#readers) reader.segment.release();
    this.#readers = [];
  }
}
