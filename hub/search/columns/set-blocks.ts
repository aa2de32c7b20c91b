/** The live documents of a set, block by block. */

import { type Bitset, popcount } from "#hub/engine/bytes/bitset.ts";
import { COLUMN_BLOCK, type DocRun, type SegmentReader } from "#hub/engine/searcher/searcher.ts";

const WORDS = COLUMN_BLOCK / 32;

export class SetBlocks {
  /** Documents of the block loaded, by doc - block * COLUMN_BLOCK; the caller may remove some. */
  readonly mask = new Uint32Array(WORDS);
  readonly blockCount: number;
  readonly #docCount: number;
  /** Without the deleted ones. */
  readonly #words: Uint32Array;
  #count = -1;

  constructor(segment: SegmentReader, set: Bitset) {
    const { liveDocs, docCount } = segment;
    this.#words = liveDocs === null ? set.words : set.clone().and(liveDocs).words;
    this.#docCount = docCount;
    this.blockCount = Math.ceil(docCount / COLUMN_BLOCK);
  }

  /** Blocks [from, to). */
  run(from: number, to: number): SegmentRun {
    const docCount = this.#docCount;
    return { from, to, words: this.count() === docCount ? null : this.#words, wordsFrom: 0, docCount };
  }

  /** True if nothing of the block is in the set. */
  isEmpty(block: number): boolean {
    const words = this.#words;
    const end = Math.min(words.length, (block + 1) * WORDS);
    for (let word = block * WORDS; word < end; word++) if (words[word] !== 0) return false;
    return true;
  }

  /** Fills `mask` and returns how many documents are in it. */
  load(block: number): number {
    return loadMask(this.#words, block, this.mask);
  }

  /** Writes blocks [from, to) to `words`, which is large enough, from its start. */
  copy(from: number, to: number, words: Uint32Array): void {
    const own = this.#words.subarray(from * WORDS, to * WORDS);
    words.set(own);
    words.fill(0, own.length, (to - from) * WORDS);
  }

  /** All documents of the set. */
  count(): number {
    if (this.#count < 0) this.#count = countWords(this.#words, 0, this.#words.length);
    return this.#count;
  }
}

/** A run that says how long its segment is. */
export interface SegmentRun extends DocRun {
  /** Documents of the segment. */
  readonly docCount: number;
}

/** Documents of a run. */
export function countRun({ from, to, words, wordsFrom, docCount }: SegmentRun): number {
  if (words === null) return Math.min(to * COLUMN_BLOCK, docCount) - from * COLUMN_BLOCK;
  return countWords(words, (from - wordsFrom) * WORDS, Math.min((to - wordsFrom) * WORDS, words.length));
}

/** Writes the documents of one block of a run to `mask` and returns how many there are. */
export function loadBlock(
  { words, wordsFrom, docCount }: SegmentRun,
  block: number,
  mask: Uint32Array,
): number {
  if (words !== null) return loadMask(words, block - wordsFrom, mask);
  const docs = docsOfBlock({ docCount }, block);
  mask.fill(0xffff_ffff, 0, docs >>> 5).fill(0, docs >>> 5);
  if ((docs & 31) !== 0) mask[docs >>> 5] = 2 ** (docs & 31) - 1;
  return docs;
}

/** Returns how many documents one block of a segment has, whether or not they are in the set. */
export function docsOfBlock({ docCount }: Pick<SegmentRun, "docCount">, block: number): number {
  return Math.min(COLUMN_BLOCK, docCount - block * COLUMN_BLOCK);
}

/** Writes the documents of block number `block` of `words` to `mask` and returns how many there are. */
export function loadMask(words: Uint32Array, block: number, mask: Uint32Array): number {
  const from = block * WORDS;
  let count = 0;
  for (let word = 0; word < WORDS; word++) {
    const bits = from + word < words.length ? words[from + word]! : 0;
    mask[word] = bits;
    if (bits !== 0) count += popcount(bits);
  }
  return count;
}

function countWords(words: Uint32Array, from: number, to: number): number {
  let count = 0;
  for (let word = from; word < to; word++) count += popcount(words[word]!);
  return count;
}

/** Writes the documents of a block's mask to `docs`, ascending; null means all `length` of them. Returns how many. */
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
