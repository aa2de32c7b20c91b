/** A dictionary built by the kernel: its structure, and how it is written to a segment's file. */

import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import type { Spool } from "#hub/engine/files/spool.ts";
import * as at from "#hub/engine/kernel/assembly/layout.ts";
import type { Kernel } from "#hub/engine/kernel/kernel.ts";
import type { DictionaryEntry } from "./dictionary-writer.ts";

/** Buffers of the structure. */
const BUFFERS = [
  at.SEAL_BLOCKS,
  at.SEAL_INDEX,
  at.SEAL_POSTINGS,
  at.SEAL_ENDS,
  at.SEAL_OCCURRENCES,
  at.SEAL_TERM,
];

/** Nothing else may be written to the file from the first `flush` to `finish`. `release` must be called. */
export class KernelSeal {
  /** Address of the structure. */
  readonly sealAt: number;
  readonly #kernel: Kernel;
  readonly #kept: number;
  #start = -1;

  /** `kept`: what is kept of each occurrence (KEEP_… in assembly/layout.ts). */
  constructor(kernel: Kernel, kept: number) {
    this.#kernel = kernel;
    this.#kept = kept;
    this.sealAt = kernel.allocateZeroed(at.SEAL_BYTES);
    kernel.setWord(this.sealAt + at.SEAL_KEPT, kept);
  }

  /** Terms so far. */
  get size(): number {
    return this.#kernel.word(this.sealAt + at.SEAL_SIZE);
  }

  /** The norms of all documents are at `address`. */
  setNorms(address: number): void {
    this.#kernel.setWord(this.sealAt + at.SEAL_NORMS, address);
  }

  /** Passes the postings so far to the file. */
  flush(file: SegmentFileWriter): void {
    const kernel = this.#kernel;
    if (this.#start < 0) this.#start = file.length;
    const postings = kernel.view(this.sealAt + at.SEAL_POSTINGS);
    file.write(postings);
    kernel.setWord(this.sealAt + at.SEAL_FLUSHED, this.#flushed + postings.length);
    kernel.setLength(this.sealAt + at.SEAL_POSTINGS, 0);
  }

  /**
   * Moves the blocks of terms so far aside where they have come to FLUSH_BYTES: their position is after all postings.
   */
  spoolBlocks(spool: Spool): void {
    const kernel = this.#kernel;
    const blocks = kernel.view(this.sealAt + at.SEAL_BLOCKS);
    if (blocks.length < at.FLUSH_BYTES) return;
    spool.write(blocks);
    kernel.setWord(this.sealAt + at.SEAL_BLOCKS_FLUSHED, spool.sizeBytes);
    kernel.setLength(this.sealAt + at.SEAL_BLOCKS, 0);
  }

  /** Writes what is left and returns the directory's entry. `blocksAt`: where blocks that were put aside begin in the file. */
  finish(file: SegmentFileWriter, blocksAt?: number): DictionaryEntry {
    const { sealAt } = this;
    const kernel = this.#kernel;
    this.flush(file);
    const from = blocksAt ?? file.length;
    file.write(kernel.view(sealAt + at.SEAL_BLOCKS));
    return {
      size: this.size,
      postings: [this.#start, this.#flushed],
      blocks: [from, file.length - from],
      index: file.write(kernel.view(sealAt + at.SEAL_INDEX)),
      positions: this.#kept === at.KEEP_POSITIONS,
      sumTotalTermFreq: kernel.float(sealAt + at.SEAL_TOTAL_TERM_FREQ),
      sumDocFreq: kernel.float(sealAt + at.SEAL_DOC_FREQ),
    };
  }

  /** Gives the memory back. */
  release(): void {
    for (const buffer of BUFFERS) this.#kernel.free(this.sealAt + buffer);
    this.#kernel.memory.release(this.sealAt, at.SEAL_BYTES);
  }

  get #flushed(): number {
    return this.#kernel.word(this.sealAt + at.SEAL_FLUSHED);
  }
}
