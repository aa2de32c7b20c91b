/**
 * Reads a column (see column-writer.ts): values by document, documents by value, counts by value. The kernel unpacks,
 * compares and counts blocks of packed numbers; the few that it leaves are done here.
 */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import type { SegmentFile } from "#hub/engine/files/segment-file.ts";
import type { ChosenDocuments, ColumnFunctions, ColumnRun } from "#hub/engine/kernel/column-kernel.ts";
import { searchKernel } from "#hub/engine/kernel/search-kernel.ts";
import { COLUMN_BLOCK, type DocRun, type ValueBlock } from "#hub/engine/searcher/searcher.ts";
import { ColumnIndex } from "./column-index.ts";
import type { ColumnEntry } from "./column-writer.ts";
import { DecodedBlock, MASK_WORDS } from "./decoded-block.ts";

/** Blocks that the kernel is given at a time: their bytes stay in the processor's cache. */
export const RUN_BLOCKS = 64;

/** Memory for the values of one block, of whichever column is counted. */
const firsts = new Int32Array(COLUMN_BLOCK);

/** Both inclusive. */
type Bounds = readonly [from: number, to: number];

const columnsOfThread = (): ColumnFunctions => searchKernel().columns;

/** Numbers by document; what they mean is the business of the columns made of it. */
export class BlockColumn {
  readonly entry: ColumnEntry;
  readonly presence: Bitset | null;
  readonly #docCount: number;
  readonly #index: ColumnIndex;
  readonly #kernel: () => ColumnFunctions;
  readonly #decoded: DecodedBlock;

  /**
   * `presence`: documents with a value, null for all. `kernel`: instead of the thread's, which isn't kept: a thread at rest gives
   * it up.
   */
  constructor(
    file: SegmentFile,
    entry: ColumnEntry,
    docCount: number,
    presence: Bitset | null,
    kernel?: ColumnFunctions,
  ) {
    this.entry = entry;
    this.presence = presence;
    this.#docCount = docCount;
    this.#kernel = kernel === undefined ? columnsOfThread : () => kernel;
    this.#index = new ColumnIndex(file, entry, docCount);
    this.#decoded = new DecodedBlock({
      file,
      entry,
      index: this.#index,
      docCount,
      presence,
      kernel: this.#kernel,
    });
  }

  /** Compares, counts and sums blocks of packed numbers. Only for one call, see the constructor. */
  get kernel(): ColumnFunctions {
    return this.#kernel();
  }

  get blockCount(): number {
    return this.#index.blockCount;
  }

  blockMin(block: number): number {
    return this.#index.min(block);
  }

  blockMax(block: number): number {
    return this.#index.max(block);
  }

  /** First value of a document; NaN without one. */
  first(doc: number): number {
    this.#decoded.load(doc >>> 10);
    const slot = doc & (COLUMN_BLOCK - 1);
    const start = this.#decoded.start(slot);
    return start < this.#decoded.start(slot + 1) ? this.#decoded.values[start]! : Number.NaN;
  }

  /** Writes the values of a document to `out` from 0; returns how many. */
  read(doc: number, out: number[]): number {
    this.#decoded.load(doc >>> 10);
    const slot = doc & (COLUMN_BLOCK - 1);
    const start = this.#decoded.start(slot);
    const count = this.#decoded.start(slot + 1) - start;
    for (let index = 0; index < count; index++) out[index] = this.#decoded.values[start + index]!;
    return count;
  }

  /** See DecodedBlock.decodeFirst. */
  decodeFirst(block: number, out: Float64Array | Int32Array, missing: number): number {
    return this.#decoded.decodeFirst(block, out, missing);
  }

  /** See DecodedBlock.decodeValues. */
  decodeValues(block: number, out: ValueBlock): number {
    return this.#decoded.decodeValues(block, out);
  }

  /** The values of a block in the order of its documents; valid until another block is read. */
  valuesOf(block: number): Float64Array {
    this.#decoded.load(block);
    return this.#decoded.values.subarray(0, this.#decoded.start(COLUMN_BLOCK));
  }

  /** Number of the first value of a slot, or of those after it, among the values of the block that was read last. */
  startOf(slot: number): number {
    return this.#decoded.start(slot);
  }

  /** Like `read`, without rounding beyond 2^53. */
  readExact(doc: number, out: bigint[]): number {
    const block = doc >>> 10;
    this.#decoded.load(block);
    const slot = doc & (COLUMN_BLOCK - 1);
    const start = this.#decoded.start(slot);
    const count = this.#decoded.start(slot + 1) - start;
    for (let index = 0; index < count; index++) out[index] = this.#decoded.exact(block, start + index);
    return count;
  }

  /**
   * Writes to `mask` (32 words) which documents of a block have a value in [from, to]. Values beyond 2^53 are compared
   * as they are rounded.
   */
  match(block: number, from: number, to: number, mask: Uint32Array): void {
    mask.fill(0);
    const min = this.blockMin(block);
    const max = this.blockMax(block);
    if (!(min <= to && max >= from)) return;
    if (min >= from && max <= to) this.#copyPresence(block, mask);
    else this.#matchBlocks(block, block + 1, [from, to], false, mask);
  }

  /**
   * Like `match`, of blocks [fromBlock, toBlock), in `words`, which begin with the first document of these. `narrow`:
   * documents that aren't in it before stay out.
   */
  matchAll(fromBlock: number, toBlock: number, bounds: Bounds, words: Uint32Array, narrow: boolean): void {
    for (let block = fromBlock; block < toBlock; block += RUN_BLOCKS) {
      const end = Math.min(toBlock, block + RUN_BLOCKS);
      const [from, to] = [(block - fromBlock) * MASK_WORDS, (end - fromBlock) * MASK_WORDS];
      this.#matchBlocks(block, end, bounds, narrow, words.subarray(from, to));
    }
  }

  #matchBlocks(from: number, to: number, bounds: Bounds, narrow: boolean, words: Uint32Array): void {
    for (const block of this.kernel.match(this.runOf(from, to), bounds[0], bounds[1], narrow, words)) {
      const mask = words.subarray(block * MASK_WORDS, (block + 1) * MASK_WORDS);
      const before = narrow ? mask.slice() : null;
      mask.fill(0);
      this.#matchHere(from + block, bounds[0], bounds[1], mask);
      if (before !== null) for (let word = 0; word < mask.length; word++) mask[word]! &= before[word]!;
    }
  }

  /**
   * Adds one to counts[offset + value] for the value of each document of a run. Values are whole numbers from 0 that
   * `counts` is long enough for. Returns false, having done nothing, where documents have several values.
   */
  count(run: DocRun, counts: Int32Array, offset: number): boolean {
    if (this.entry.multiValued) return false;
    const { kernel } = this;
    const values = this.entry.max + 1;
    if ((run.to - run.from) * COLUMN_BLOCK < values) {
      // The kernel's counters have to be cleared and copied, which takes longer than counting so few documents.
      for (let block = run.from; block < run.to; block++) this.#countHere(block, run, counts, offset);
      return true;
    }
    kernel.startCount(values);
    for (let from = run.from; from < run.to; from += RUN_BLOCKS) {
      const to = Math.min(run.to, from + RUN_BLOCKS);
      const at = (from - run.wordsFrom) * MASK_WORDS;
      const words = run.words?.subarray(at, at + (to - from) * MASK_WORDS) ?? null;
      for (const block of kernel.count(this.runOf(from, to), words, values))
        this.#countHere(from + block, run, counts, offset);
    }
    kernel.addCounts(values, counts, offset);
    return true;
  }

  #countHere(block: number, { words, wordsFrom }: DocRun, counts: Int32Array, offset: number): void {
    const docs = this.#decoded.decodeFirst(block, firsts, -1);
    if (words === null) {
      for (let slot = 0; slot < docs; slot++) if (firsts[slot]! >= 0) counts[offset + firsts[slot]!]!++;
      return;
    }
    const from = (block - wordsFrom) * MASK_WORDS;
    const end = Math.min(words.length, from + Math.ceil(docs / 32));
    for (let word = from; word < end; word++) {
      const base = 32 * (word - from) + 31;
      for (let bits = words[word]!; bits !== 0; bits &= bits - 1) {
        const value = firsts[base - Math.clz32(bits & -bits)]!;
        if (value >= 0) counts[offset + value]!++;
      }
    }
  }

  /**
   * Writes to `out` which documents of a run, ascending, have a value with a slot, and that slot. Values are whole numbers;
   * `slots`: by value, below 0 for none; not to be changed afterwards. Returns how many; -1, having done nothing, where
   * documents have several values.
   */
  choose(run: DocRun, slots: Int32Array, out: ChosenDocuments): number {
    if (this.entry.multiValued) return -1;
    const { from, to, words, wordsFrom } = run;
    const [at, end] = [(from - wordsFrom) * MASK_WORDS, (to - wordsFrom) * MASK_WORDS];
    const count = this.kernel.choose(this.runOf(from, to), words?.subarray(at, end) ?? null, slots, out);
    if (count < 0) return this.#chooseHere(run, slots, out);
    for (let position = 0; position < count; position++) out.docs[position]! += from * COLUMN_BLOCK;
    return count;
  }

  #chooseHere({ from, to, words, wordsFrom }: DocRun, slots: Int32Array, out: ChosenDocuments): number {
    out.docs = grown(out.docs, (to - from) * COLUMN_BLOCK);
    out.slots = grown(out.slots, (to - from) * COLUMN_BLOCK);
    let count = 0;
    for (let block = from; block < to; block++) {
      const docs = this.#decoded.decodeFirst(block, firsts, -1);
      for (let doc = 0; doc < docs; doc++) {
        const bit = (block - wordsFrom) * COLUMN_BLOCK + doc;
        if (words !== null && ((words[bit >>> 5]! >>> (bit & 31)) & 1) === 0) continue;
        const slot = firsts[doc]! < 0 ? -1 : slots[firsts[doc]!]!;
        if (slot < 0) continue;
        out.docs[count] = block * COLUMN_BLOCK + doc;
        out.slots[count++] = slot;
      }
    }
    return count;
  }

  /** What the kernel needs of blocks [from, to). */
  runOf(from: number, to: number): ColumnRun {
    const dataFrom = this.#index.dataAt(from);
    return {
      index: this.#index.entries(from, to),
      blocks: to - from,
      data: this.#decoded.data.subarray(dataFrom, this.#index.dataAt(to)),
      dataFrom,
      docs: Math.min(to * COLUMN_BLOCK, this.#docCount) - from * COLUMN_BLOCK,
      isUnsigned: this.entry.numbers === "unsigned",
      presence: this.presence?.words.subarray(from * MASK_WORDS, to * MASK_WORDS) ?? null,
    };
  }

  #copyPresence(block: number, mask: Uint32Array): void {
    if (this.presence !== null) {
      mask.set(this.#decoded.presentIn(block));
      return;
    }
    const docs = this.#decoded.docsOf(block);
    mask.fill(0xffff_ffff, 0, docs >>> 5);
    if ((docs & 31) !== 0) mask[docs >>> 5] = 2 ** (docs & 31) - 1;
  }

  #matchHere(block: number, from: number, to: number, mask: Uint32Array): void {
    this.#decoded.load(block);
    const docs = this.#decoded.docsOf(block);
    for (let slot = 0, at = 0; slot < docs; slot++) {
      const end = this.#decoded.start(slot + 1);
      for (; at < end; at++) {
        const value = this.#decoded.values[at]!;
        if (value >= from && value <= to) mask[slot >>> 5]! |= 1 << (slot & 31);
      }
    }
  }
}
