/**
 * The documents of a terms aggregation, kept as sets, so that the aggregations below it get only those of the buckets that
 * the shard returns: counting all and reading a few again is much less work than a state for every bucket.
 */

import { COLUMN_BLOCK, type KeywordColumn, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { BucketCollector } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import type { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { KeywordValues } from "#hub/search/columns/column-values.ts";
import { expandMask, loadBlock, loadMask, type SegmentRun } from "#hub/search/columns/set-blocks.ts";

const BLOCK_WORDS = COLUMN_BLOCK / 32;
/** What a word takes of the memory that a bucket is estimated at. */
const WORD_SHARE = 0.04;
/** Blocks between two pauses: well below a millisecond. */
const STEP_BLOCKS = 8;

/** Memory for one block, of whichever segment is read. */
const ordinals = new Int32Array(COLUMN_BLOCK);
const docs = new Int32Array(COLUMN_BLOCK);
const mask = new Uint32Array(BLOCK_WORDS);

/** The documents of one segment. */
export class LateDocuments {
  readonly segment: SegmentReader;
  readonly column: KeywordColumn;
  readonly #words: Uint32Array;

  /** Throws memory_limit. */
  constructor(segment: SegmentReader, column: KeywordColumn, budget: CollectBudget) {
    this.segment = segment;
    this.column = column;
    const words = Math.ceil(segment.docCount / COLUMN_BLOCK) * BLOCK_WORDS;
    budget.add(words * WORD_SHARE);
    this.#words = new Uint32Array(words);
  }

  add(docs: Int32Array, length: number): void {
    const words = this.#words;
    for (let at = 0; at < length; at++) words[docs[at]! >>> 5]! |= 1 << (docs[at]! & 31);
  }

  addRun(run: SegmentRun): void {
    for (let block = run.from; block < run.to; block++) {
      if (loadBlock(run, block, mask) === 0) continue;
      const from = block * BLOCK_WORDS;
      for (let word = 0; word < BLOCK_WORDS; word++) this.#words[from + word]! |= mask[word]!;
    }
  }

  /** Gives the documents to the bucket of each of their values; `bucketOf`: by ordinal, below 0 for none. */
  *give(bucketOf: Int32Array, buckets: BucketCollector): Steps<void> {
    const values = new KeywordValues();
    buckets.segment(this.segment);
    values.open(this.column);
    for (let block = 0; block * BLOCK_WORDS < this.#words.length; block++) {
      if (block % STEP_BLOCKS === STEP_BLOCKS - 1) yield;
      if (this.column.multiValued) this.#giveMany(block, values, bucketOf, buckets);
      else this.#giveSingle(block, bucketOf, buckets);
    }
    buckets.flush();
  }

  /** Fast path: most documents have no bucket, so as little as possible is done for each. */
  #giveSingle(block: number, bucketOf: Int32Array, buckets: BucketCollector): void {
    const from = block * BLOCK_WORDS;
    const words = this.#words.subarray(from, from + BLOCK_WORDS);
    if (words.every((word) => word === 0)) return;
    const length = this.column.decodeBlock(block, ordinals);
    for (let slot = 0; slot < length; slot++) {
      const ordinal = ordinals[slot]!;
      if (ordinal < 0 || bucketOf[ordinal]! < 0) continue;
      if (((words[slot >>> 5]! >>> (slot & 31)) & 1) === 0) continue;
      buckets.add(block * COLUMN_BLOCK + slot, bucketOf[ordinal]!);
    }
  }

  #giveMany(block: number, values: KeywordValues, bucketOf: Int32Array, buckets: BucketCollector): void {
    const length = loadMask(this.#words, block, mask);
    if (length === 0) return;
    expandMask(block, mask, length, docs);
    const count = values.read(docs, length);
    for (let at = 0; at < count; at++) {
      const ordinal = values.ordinals[at]!;
      const bucket = ordinal < 0 ? -1 : bucketOf[ordinal]!;
      if (bucket >= 0) buckets.add(docs[values.places[at]!]!, bucket);
    }
  }
}
