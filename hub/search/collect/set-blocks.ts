/** A set of documents, without the deleted ones, block by block. */

import { COLUMN_BLOCK, type SegmentReader } from "#hub/engine/searcher.ts";
import { type Bitset, popcount } from "#hub/engine/segment/bitset.ts";

const WORDS = COLUMN_BLOCK / 32;

export class SetBlocks {
  /** Documents of the block loaded, by doc - block * COLUMN_BLOCK; the caller may remove some. */
  readonly mask = new Uint32Array(WORDS);
  readonly blockCount: number;
  readonly #segment: SegmentReader;
  readonly #set: Bitset;

  constructor(segment: SegmentReader, set: Bitset) {
    this.#segment = segment;
    this.#set = set;
    this.blockCount = Math.ceil(segment.docCount / COLUMN_BLOCK);
  }

  /** Documents of a block, deleted ones included. */
  docsOf(block: number): number {
    return Math.min(COLUMN_BLOCK, this.#segment.docCount - block * COLUMN_BLOCK);
  }

  /** True where nothing of the block is in the set; deleted documents count. */
  isEmpty(block: number): boolean {
    const { words } = this.#set;
    const end = Math.min(words.length, (block + 1) * WORDS);
    for (let word = block * WORDS; word < end; word++) if (words[word] !== 0) return false;
    return true;
  }

  /** Fills `mask` and returns how many documents are in it. */
  load(block: number): number {
    const { words } = this.#set;
    const live = this.#segment.liveDocs?.words;
    const from = block * WORDS;
    let count = 0;
    for (let word = 0; word < WORDS; word++) {
      let bits = from + word < words.length ? words[from + word]! : 0;
      if (live !== undefined && bits !== 0) bits &= live[from + word]!;
      this.mask[word] = bits;
      if (bits !== 0) count += popcount(bits);
    }
    return count;
  }

  /** All live documents of the set. */
  count(): number {
    const { liveDocs } = this.#segment;
    return liveDocs === null ? this.#set.count() : this.#set.countBoth(liveDocs);
  }
}

/** Writes the documents of a block's mask to `docs`, ascending; null stands for all `length` of them. Returns how many. */
export function expandMask(
  block: number,
  mask: Uint32Array | null,
  length: number,
  docs: Int32Array,
): number {
  const base = block * COLUMN_BLOCK;
  if (mask === null) {
    for (let slot = 0; slot < length; slot++) docs[slot] = base + slot;
    return length;
  }
  let count = 0;
  for (let word = 0; word < WORDS; word++) {
    let bits = mask[word]!;
    const from = base + 32 * word;
    while (bits !== 0) {
      const low = bits & -bits;
      docs[count++] = from + 31 - Math.clz32(low);
      bits ^= low;
    }
  }
  return count;
}

/** Documents in a mask. */
export function countMask(mask: Uint32Array): number {
  let count = 0;
  for (let word = 0; word < WORDS; word++) if (mask[word] !== 0) count += popcount(mask[word]!);
  return count;
}
