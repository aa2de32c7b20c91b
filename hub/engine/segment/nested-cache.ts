/** The most recently used nested objects of a thread's segments, as separate segments; evicted ones are rebuilt. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { BoundedCache } from "#hub/engine/bytes/bounded-cache.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";

/** Bytes of all blocks. */
const LIMIT_BYTES = 128 * 1024 * 1024;

/** Documents of which nothing could be computed. */
export interface FailedDocuments {
  readonly docs: Bitset;
  /** What the first of them threw. */
  readonly error: unknown;
}

/** The nested objects of one path in one segment, in the order of their parents. */
export interface NestedBlock {
  /** One document per object; null if there is none. */
  readonly objects: SegmentReader | null;
  /** Objects of parent p are [starts[p], starts[p + 1]). */
  readonly starts: Int32Array;
  /** Parent of each object. */
  readonly parents: Int32Array;
  readonly sizeBytes: number;
  /** Of computed objects. */
  readonly failed?: FailedDocuments | undefined;
  /** Releases what caches hold of the objects. Searches in progress may continue reading them. */
  release(): void;
}

/** See the file's comment. A block that is evicted or dropped is released. */
export class NestedCache extends BoundedCache<string, NestedBlock> {
  constructor(limitBytes = LIMIT_BYTES) {
    super(limitBytes, (block) => block.release());
  }
}

let ofThread: NestedCache | undefined;

/** Returns the cache of this thread. */
export function nestedCache(): NestedCache {
  return (ofThread ??= new NestedCache());
}
