/** Queries that need no terms: all documents, none, those with given ids, those with a field. */

import type { SegmentReader } from "#hub/engine/searcher.ts";
import { Bitset } from "#hub/engine/segment/bitset.ts";
import type { Query, ScoreMode, Scorer, ShardContext, Weight } from "../query.ts";
import { AllScorer, BitsetScorer } from "./block-scorer.ts";

/** Every document, each with the score 1. */
export class AllNode implements Query {
  weight(_shard: ShardContext, { boost }: ScoreMode): Weight {
    return {
      scorer: (segment) => (segment.docCount === 0 ? null : new AllScorer(segment.docCount, boost)),
      count: (segment) => segment.liveCount,
    };
  }
}

/** No document. */
export class NoneNode implements Query {
  weight(): Weight {
    return { scorer: () => null, count: () => 0 };
  }
}

/** Documents that `select` picks in a segment; each has the score 1. */
export abstract class SetNode implements Query {
  /** Returns the documents, which may be shared and aren't changed; null for none. */
  protected abstract select(segment: SegmentReader, shard: ShardContext): Bitset | null;

  weight(shard: ShardContext, { boost }: ScoreMode): Weight {
    return {
      scorer: (segment): Scorer | null => {
        const set = this.select(segment, shard);
        return set === null ? null : new BitsetScorer(set, boost);
      },
      count: (segment) => (segment.liveDocs === null ? (this.select(segment, shard)?.count() ?? 0) : -1),
    };
  }
}

/** Documents with one of these ids. */
export class IdsNode extends SetNode {
  readonly #ids: readonly string[];

  constructor(ids: readonly string[]) {
    super();
    this.#ids = ids;
  }

  protected select(segment: SegmentReader): Bitset | null {
    let set: Bitset | null = null;
    for (const id of this.#ids) {
      const doc = segment.docOf(id);
      if (doc >= 0) (set ??= new Bitset(segment.docCount)).add(doc);
    }
    return set;
  }
}

/** Documents with a value of a field; of an object: of any field below it. `pattern` may hold `*`. */
export class ExistsNode extends SetNode {
  readonly #pattern: string;

  constructor(pattern: string) {
    super();
    this.#pattern = pattern;
  }

  protected select(segment: SegmentReader, { mapping }: ShardContext): Bitset | null {
    const pattern = mapping.isObject(this.#pattern) ? `${this.#pattern}.*` : this.#pattern;
    let all: Bitset | null = null;
    let owned = false;
    for (const field of mapping.match(pattern)) {
      const set = segment.exists(field.aliasOf ?? field.path);
      if (set === null) continue;
      if (all === null) all = set;
      else {
        all = owned ? all.or(set) : all.clone().or(set);
        owned = true;
      }
    }
    return all;
  }
}
