/**
 * Sorts by a keyword, address or uninverted text field: by ordinal within a segment, by text across segments.
 */

import { parseIp } from "#hub/engine/bytes/ip.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import type { KeywordColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { KeywordValues } from "#hub/search/columns/column-values.ts";
import { scalarText } from "#hub/search/options/json.ts";
import {
  compareRanks,
  type KeySource,
  type Rank,
  type RankOrder,
  type SegmentKey,
  type SortValue,
} from "./key.ts";
import type { SortKey } from "./sort-request.ts";

export class KeywordKeySource implements KeySource {
  readonly order: RankOrder;
  readonly #field: Field | undefined;
  readonly #missing: Rank;
  readonly #largest: boolean;

  constructor(field: Field | undefined, key: Extract<SortKey, { kind: "field" }>) {
    this.#field = field;
    this.order = { kind: field?.type === "ip" ? "address" : "text", descending: key.descending };
    this.#largest = (key.mode ?? (key.descending ? "max" : "min")) === "max";
    this.#missing =
      key.missing === "_last" || key.missing === null
        ? Number.POSITIVE_INFINITY
        : key.missing === "_first"
          ? Number.NEGATIVE_INFINITY
          : scalarText(key.missing, "missing");
  }

  segment(segment: SegmentReader): SegmentKey {
    const { path, type } = this.#field ?? {};
    const column =
      path === undefined ? null : type === "text" ? segment.uninverted(path) : segment.keywordColumn(path);
    return new KeywordKey(column, this.order, this.#missing, this.#largest);
  }

  rankOf(value: unknown): Rank {
    return value === null ? this.#missing : scalarText(value, "search_after");
  }
}

class KeywordKey implements SegmentKey {
  readonly #column: KeywordColumn | null;
  readonly #order: RankOrder;
  readonly #sign: 1 | -1;
  readonly #missing: Rank;
  readonly #missingKey: number;
  readonly #largest: boolean;
  readonly #values = new KeywordValues();

  constructor(column: KeywordColumn | null, order: RankOrder, missing: Rank, largest: boolean) {
    this.#column = column;
    this.#order = order;
    this.#sign = order.descending ? -1 : 1;
    this.#missing = missing;
    this.#largest = largest;
    this.#values.open(column);
    this.#missingKey = this.#slotOf(missing);
  }

  load(docs: Int32Array, _scores: Float32Array | null, length: number, out: Float64Array): void {
    const count = this.#values.read(docs, length);
    const { ordinals, places } = this.#values;
    let lastIndex = -1;
    for (let at = 0; at < count; at++) {
      const index = places[at]!;
      // Ordinals of a document are ascending: the first is the smallest, the last the largest.
      if (index === lastIndex && !this.#largest) continue;
      lastIndex = index;
      out[index] = ordinals[at]! < 0 ? this.#missingKey : this.#sign * ordinals[at]!;
    }
  }

  rank(_doc: number, key: number): Rank {
    if (key === this.#missingKey && !this.#isOrdinal(key)) return this.#missing;
    return this.#column!.text(this.#sign * key);
  }

  value(doc: number, key: number): SortValue {
    const rank = this.rank(doc, key);
    return typeof rank === "string" ? rank : null;
  }

  keyOf(rank: Rank): number {
    const slot = this.#slotOf(rank);
    if (slot !== this.#missingKey || this.#isOrdinal(slot) || rank === this.#missing) return slot;
    // Neither is in the column, and no value of it lies between them.
    return slot + compareRanks([this.#order], [rank], [this.#missing]) / 4;
  }

  /** The ordinal of a text, or a number between those of the values beside it. */
  #slotOf(rank: Rank): number {
    if (typeof rank !== "string") return Number(rank);
    if (this.#column === null) return 0.5;
    const term = this.#column.kind === "ip" ? parseIp(rank) : null;
    const ordinal = this.#column.ordOf(term ?? rank);
    return this.#sign * (ordinal >= 0 ? ordinal : -ordinal - 1.5);
  }

  #isOrdinal(key: number): boolean {
    return this.#column !== null && Number.isInteger(key);
  }
}
