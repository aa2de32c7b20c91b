/**
 * The documents of a terms aggregation, kept as sets, so that the aggregations below it get only those of the buckets that
 * the shard returns: counting all and reading a few again is much less work than a state for every bucket.
 */

import { COLUMN_BLOCK, type KeywordColumn, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { BucketCollector } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import type { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { loadBlock, type SegmentRun } from "#hub/search/columns/set-blocks.ts";

const BLOCK_WORDS = COLUMN_BLOCK / 32;
/** What a word takes of the memory that a bucket is estimated at. */
const WORD_SHARE = 0.04;
/** Blocks between two pauses, of aggregations that take whole runs: a millisecond or less. */
const STEP_BLOCKS = 256;

/** Memory for one block, of whichever segment is read. */
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

  /** Gives the documents to the bucket of each of their values. `byOrdinal`: the bucket, below 0 for none; `size`: of them. */
  *give(byOrdinal: Int32Array, size: number, buckets: BucketCollector): Steps<void> {
    const { column } = this;
    const chosen = { column, byOrdinal, size };
    const blocks = this.#words.length / BLOCK_WORDS;
    buckets.segment(this.segment);
    for (let from = 0; from < blocks; from += STEP_BLOCKS) {
      const to = Math.min(blocks, from + STEP_BLOCKS);
      const run = { from, to, words: this.#words, wordsFrom: 0, docCount: this.segment.docCount };
      yield* buckets.passChosen(run, chosen);
      yield;
    }
  }
}
