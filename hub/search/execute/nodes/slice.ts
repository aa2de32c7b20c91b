/** One of several equal parts of a shard's documents, by their ids. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { fnv1a } from "#proto/codec/fnv1a.ts";
import { SetNode } from "./documents.ts";

/** Which part. Plain data. */
export interface IdSlice {
  /** From 0. */
  readonly part: number;
  readonly parts: number;
}

/** The documents of a part. */
export class IdSliceNode extends SetNode {
  readonly #slice: IdSlice;

  constructor(slice: IdSlice) {
    super();
    this.#slice = slice;
  }

  protected select(segment: SegmentReader): Bitset {
    const { part, parts } = this.#slice;
    const set = new Bitset(segment.docCount);
    for (let doc = 0; doc < segment.docCount; doc++) if (hash(segment.id(doc)) % parts === part) set.add(doc);
    return set;
  }
}

/** FNV-1a with a last mixing. */
function hash(id: string): number {
  let state = fnv1a(id);
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  return (state ^ (state >>> 13)) >>> 0;
}
