/**
 * Sort keys. Within a segment the key of a document is a number, the smaller the earlier; between segments and shards ranks
 * are compared: numbers or text.
 */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";

/** Position of a hit by one key: a number, or text; ±Infinity for missing text. */
export type Rank = number | string;

/** What an answer's `sort` shows. */
export type SortValue = number | string | bigint | null;

/** One key in one shard. */
export interface KeySource {
  segment(segment: SegmentReader): SegmentKey;
  /** Compares ranks of different segments or shards. */
  compare(a: Rank, b: Rank): number;
  /** Rank of a value of search_after. Throws request_invalid. */
  rankOf(value: unknown): Rank;
}

/** One key in one segment. */
export interface SegmentKey {
  /** Writes the keys of documents (ascending) to `out`. */
  load(docs: Int32Array, scores: Float32Array | null, length: number, out: Float64Array): void;
  /** Rank of a document whose key is `key`. */
  rank(doc: number, key: number): Rank;
  /** What is shown of it. */
  value(doc: number, key: number): SortValue;
  /** Key at which a rank stands in this segment; between two keys where no document has it. */
  keyOf(rank: Rank): number;
  /** Smallest key that a document of the column block may have; absent where that isn't known. */
  bestOfBlock?(block: number): number;
  /**
   * Removes documents of blocks [from, to) from `words` (one bit per document of these) that can't have a key at or below
   * `bound`; some that can't may stay.
   */
  narrow?(from: number, to: number, bound: number, words: Uint32Array): void;
}

/** Compares hits by their ranks. */
export function compareRanks(sources: readonly KeySource[], a: readonly Rank[], b: readonly Rank[]): number {
  for (let at = 0; at < sources.length; at++) {
    const result = sources[at]!.compare(a[at]!, b[at]!);
    if (result !== 0) return result;
  }
  return 0;
}
