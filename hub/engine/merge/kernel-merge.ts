/**
 * Dictionaries merged by the kernel. Merges have a separate instance with its own memory, so that a large one can't use
 * up the memory of indexing.
 */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { copyBytes } from "#hub/engine/bytes/bytes.ts";
import type { DictionaryWindows } from "#hub/engine/dictionary/dictionary-windows.ts";
import type { DictionaryEntry } from "#hub/engine/dictionary/dictionary-writer.ts";
import { KernelSeal } from "#hub/engine/dictionary/kernel-seal.ts";
import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import type { Spool } from "#hub/engine/files/spool.ts";
import { KEEP_FREQS, KEEP_POSITIONS } from "#hub/engine/kernel/assembly/layout.ts";
import * as at from "#hub/engine/kernel/assembly/layout-merge.ts";
import { Kernel } from "#hub/engine/kernel/kernel.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Memory of all merges of a thread: it holds the occurrences of one term as numbers. */
const LIMIT_BYTES = 2 ** 31;

/** Memory beyond which it is given back after a merge. */
const KEPT_BYTES = 48 * 1024 * 1024;

/** Terms that are merged by one call: below a millisecond. */
const TERMS_AT_ONCE = 2048;

const WALK_BUFFERS = [at.WALK_BLOCKS, at.WALK_POSTINGS, at.WALK_TEXT];

/** The dictionary of one segment. */
export interface MergedDictionary {
  readonly windows: DictionaryWindows;
  /** Documents of the segment. */
  readonly docCount: number;
  /** New number of the segment's first document, where all of them live. */
  readonly firstDoc: number;
  /** New number of each document, -1 for those left out; null if all live. */
  readonly newDocs: Int32Array | null;
  /** Terms that stay though no live document is listed for them, by number; null: none. */
  readonly used: Bitset | null;
  /** Receives the new number of each term, -1 for those that are gone; null: not needed. */
  readonly ordinals: Int32Array | null;
}

let ofThread: Kernel | undefined;

/** Returns the kernel of this thread's merges. Throws unavailable if the kernel isn't built. */
export function mergeKernel(): Kernel {
  ofThread ??= Kernel.load(LIMIT_BYTES);
  return ofThread;
}

/** Gives up the kernel of this thread's merges, and its memory with it; a merge under way keeps it until its end. */
export function restMergeKernel(): void {
  ofThread = undefined;
}

/** Returns the bytes of the memory of this thread's merges; 0 while there is none. */
export function mergeKernelBytes(): number {
  return ofThread?.memory.totalBytes ?? 0;
}

/** One merge: `step` until it is true, then `finish`. `release` must be called. */
export class KernelMerge {
  readonly #kernel: Kernel;
  readonly #dictionaries: readonly MergedDictionary[];
  readonly #seal: KernelSeal;
  readonly #walksAt: number;
  readonly #spool: Spool | undefined;
  /** Blocks beside the walks, by address. */
  readonly #blocks = new Map<number, number>();

  /** `norms`: of the merged segment, null without. `spool` has the blocks of terms until the end; memory without it. */
  constructor(
    kernel: Kernel,
    dictionaries: readonly MergedDictionary[],
    norms: Uint8Array | null,
    hasPositions: boolean,
    spool?: Spool,
  ) {
    this.#spool = spool;
    this.#kernel = kernel;
    this.#dictionaries = dictionaries;
    this.#seal = new KernelSeal(kernel, hasPositions ? KEEP_POSITIONS : KEEP_FREQS);
    const walksBytes = dictionaries.length * (at.WALK_BYTES + at.PREFIX_BYTES + at.LEAST_BYTES);
    this.#walksAt = this.#allocate(walksBytes);
    kernel.memory.bytes.fill(0, this.#walksAt, this.#walksAt + walksBytes);
    if (norms !== null) this.#seal.setNorms(this.#place(norms));
    for (const [number, dictionary] of dictionaries.entries())
      this.#describe(this.#walksAt + number * at.WALK_BYTES, dictionary);
  }

  /** Merges some terms; true when all are in. Throws data_corrupt. */
  step(file: SegmentFileWriter): boolean {
    const { functions } = this.#kernel;
    const count = this.#dictionaries.length;
    const state = functions.mergeTerms(this.#walksAt, count, this.#seal.sealAt, TERMS_AT_ONCE);
    if (state >= 0) {
      this.#fill(this.#walksAt + state * at.WALK_BYTES, this.#dictionaries[state]!.windows);
      return false;
    }
    if (state === at.MERGE_DAMAGED)
      throw new AppError("data_corrupt", "the postings of a segment that is merged can't be read");
    this.#seal.flush(file);
    if (this.#spool !== undefined) this.#seal.spoolBlocks(this.#spool);
    return state === at.MERGE_DONE;
  }

  /** Writes the rest, fills the ordinals, and returns the directory's entry; null for no terms. Yields now and then. */
  *finish(file: SegmentFileWriter): Generator<void, DictionaryEntry | null> {
    if (this.#seal.size === 0) return null;
    const { memory } = this.#kernel;
    for (const [number, { ordinals }] of this.#dictionaries.entries()) {
      if (ordinals === null) continue;
      const from = this.#kernel.word(this.#walksAt + number * at.WALK_BYTES + at.WALK_ORDINALS);
      copyBytes(memory.bytes, from, from + ordinals.byteLength, new Uint8Array(ordinals.buffer), 0);
    }
    this.#seal.flush(file);
    const blocksAt = file.length;
    for (const piece of this.#spool?.pieces() ?? []) {
      file.write(piece);
      yield;
    }
    return this.#seal.finish(file, blocksAt);
  }

  /** Gives the memory back. */
  release(): void {
    const { memory } = this.#kernel;
    for (let number = 0; number < this.#dictionaries.length; number++)
      for (const buffer of WALK_BUFFERS) this.#kernel.free(this.#walksAt + number * at.WALK_BYTES + buffer);
    for (const [address, sizeBytes] of this.#blocks) memory.release(address, sizeBytes);
    this.#seal.release();
    if (memory.bytes.length > KEPT_BYTES && ofThread === this.#kernel) ofThread = undefined;
  }

  #describe(
    walkAt: number,
    { windows, docCount, firstDoc, newDocs, used, ordinals }: MergedDictionary,
  ): void {
    const kernel = this.#kernel;
    kernel.setWord(walkAt + at.WALK_LEFT, windows.size);
    kernel.setWord(walkAt + at.WALK_DOCS, docCount);
    kernel.setWord(walkAt + at.WALK_BASE, firstDoc);
    if (newDocs !== null) kernel.setWord(walkAt + at.WALK_MAP, this.#place(newDocs));
    if (used !== null) kernel.setWord(walkAt + at.WALK_USED, this.#place(used.words));
    if (ordinals === null) return;
    const ordinalsAt = this.#allocate(ordinals.byteLength);
    kernel.memory.bytes.fill(0xff, ordinalsAt, ordinalsAt + ordinals.byteLength);
    kernel.setWord(walkAt + at.WALK_ORDINALS, ordinalsAt);
  }

  /** Gives a walk its next window. */
  #fill(walkAt: number, windows: DictionaryWindows): void {
    const kernel = this.#kernel;
    const window = windows.next();
    if (window === null) throw new AppError("data_corrupt", "a dictionary that is merged ends too early");
    kernel.place(walkAt + at.WALK_BLOCKS, window.blocks);
    kernel.setLength(walkAt + at.WALK_BLOCKS, window.blocks.length);
    const postingsAt = kernel.reserve(walkAt + at.WALK_POSTINGS, window.postingsBytes);
    const target = kernel.memory.bytes.subarray(postingsAt, postingsAt + window.postingsBytes);
    const postings = windows.postings(window, target);
    if (postings.buffer !== target.buffer) copyBytes(postings, 0, postings.length, target, 0);
    kernel.setLength(walkAt + at.WALK_POSTINGS, postings.length);
    kernel.setWord(walkAt + at.WALK_POSTINGS_FROM, window.postingsFrom);
    kernel.setWord(walkAt + at.WALK_AT, 0);
    kernel.setWord(walkAt + at.WALK_HERE, window.terms);
    kernel.setWord(walkAt + at.WALK_LEFT, windows.termsLeft);
  }

  /** Copies numbers or bytes to a block of their own. */
  #place({ buffer, byteOffset, byteLength }: Uint8Array | Int32Array | Uint32Array): number {
    const address = this.#allocate(byteLength);
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    copyBytes(bytes, 0, byteLength, this.#kernel.memory.bytes, address);
    return address;
  }

  #allocate(sizeBytes: number): number {
    const address = this.#kernel.memory.allocate(sizeBytes);
    this.#blocks.set(address, sizeBytes);
    return address;
  }
}
