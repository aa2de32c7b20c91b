/** Writes the sorted terms of one field: front-coded blocks of 16, postings of rare terms inside. Grammar: README.md. */

import { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import type { Extent, SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import { type PostingsList, writePostings } from "#hub/engine/postings/postings-writer.ts";

/** Terms per block: one restart and up to 15 steps for each look-up. */
export const TERMS_PER_BLOCK = 16;

/** Longest term in bytes, as in Lucene. */
export const MAX_TERM_BYTES = 32_766;

/** Postings are passed to the file in pieces of about this size. */
const FLUSH_BYTES = 256 * 1024;

/** A dictionary's entry in the segment's directory. */
export interface DictionaryEntry {
  readonly size: number;
  readonly index: Extent;
  readonly blocks: Extent;
  readonly postings: Extent;
  readonly positions: boolean;
  readonly sumTotalTermFreq: number;
  readonly sumDocFreq: number;
}

/** Takes terms in the order of their bytes. */
export class DictionaryWriter {
  readonly #file: SegmentFileWriter;
  readonly #norms: Uint8Array | null;
  readonly #positions: boolean;
  readonly #blocks = new ByteBuffer(1024);
  readonly #index = new ByteBuffer(64);
  readonly #postings = new ByteBuffer(4096);
  readonly #positionsOut = new ByteBuffer(1024);
  readonly #start: number;
  readonly #previous = new ByteBuffer(256);
  #flushed = 0;
  #size = 0;
  #sumTotalTermFreq = 0;
  #sumDocFreq = 0;

  /** `norms`: for impacts, null without; nothing else may be written to `file` until `finish`. */
  constructor(file: SegmentFileWriter, norms: Uint8Array | null, positions: boolean) {
    this.#file = file;
    this.#norms = norms;
    this.#positions = positions;
    this.#start = file.length;
  }

  /** Adds a term with its documents; an empty list makes a term that only columns use. `term` may be reused. */
  add(term: Uint8Array, list: PostingsList): void {
    const blocks = this.#blocks;
    const isFirst = this.#size % TERMS_PER_BLOCK === 0;
    if (isFirst) {
      this.#index.u32(blocks.length);
      blocks.varint(this.#flushed + this.#postings.length);
      blocks.varint(term.length);
      blocks.append(term);
    } else {
      const shared = sharedPrefix(this.#previous.view(), term);
      blocks.varint(shared);
      blocks.varint(term.length - shared);
      blocks.append(term, shared);
    }
    this.#previous.clear();
    this.#previous.append(term);
    this.#size++;
    this.#sumTotalTermFreq += list.totalTermFreq;
    this.#sumDocFreq += list.count;
    blocks.varint(list.count);
    if (list.count === 1) this.#inline(list);
    else if (list.count > 1) this.#outside(list);
  }

  #inline(list: PostingsList): void {
    this.#blocks.varint(list.docs[0]!);
    this.#blocks.varint(list.freqs[0]!);
    if (!this.#positions) return;
    let before = 0;
    for (let index = 0; index < list.freqs[0]!; index++) {
      this.#blocks.varint(list.positions[index]! - before);
      before = list.positions[index]!;
    }
  }

  #outside(list: PostingsList): void {
    const from = this.#postings.length;
    const length = writePostings(list, this.#norms, this.#positions, this.#postings, this.#positionsOut);
    this.#blocks.varint(list.totalTermFreq - list.count);
    this.#blocks.varint(length);
    if (this.#positions) this.#blocks.varint(this.#postings.length - from - length);
    if (this.#postings.length >= FLUSH_BYTES) this.#flush();
  }

  #flush(): void {
    this.#file.write(this.#postings.view());
    this.#flushed += this.#postings.length;
    this.#postings.clear();
  }

  /** Writes what is left and returns the directory's entry. */
  finish(): DictionaryEntry {
    this.#flush();
    return {
      size: this.#size,
      postings: [this.#start, this.#flushed],
      blocks: this.#file.write(this.#blocks.view()),
      index: this.#file.write(this.#index.view()),
      positions: this.#positions,
      sumTotalTermFreq: this.#sumTotalTermFreq,
      sumDocFreq: this.#sumDocFreq,
    };
  }
}

function sharedPrefix(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  let index = 0;
  while (index < length && a[index] === b[index]) index++;
  return index;
}
