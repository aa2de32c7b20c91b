/**
 * The kernel of searches: a separate instance with its own memory, so that a large search can't use up the memory of
 * indexing. Files' bytes are copied into it for each call; all that it keeps between calls are the slots of ordinals used last.
 */

import { BUFFER_BYTES } from "./assembly/layout.ts";
import { ColumnKernel } from "./column-kernel.ts";
import { Kernel } from "./kernel.ts";

/** Memory of all searches of a thread. */
const LIMIT_BYTES = 256 * 1024 * 1024;

/** Terms of a dictionary looked at by one call. */
export const SCAN_TERMS = 65_536;

/** Longest term, and the vector after it. */
const TERM_ROOM_BYTES = 33_024;

let ofThread: SearchKernel | undefined;

/** Returns the search kernel of this thread. Throws unavailable if the kernel isn't built. */
export function searchKernel(): SearchKernel {
  ofThread ??= SearchKernel.load();
  return ofThread;
}

/** Gives up the search kernel of this thread, and its memory with it; a search under way keeps it until its end. */
export function restSearchKernel(): void {
  ofThread = undefined;
}

/** Returns the bytes of the memory of this thread's searches; 0 while there is none. */
export function searchKernelBytes(): number {
  return ofThread?.sizeBytes ?? 0;
}

/** A term's bytes in its dictionary. */
export interface TermBytes {
  readonly docFreq: number;
  readonly postings: Uint8Array;
  readonly positions: Uint8Array;
}

/** Where a term of a phrase is in the kernel's memory: state, growing buffers, memory for positions. */
interface TermBuffers {
  readonly at: number;
  readonly postings: number;
  readonly positions: number;
  readonly unpacked: number;
}

/** Size of a term's state in assembly/phrase.ts. */
const TERM_STATE_BYTES = 1152;

/** Positions that a block of 128 documents may have there; phrases with more are found by cursors. */
const POSITION_ROOM = 65_536;

/** See the file's comment. Belongs to one thread; a result in its memory is valid until the next call. */
export class SearchKernel {
  readonly columns: ColumnKernel;
  readonly #kernel: Kernel;
  /** Growing buffers: bytes of a file, a set of documents. */
  readonly #bytes: number;
  readonly #set: number;
  readonly #group: number;
  readonly #text: number;
  readonly #found: number;
  readonly #terms: readonly TermBuffers[];

  private constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.columns = new ColumnKernel(kernel);
    this.#bytes = kernel.allocateZeroed(BUFFER_BYTES);
    this.#set = kernel.allocateZeroed(BUFFER_BYTES);
    this.#group = kernel.allocateZeroed(1024);
    this.#text = kernel.allocateZeroed(TERM_ROOM_BYTES + 64);
    this.#found = kernel.allocateZeroed(4 * SCAN_TERMS);
    this.#terms = [0, 1].map(() => ({
      at: kernel.allocateZeroed(TERM_STATE_BYTES),
      postings: kernel.allocateZeroed(BUFFER_BYTES),
      positions: kernel.allocateZeroed(BUFFER_BYTES),
      unpacked: kernel.memory.allocate(4 * POSITION_ROOM + 64),
    }));
  }

  /** Returns a new instance. Throws unavailable if the kernel isn't built. */
  static load(limitBytes = LIMIT_BYTES): SearchKernel {
    return new SearchKernel(Kernel.load(limitBytes));
  }

  /** Bytes of its memory. */
  get sizeBytes(): number {
    return this.#kernel.memory.totalBytes;
  }

  /** Adds the documents of a term to `words` (ceil(docCount / 32) of them). False where the bytes are damaged. */
  addPostings(postings: Uint8Array, docFreq: number, docCount: number, words: Uint32Array): boolean {
    const kernel = this.#kernel;
    const bits = this.#reserveBits(words.length);
    kernel.memory.words.set(words, bits >>> 2);
    const whole = this.#setPostings(postings, docFreq, docCount, bits);
    words.set(kernel.memory.words.subarray(bits >>> 2, (bits >>> 2) + words.length));
    return whole;
  }

  /** Returns the documents of a term (ceil(docCount / 32) words); null if the bytes are damaged. */
  postings(postings: Uint8Array, docFreq: number, docCount: number): Uint32Array | null {
    const { memory } = this.#kernel;
    const length = Math.ceil(docCount / 32);
    const bits = this.#reserveBits(length);
    memory.words.fill(0, bits >>> 2, (bits >>> 2) + length);
    const whole = this.#setPostings(postings, docFreq, docCount, bits);
    return whole ? memory.words.slice(bits >>> 2, (bits >>> 2) + length) : null;
  }

  /** Returns the address of memory for a set of this many words, an even number of which the last is zero. */
  #reserveBits(words: number): number {
    const kernel = this.#kernel;
    const bits = kernel.reserve(this.#set, 4 * words + 4);
    kernel.setWord(bits + 4 * words, 0);
    return bits;
  }

  /** Adds the documents of a term to the set at `bits`. */
  #setPostings(postings: Uint8Array, docFreq: number, docCount: number, bits: number): boolean {
    const kernel = this.#kernel;
    const from = kernel.place(this.#bytes, postings);
    return kernel.functions.postingsSet(from, postings.length, docFreq, docCount, bits, this.#group) === 1;
  }

  /**
   * Returns the documents in which `second` occurs `distance` positions (from 1) after `first`; null where cursors have
   * to find them, or memory is short.
   */
  near(first: TermBytes, second: TermBytes, distance: number, docCount: number): Uint32Array | null {
    const kernel = this.#kernel;
    const length = Math.ceil(docCount / 32);
    this.#placeTerm(this.#terms[0]!, first);
    this.#placeTerm(this.#terms[1]!, second);
    const bits = this.#reserveBits(length);
    kernel.memory.words.fill(0, bits >>> 2, (bits >>> 2) + length);
    const [a, b] = [this.#terms[0]!.at, this.#terms[1]!.at];
    if (kernel.functions.nearSet(a, b, distance, docCount, bits) !== 1) return null;
    return kernel.memory.words.slice(bits >>> 2, (bits >>> 2) + length);
  }

  /** Copies a term's bytes in and fills the start of its state as assembly/phrase.ts reads it. */
  #placeTerm(place: TermBuffers, { postings, positions, docFreq }: TermBytes): void {
    const kernel = this.#kernel;
    kernel.memory.bytes.fill(0, place.at, place.at + TERM_STATE_BYTES);
    const numbers = [
      kernel.place(place.postings, postings),
      postings.length,
      kernel.place(place.positions, positions),
      positions.length,
      docFreq,
    ];
    for (const [index, value] of numbers.entries()) kernel.setWord(place.at + 4 * index, value);
    kernel.setWord(place.at + 40, place.unpacked);
    kernel.setWord(place.at + 44, POSITION_ROOM);
  }

  /**
   * Returns the numbers, counted from the first, of the terms that hold `needle` in blocks of a dictionary; null if the
   * bytes are damaged. At most SCAN_TERMS terms. The array is valid until the next call.
   */
  scan(blocks: Uint8Array, terms: number, hasPositions: boolean, needle: Uint8Array): Uint32Array | null {
    const kernel = this.#kernel;
    const from = kernel.place(this.#bytes, blocks);
    const needleAt = kernel.place(this.#set, needle);
    const found = kernel.functions.scanTerms(
      from,
      blocks.length,
      terms,
      hasPositions ? 1 : 0,
      needleAt,
      needle.length,
      this.#text,
      TERM_ROOM_BYTES,
      this.#found,
    );
    return found < 0 ? null : new Uint32Array(kernel.memory.memory.buffer, this.#found, found);
  }
}
