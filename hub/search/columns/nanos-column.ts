/** A column of `date_nanos` as milliseconds, for aggregations and scores. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { millisOf } from "#hub/engine/mapping/date-nanos.ts";
import { COLUMN_BLOCK, type NumericColumn, type ValueBlock } from "#hub/engine/searcher/searcher.ts";

const NANOS_PER_MS = 1e6;

/** Share of a millisecond by which a time that is rounded to a number may be off after division. */
const ROUNDING = 0.001;

export class NanosColumn implements NumericColumn {
  readonly kind = "date";
  /** Whole milliseconds are exact as numbers. */
  readonly safe = true;
  readonly docCount: number;
  readonly valueCount: number;
  readonly multiValued: boolean;
  readonly presence: Bitset | null;
  readonly blockCount: number;
  /** The column in nanoseconds. */
  readonly #nanos: NumericColumn;
  readonly #exact: bigint[] = [];

  constructor(nanos: NumericColumn) {
    this.#nanos = nanos;
    this.docCount = nanos.docCount;
    this.valueCount = nanos.valueCount;
    this.multiValued = nanos.multiValued;
    this.presence = nanos.presence;
    this.blockCount = nanos.blockCount;
  }

  get min(): number {
    return low(this.#nanos.min);
  }

  get max(): number {
    return high(this.#nanos.max);
  }

  blockMin(block: number): number {
    return low(this.#nanos.blockMin(block));
  }

  blockMax(block: number): number {
    return high(this.#nanos.blockMax(block));
  }

  read(doc: number, out: number[]): number {
    const count = this.#nanos.readExact(doc, this.#exact);
    for (let at = 0; at < count; at++) out[at] = millisOf(this.#exact[at]!);
    return count;
  }

  readExact(doc: number, out: bigint[]): number {
    const count = this.#nanos.readExact(doc, this.#exact);
    for (let at = 0; at < count; at++) out[at] = BigInt(millisOf(this.#exact[at]!));
    return count;
  }

  first(doc: number): number {
    return this.#nanos.readExact(doc, this.#exact) === 0 ? Number.NaN : millisOf(this.#exact[0]!);
  }

  decodeBlock(block: number, out: Float64Array): number {
    const docs = this.#nanos.decodeBlock(block, out);
    for (let slot = 0; slot < docs; slot++)
      if (!Number.isNaN(out[slot]!)) out[slot] = this.first(block * COLUMN_BLOCK + slot);
    return docs;
  }

  decodeValues(block: number, out: ValueBlock): number {
    const count = this.#nanos.decodeValues(block, out);
    for (let at = 0, each = 0; at < count; at++) {
      each = at > 0 && out.slots[at] === out.slots[at - 1] ? each + 1 : 0;
      this.#nanos.readExact(block * COLUMN_BLOCK + out.slots[at]!, this.#exact);
      out.values[at] = millisOf(this.#exact[each]!);
    }
    return count;
  }

  match(block: number, from: number, to: number, mask: Uint32Array): void {
    mask.fill(0);
    this.#each(block, from, to, (slot) => {
      mask[slot >>> 5]! |= 1 << (slot & 31);
    });
  }

  matchAll(from: number, to: number, set: Bitset): void {
    for (let block = 0; block < this.blockCount; block++)
      this.#each(block, from, to, (slot) => set.add(block * COLUMN_BLOCK + slot));
  }

  /** Times aren't numbers from 0 on. */
  count(): boolean {
    return false;
  }

  sumBy(): boolean {
    return false;
  }

  /** Calls `take` for the documents of a block with a time in [from, to]. */
  #each(block: number, from: number, to: number, take: (slot: number) => void): void {
    if (this.blockMin(block) > to || this.blockMax(block) < from) return;
    const docs = this.#nanos.decodeBlock(block, this.#decoded);
    for (let slot = 0; slot < docs; slot++) {
      if (Number.isNaN(this.#decoded[slot]!)) continue;
      const count = this.#nanos.readExact(block * COLUMN_BLOCK + slot, this.#exact);
      for (let at = 0; at < count; at++) {
        const timeMs = millisOf(this.#exact[at]!);
        if (timeMs < from || timeMs > to) continue;
        take(slot);
        break;
      }
    }
  }

  readonly #decoded = new Float64Array(COLUMN_BLOCK);
}

/** Bounds in nanoseconds, rounded outwards. */
function low(nanos: number): number {
  return Math.floor(nanos / NANOS_PER_MS - ROUNDING);
}

function high(nanos: number): number {
  return Math.floor(nanos / NANOS_PER_MS + ROUNDING);
}
