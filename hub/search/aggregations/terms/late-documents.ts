/**
 * The documents of a terms aggregation, kept as sets, so that the aggregations below it get only those of the buckets that
 * the shard returns: counting all and reading a few again is much less work than a state for every bucket.
 */

import { COLUMN_BLOCK, type KeywordColumn, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { BucketCollector } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { KeywordValues } from "#hub/search/columns/column-values.ts";
import { expandMask, loadBlock, loadMask, type SegmentRun } from "#hub/search/columns/set-blocks.ts";

const BLOCK_WORDS = COLUMN_BLOCK / 32;
/** Blocks between two pauses: well below a millisecond. */
const STEP_BLOCKS = 8;

/** The documents of one segment. */
export class LateDocuments {
  readonly segment: SegmentReader;
  readonly column: KeywordColumn;
  readonly #words: Uint32Array;

  constructor(segment: SegmentReader, column: KeywordColumn) {
    this.segment = segment;
    this.column = column;
    this.#words = new Uint32Array(Math.ceil(segment.docCount / COLUMN_BLOCK) * BLOCK_WORDS);
  }

  add(docs: Int32Array, length: number): void {
    const words = this.#words;
    for (let at = 0; at < length; at++) words[docs[at]! >>> 5]! |= 1 << (docs[at]! & 31);
  }

  addRun(run: SegmentRun): void {
    const mask = new Uint32Array(BLOCK_WORDS);
    for (let block = run.from; block < run.to; block++) {
      if (loadBlock(run, block, mask) === 0) continue;
      const from = block * BLOCK_WORDS;
      for (let word = 0; word < BLOCK_WORDS; word++) this.#words[from + word]! |= mask[word]!;
    }
  }

  /** Gives the documents to the bucket of each of their values; `bucketOf`: by ordinal, below 0 for none. */
  *give(bucketOf: Int32Array, buckets: BucketCollector): Steps<void> {
    const { segment, column } = this;
    const values = new KeywordValues();
    const mask = new Uint32Array(BLOCK_WORDS);
    const docs = new Int32Array(COLUMN_BLOCK);
    buckets.segment(segment);
    values.open(column);
    for (let block = 0; block * BLOCK_WORDS < this.#words.length; block++) {
      if (block % STEP_BLOCKS === STEP_BLOCKS - 1) yield;
      const length = loadMask(this.#words, block, mask);
      if (length === 0) continue;
      expandMask(block, mask, length, docs);
      const count = values.read(docs, length);
      const { ordinals, places } = values;
      for (let at = 0; at < count; at++) {
        const bucket = ordinals[at]! < 0 ? -1 : bucketOf[ordinals[at]!]!;
        if (bucket >= 0) buckets.add(docs[places[at]!]!, bucket);
      }
    }
    buckets.flush();
  }
}
