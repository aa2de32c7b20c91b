/** Matches documents with a number, date or boolean within bounds, skipping column blocks out of bounds. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { COLUMN_BLOCK, type NumericColumn, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Query, QueryDescription, ScoreMode, ShardContext, Weight } from "#hub/search/query/query.ts";
import { inverseDocumentFrequency } from "#hub/search/scoring/bm25.ts";
import { type BlockMatch, BlockScorer } from "./block-scorer.ts";
import { countLive } from "./set-algebra.ts";

/** Both bounds inclusive; exact bounds as bigint if the column's values may exceed 2^53. */
export interface NumericBounds {
  readonly from: number;
  readonly to: number;
  readonly exactFrom?: bigint;
  readonly exactTo?: bigint;
}

export class NumericRangeNode implements Query {
  readonly #field: string;
  readonly #bounds: NumericBounds;

  constructor(field: string, bounds: NumericBounds) {
    this.#field = field;
    this.#bounds = bounds;
  }

  weight(_shard: ShardContext, { boost }: ScoreMode): Weight {
    const { from, to, exactFrom, exactTo } = this.#bounds;
    const key = `range ${JSON.stringify([this.#field, String(exactFrom ?? from), String(exactTo ?? to)])}`;
    const set = (segment: SegmentReader): Bitset | null => {
      const column = segment.numericColumn(this.#field);
      if (column === null || !this.#overlaps(column)) return null;
      return segment.remembered(key, () => {
        if (!column.safe)
          return new NumericRangeScorer(column, this.#bounds, segment.docCount, boost).toSet();
        const found = new Bitset(segment.docCount);
        column.matchAll(from, to, found);
        return found;
      });
    };
    return {
      key,
      set,
      scorer: (segment) => {
        const column = segment.numericColumn(this.#field);
        if (column === null || !this.#overlaps(column)) return null;
        return new NumericRangeScorer(column, this.#bounds, segment.docCount, boost);
      },
      count: (segment) => {
        const column = segment.numericColumn(this.#field);
        if (column === null || !this.#overlaps(column)) return 0;
        const isWhole = column.safe && column.min >= from && column.max <= to;
        if (isWhole && segment.liveDocs === null) return column.docCount;
        return countLive(set(segment), segment);
      },
    };
  }

  canMatch({ searcher }: ShardContext): boolean {
    return searcher.segments.some((segment) => {
      const column = segment.numericColumn(this.#field);
      return column !== null && this.#overlaps(column);
    });
  }

  describe(): QueryDescription {
    const { from, to, exactFrom, exactTo } = this.#bounds;
    const text = `${this.#field}:[${exactFrom ?? from} TO ${exactTo ?? to}]`;
    return { type: "IndexOrDocValuesQuery", text };
  }

  #overlaps({ min, max }: NumericColumn): boolean {
    return min <= this.#bounds.to && max >= this.#bounds.from;
  }
}

/** Documents with a value of a boolean field, scored like a term that occurs once. */
export class BooleanValueNode implements Query {
  readonly #field: string;
  readonly #value: 0 | 1;
  readonly #range: NumericRangeNode;

  constructor(field: string, value: 0 | 1) {
    this.#field = field;
    this.#value = value;
    this.#range = new NumericRangeNode(field, { from: value, to: value });
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    const boost = mode.scores ? mode.boost * this.#idf(shard, mode) : mode.boost;
    return this.#range.weight(shard, { ...mode, boost });
  }

  describe(): QueryDescription {
    return { type: "TermQuery", text: `${this.#field}:${this.#value === 1 ? "T" : "F"}` };
  }

  #idf(shard: ShardContext, mode: ScoreMode): number {
    const { set } = this.#range.weight(shard, mode);
    let [docFreq, docCount] = [0, 0];
    for (const segment of shard.searcher.segments) {
      docFreq += set!(segment)?.count() ?? 0;
      docCount += segment.numericColumn(this.#field)?.docCount ?? 0;
    }
    return Math.fround(inverseDocumentFrequency(docFreq, docCount));
  }
}

class NumericRangeScorer extends BlockScorer {
  readonly #column: NumericColumn;
  readonly #bounds: NumericBounds;
  readonly #docCount: number;
  readonly #exact: bigint[] = [];

  constructor(column: NumericColumn, bounds: NumericBounds, docCount: number, score: number) {
    super(docCount, column.docCount, score);
    this.#column = column;
    this.#bounds = bounds;
    this.#docCount = docCount;
  }

  protected load(block: number): BlockMatch {
    const column = this.#column;
    const { from, to } = this.#bounds;
    const min = column.blockMin(block);
    const max = column.blockMax(block);
    if (!(min <= to && max >= from)) return "none";
    if (!column.safe) return this.#loadExact(block);
    if (min >= from && max <= to && column.presence === null) return "all";
    column.match(block, from, to, this.bits);
    return "some";
  }

  /** Numbers beyond 2^53 are compared one by one. */
  #loadExact(block: number): BlockMatch {
    const { from, to, exactFrom, exactTo } = this.#bounds;
    const base = block * COLUMN_BLOCK;
    const length = Math.min(COLUMN_BLOCK, this.#docCount - base);
    for (let slot = 0; slot < length; slot++) {
      const count = this.#column.readExact(base + slot, this.#exact);
      for (let at = 0; at < count; at++) {
        const value = this.#exact[at]!;
        if (
          (exactFrom !== undefined ? value >= exactFrom : value >= from) &&
          (exactTo !== undefined ? value <= exactTo : value <= to)
        ) {
          this.bits[slot >>> 5]! |= 1 << (slot & 31);
          break;
        }
      }
    }
    return "some";
  }
}
