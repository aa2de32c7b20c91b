/** Sort keys without a column: the score, the index order, `_index`, `_type`, `_id`, the number that a script makes. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Script } from "#hub/scripts/script.ts";
import { scalarText } from "#hub/search/options/json.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { numberOn } from "#hub/search/scripting/document-script.ts";
import { AppError } from "#proto/kit/errors.ts";
import { fraction, singleFraction } from "#proto/kit/number-text.ts";
import {
  type KeySource,
  NUMBER_ORDER,
  type Rank,
  type RankOrder,
  type SegmentKey,
  type SortValue,
} from "./key.ts";

export class ScoreKeySource implements KeySource {
  readonly order = NUMBER_ORDER;
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
      value: (_doc, key) => singleFraction(sign * key),
      keyOf: (rank) => rank as number,
    };
  }

  rankOf(value: unknown): Rank {
    return this.#sign * Math.fround(Number(value));
  }
}

/** A shard has fewer documents, and 2^21 shards fit below 2^53. */
const SHARD_STEP = 2 ** 32;

/** Numbers documents over the segments of the shard; with `shardOrder` over all shards of the search. */
export class DocKeySource implements KeySource {
  readonly order = NUMBER_ORDER;
  readonly #sign: number;
  readonly #bases = new Map<string, number>();

  constructor(descending: boolean, shard: ShardContext, shardOrder = 0) {
    this.#sign = descending ? -1 : 1;
    let base = shardOrder * SHARD_STEP;
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

  rankOf(value: unknown): Rank {
    return this.#sign * Number(value);
  }
}

/** A text that all documents of a shard share: the name of their index or type. */
export class SharedTextKeySource implements KeySource {
  readonly order: RankOrder;
  readonly #text: string;
  readonly #sign: 1 | -1;

  constructor(text: string, descending: boolean) {
    this.order = { kind: "text", descending };
    this.#text = text;
    this.#sign = descending ? -1 : 1;
  }

  segment(): SegmentKey {
    const text = this.#text;
    return {
      load: (_docs, _scores, length, out) => out.fill(0, 0, length),
      rank: () => text,
      value: () => text,
      // Texts before and after it are beside the only key.
      keyOf: (rank) => this.#sign * Math.sign(compareIds(String(rank), text)),
    };
  }

  rankOf(value: unknown): Rank {
    return scalarText(value, "search_after");
  }
}

/** Documents of a segment up to which ids are ordered: 8 bytes each are kept, and their texts for a moment. */
const MAX_DOCS = 2_000_000;

/** Positions of documents in the order of their ids, and the other way round. */
interface IdOrder {
  readonly placeOf: Int32Array;
  readonly docAt: Int32Array;
}

/** By the segment's reader, so that it lives as long as that. */
const orders = new WeakMap<SegmentReader, IdOrder>();

export class IdKeySource implements KeySource {
  readonly order: RankOrder;
  readonly #sign: 1 | -1;

  constructor(descending: boolean) {
    this.order = { kind: "text", descending };
    this.#sign = descending ? -1 : 1;
  }

  segment(segment: SegmentReader): SegmentKey {
    return new IdKey(segment, this.#sign);
  }

  rankOf(value: unknown): Rank {
    return scalarText(value, "search_after");
  }
}

class IdKey implements SegmentKey {
  readonly #segment: SegmentReader;
  readonly #sign: 1 | -1;
  readonly #order: IdOrder;

  constructor(segment: SegmentReader, sign: 1 | -1) {
    this.#segment = segment;
    this.#sign = sign;
    this.#order = orderOf(segment);
  }

  load(docs: Int32Array, _scores: Float32Array | null, length: number, out: Float64Array): void {
    for (let at = 0; at < length; at++) out[at] = this.#sign * this.#order.placeOf[docs[at]!]!;
  }

  rank(doc: number): Rank {
    return this.#segment.id(doc);
  }

  value(doc: number): SortValue {
    return this.#segment.id(doc);
  }

  keyOf(rank: Rank): number {
    const wanted = String(rank);
    let low = 0;
    let high = this.#order.docAt.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareIds(this.#segment.id(this.#order.docAt[middle]!), wanted) < 0) low = middle + 1;
      else high = middle;
    }
    const isThere = low < this.#order.docAt.length && this.#segment.id(this.#order.docAt[low]!) === wanted;
    return this.#sign * (isThere ? low : low - 0.5);
  }
}

function orderOf(segment: SegmentReader): IdOrder {
  const known = orders.get(segment);
  if (known !== undefined) return known;
  if (segment.docCount > MAX_DOCS) {
    throw new AppError(
      "memory_limit",
      `sorting by [_id] holds all ids in memory, and a segment has more than ${MAX_DOCS}; sort by a field or by [_doc]`,
    );
  }
  const ids = Array.from({ length: segment.docCount }, (_, doc) => segment.id(doc));
  const docAt = Int32Array.from(ids.keys()).sort((a, b) => compareIds(ids[a]!, ids[b]!) || a - b);
  const placeOf = new Int32Array(docAt.length);
  docAt.forEach((doc, index) => {
    placeOf[doc] = index;
  });
  const order = { placeOf, docAt };
  orders.set(segment, order);
  return order;
}

/** By UTF-8 bytes. */
function compareIds(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Steps of one run: those of a batch of some thousand documents have the thread without a pause, for less than a second. */
const MAX_STEPS = 1_000;

/** Sorts by the number that a script makes of a document. */
export class ScriptKeySource implements KeySource {
  readonly order = NUMBER_ORDER;
  readonly #sign: 1 | -1;
  readonly #bind: ReturnType<typeof numberOn>;

  constructor(script: Script, descending: boolean, shard: ShardContext) {
    this.#sign = descending ? -1 : 1;
    this.#bind = numberOn(script, shard, MAX_STEPS);
  }

  segment(segment: SegmentReader): SegmentKey {
    const sign = this.#sign;
    const numberOf = this.#bind(segment);
    return {
      load(docs, scores, length, out) {
        for (let at = 0; at < length; at++) {
          const value = numberOf(docs[at]!, scores?.[at] ?? 0);
          if (Number.isNaN(value)) throw new AppError("request_invalid", "the script of [sort] returned NaN");
          out[at] = sign * value;
        }
      },
      rank: (_doc, key) => key,
      value: (_doc, key) => shown(sign * key),
      keyOf: (rank) => rank as number,
    };
  }

  rankOf(value: unknown): Rank {
    const number = Number(value);
    if (!Number.isNaN(number)) return this.#sign * number;
    throw new AppError(
      "request_invalid",
      `Failed to parse search_after value for [_script]: "${String(value)}"`,
    );
  }
}

function shown(value: number): SortValue {
  if (Number.isFinite(value)) return fraction(value === 0 ? 0 : value);
  return value > 0 ? "Infinity" : "-Infinity";
}
