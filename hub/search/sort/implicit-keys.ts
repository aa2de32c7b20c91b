/** Keys that need no field: the score, and the order in the index. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { KeySource, Rank, SegmentKey } from "./shard-sort.ts";

export class ScoreKeySource implements KeySource {
  readonly #sign: number;

  constructor(descending: boolean) {
    this.#sign = descending ? -1 : 1;
  }

  segment(): SegmentKey {
    const sign = this.#sign;
    return {
      load(_docs, scores, length, out) {
        for (let at = 0; at < length; at++) out[at] = sign * (scores?.[at] ?? 0);
      },
      rank: (_doc, key) => key,
      value: (_doc, key) => sign * key,
      keyOf: (rank) => rank as number,
    };
  }

  compare(a: Rank, b: Rank): number {
    return (a as number) - (b as number);
  }

  rankOf(value: unknown): Rank {
    return this.#sign * Math.fround(Number(value));
  }
}

/** Numbers documents over the segments of the shard. */
export class DocKeySource implements KeySource {
  readonly #sign: number;
  readonly #bases = new Map<string, number>();

  constructor(descending: boolean, shard: ShardContext) {
    this.#sign = descending ? -1 : 1;
    let base = 0;
    for (const segment of shard.searcher.segments) {
      this.#bases.set(segment.name, base);
      base += segment.docCount;
    }
  }

  segment(segment: SegmentReader): SegmentKey {
    const sign = this.#sign;
    const base = this.#bases.get(segment.name) ?? 0;
    return {
      load(docs, _scores, length, out) {
        for (let at = 0; at < length; at++) out[at] = sign * (base + docs[at]!);
      },
      rank: (_doc, key) => key,
      value: (_doc, key) => sign * key,
      keyOf: (rank) => rank as number,
    };
  }

  compare(a: Rank, b: Rank): number {
    return (a as number) - (b as number);
  }

  rankOf(value: unknown): Rank {
    return this.#sign * Number(value);
  }
}
