/** One of several equal parts of a shard's documents, by their ids. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
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
  let state = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) state = Math.imul(state ^ id.charCodeAt(at), 0x01000193);
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  return (state ^ (state >>> 13)) >>> 0;
}
