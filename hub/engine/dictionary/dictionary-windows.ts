/**
 * A dictionary read from its first term to its last: several complete blocks at a time, with the postings of their
 * terms.
 */

import { ByteReader } from "#hub/engine/bytes/byte-buffer.ts";
import type { SegmentFile } from "#hub/engine/files/segment-file.ts";
import type { DictionaryPages } from "./dictionary-pages.ts";
import { type DictionaryEntry, TERMS_PER_BLOCK } from "./dictionary-writer.ts";

/** Blocks of a window at most. */
const WINDOW_BLOCKS = 256;

/** Longest varint. */
const VARINT_BYTES = 8;

/** Neighbouring blocks. */
interface DictionaryWindow {
  readonly terms: number;
  /** Bytes of the blocks, valid until the next window of any dictionary. */
  readonly blocks: Uint8Array;
  /** Where the postings begin among those of the dictionary, and how many bytes they are. */
  readonly postingsFrom: number;
  readonly postingsBytes: number;
}

/** See the file's comment. */
export class DictionaryWindows {
  readonly size: number;
  readonly #file: SegmentFile;
  readonly #entry: DictionaryEntry;
  readonly #pages: DictionaryPages;
  readonly #postingsBytes: number;
  #nextBlock = 0;

  /** `postingsBytes`: of a window at most, unless one block has more. */
  constructor(file: SegmentFile, entry: DictionaryEntry, pages: DictionaryPages, postingsBytes: number) {
    this.#postingsBytes = postingsBytes;
    this.size = entry.size;
    this.#file = file;
    this.#entry = entry;
    this.#pages = pages;
  }

  /** Terms that weren't in a window yet. */
  get termsLeft(): number {
    return Math.max(0, this.size - this.#nextBlock * TERMS_PER_BLOCK);
  }

  /** Returns the next window; null after the last one. Throws data_corrupt. */
  next(): DictionaryWindow | null {
    const from = this.#nextBlock;
    const { blockCount } = this.#pages;
    if (from >= blockCount) return null;
    const pageEnd = Math.min(blockCount, from + WINDOW_BLOCKS);
    const behind = this.#postingsBehind(pageEnd);
    const page = this.#pages.run(from, pageEnd);
    const postingsOf = (block: number) =>
      block === pageEnd ? behind : new ByteReader(page, this.#pages.distance(from, block)).varint();
    const postingsFrom = postingsOf(from);
    // As many blocks as have no more postings: most often all of them.
    let to = pageEnd;
    for (let low = from + 1, high = pageEnd; behind - postingsFrom > this.#postingsBytes && low < high; ) {
      const middle = (low + high + 1) >> 1;
      if (postingsOf(middle) - postingsFrom > this.#postingsBytes) high = middle - 1;
      else low = middle;
      to = low;
    }
    const postingsTo = postingsOf(to);
    if (postingsTo < postingsFrom) throw this.#file.corrupt("postings end before they begin");
    this.#nextBlock = to;
    return {
      terms: Math.min(this.size, to * TERMS_PER_BLOCK) - from * TERMS_PER_BLOCK,
      blocks: page.subarray(0, this.#pages.distance(from, to)),
      postingsFrom,
      postingsBytes: postingsTo - postingsFrom,
    };
  }

  /** The postings of a window, in `into`, which is large enough, or where they are in memory. Throws data_corrupt. */
  postings(window: DictionaryWindow, into: Uint8Array): Uint8Array {
    return this.#file.read(this.#entry.postings, window.postingsFrom, window.postingsBytes, into);
  }

  /** Where the postings of the terms before a block end. */
  #postingsBehind(block: number): number {
    const { blocks, postings } = this.#entry;
    if (block >= this.#pages.blockCount) return postings[1];
    const from = this.#pages.distance(0, block);
    const bytes = this.#file.read(blocks, from, Math.min(VARINT_BYTES, blocks[1] - from));
    return new ByteReader(bytes).varint();
  }
}
