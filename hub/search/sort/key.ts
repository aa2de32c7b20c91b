/**
 * Sort keys. Within a segment the key of a document is a number, the smaller the earlier; between segments and shards ranks
 * are compared: numbers or text.
 */

import { parseIp } from "#hub/engine/bytes/ip.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { NumberText } from "#proto/kit/number-text.ts";

/** Position of a hit by one key: a number, a whole one beyond 2^53, or text; ±Infinity for missing text. */
export type Rank = number | bigint | string;

/** How ranks of different segments, shards or hosts compare. Plain data, so that it can be sent. */
export interface RankOrder {
  /** Numbers are ascending; "text" by UTF-8 bytes, "address" by the addresses in texts. */
  readonly kind: "number" | "text" | "address";
  /** Only of texts: the last comes first. Numbers have their sign turned. */
  readonly descending: boolean;
}

/** Ranks that are numbers. */
export const NUMBER_ORDER: RankOrder = { kind: "number", descending: false };

/** What an answer's `sort` shows. */
export type SortValue = NumberText | number | string | bigint | null;

/** One key in one shard. */
export interface KeySource {
  segment(segment: SegmentReader): SegmentKey;
  readonly order: RankOrder;
  /** Rank of a value of search_after. Throws request_invalid. */
  rankOf(value: unknown): Rank;
}

/** Keys of documents that may become hits, both ends included. */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
}

/** One key in one segment. */
export interface SegmentKey {
  /** Writes the keys of documents (ascending) to `out`. */
  load(docs: Int32Array, scores: Float32Array | null, length: number, out: Float64Array): void;
  /**
   * Like `load`, of keys that numbers can't hold: `rest` gets what is to be added to them, by which documents of equal keys
   * are ordered. A key out of the range that is wanted may be rounded as long as it stays on its side of it. Absent: `load`
   * writes them as they are.
   */
  loadExact?(docs: Int32Array, length: number, out: Float64Array, rest: Float64Array, wanted: KeyRange): void;
  /** With `loadExact`: what is to be added to the key of a rank. */
  restOf?(rank: Rank): number;
  /** Rank of a document whose key is `key`. */
  rank(doc: number, key: number): Rank;
  /** What is shown of it. */
  value(doc: number, key: number): SortValue;
  /** Key of a rank in this segment; between two keys if no document has it. */
  keyOf(rank: Rank): number;
  /** Key of a value that was computed of several, as precise as those of documents; absent if these aren't rounded. */
  rounded?(key: number): number;
  /** Smallest key that a document of the column block may have; absent if that isn't known. */
  bestOfBlock?(block: number): number;
  /** Largest key that a document of the block may have; absent if that isn't known. */
  worstOfBlock?(block: number): number;
  /**
   * Removes documents of blocks [from, to) from `words` (one bit per document of these) that can't have a key at or below
   * `bound`; some that can't may stay.
   */
  narrow?(from: number, to: number, bound: number, words: Uint32Array): void;
}

/** Compares hits by their ranks. */
export function compareRanks(orders: readonly RankOrder[], a: readonly Rank[], b: readonly Rank[]): number {
  for (let at = 0; at < orders.length; at++) {
    const result = compareRank(orders[at]!, a[at]!, b[at]!);
    if (result !== 0) return result;
  }
  return 0;
}

function compareRank({ kind, descending }: RankOrder, a: Rank, b: Rank): number {
  if (a === b) return 0;
  if (typeof a !== "string" && typeof b !== "string") return a < b ? -1 : a > b ? 1 : 0;
  // An infinite number means a missing text.
  if (typeof a !== "string") return Number(a);
  if (typeof b !== "string") return -Number(b);
  const compared = Buffer.compare(rankBytes(a, kind), rankBytes(b, kind));
  return descending ? -compared : compared;
}

/** Bytes by which texts are ordered. */
function rankBytes(text: string, kind: RankOrder["kind"]): Uint8Array {
  return (kind === "address" ? parseIp(text) : null) ?? Buffer.from(text);
}
