/**
 * The blocks of a dictionary, loaded a page at a time: a look-up needs only a few of them, and the whole dictionary of
 * a large text field would evict everything else from the caches of searches.
 */

import { readU32 } from "#hub/engine/bytes/byte-buffer.ts";
import type { SegmentFile } from "#hub/engine/files/segment-file.ts";
import { type DictionaryEntry, TERMS_PER_BLOCK } from "./dictionary-writer.ts";

/** Blocks of a page: 4,096 terms, about 40 KiB. */
const PAGE_BLOCKS = 256;

/** Largest run that is read into the shared scratch memory: 65,536 terms take about 1 MiB. */
const MAX_SCRATCH_BYTES = 4 * 1024 * 1024;

/** Where runs are read. Made when it is needed. */
let scratch = new Uint8Array(0);

/** Some neighbouring blocks. */
export interface DictionaryPage {
  readonly bytes: Uint8Array;
  /** First block, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** Where the page begins among the bytes of all blocks. */
  readonly start: number;
}

/** Reads the pages of one dictionary. */
export class DictionaryPages {
  readonly blockCount: number;
  /** A page without blocks. */
  readonly none: DictionaryPage = { bytes: new Uint8Array(0), from: 0, to: 0, start: 0 };
  readonly #file: SegmentFile;
  readonly #entry: DictionaryEntry;

  constructor(file: SegmentFile, entry: DictionaryEntry) {
    this.#file = file;
    this.#entry = entry;
    this.blockCount = Math.ceil(entry.size / TERMS_PER_BLOCK);
  }

  /** Returns the page that holds a block. `keeps`: it stays cached within the limit. */
  of(block: number, keeps: boolean): DictionaryPage {
    const from = block - (block % PAGE_BLOCKS);
    return this.#read(from, Math.min(this.blockCount, from + PAGE_BLOCKS), keeps);
  }

  /** Returns the bytes of blocks [from, to), valid until the next call: many of them are looked at once only. */
  run(from: number, to: number): Uint8Array {
    const start = this.#startOf(from);
    const length = this.#startOf(to) - start;
    if (length > scratch.length && length <= MAX_SCRATCH_BYTES) scratch = new Uint8Array(MAX_SCRATCH_BYTES);
    return this.#file.read(this.#entry.blocks, start, length, length <= scratch.length ? scratch : undefined);
  }

  /** Bytes from the start of a block to that of another, which may be the one after the last. */
  distance(from: number, to: number): number {
    return this.#startOf(to) - this.#startOf(from);
  }

  /** Where a block begins within its page. */
  placeOf(block: number, page: DictionaryPage): number {
    return this.#startOf(block) - page.start;
  }

  #read(from: number, to: number, keeps: boolean): DictionaryPage {
    const { blocks } = this.#entry;
    const start = this.#startOf(from);
    const length = this.#startOf(to) - start;
    const bytes = keeps ? this.#file.cached(blocks, start, length) : this.#file.read(blocks, start, length);
    return { bytes, from, to, start };
  }

  #startOf(block: number): number {
    if (block >= this.blockCount) return this.#entry.blocks[1];
    return readU32(this.#file.cached(this.#entry.index), 4 * block);
  }
}
