/** Columns whose numbers are compared as those of another type: `numeric_type` of a sort. */

import type { NumericColumn } from "#hub/engine/searcher/searcher.ts";
import { LONG_MAX, LONG_MIN } from "#hub/search/options/whole-numbers.ts";

/** What sorting reads of a column. */
export type SortColumn = Pick<
  NumericColumn,
  | "min"
  | "max"
  | "safe"
  | "multiValued"
  | "presence"
  | "blockMin"
  | "blockMax"
  | "read"
  | "readExact"
  | "first"
  | "decodeBlock"
>;

/** How a value becomes one of the other type. Both ways keep the order of values, and agree. */
interface Conversion {
  number(value: number): number;
  exact(value: number): bigint;
}

const NANOS_PER_MS = 1_000_000n;

/** Milliseconds as nanoseconds; those that 64 bits don't hold are at their ends. */
export const TO_NANOS: Conversion = {
  number: (timeMs) => Number(nanosOf(timeMs)),
  exact: nanosOf,
};

/** Numbers without their fraction, as a cast in Java; those that 64 bits don't hold are at their ends. */
export const TO_WHOLE: Conversion = {
  number: truncated,
  exact: (value) => within64Bits(BigInt(Math.trunc(value))),
};

function nanosOf(timeMs: number): bigint {
  return within64Bits(BigInt(timeMs) * NANOS_PER_MS);
}

function within64Bits(value: bigint): bigint {
  return value < LONG_MIN ? LONG_MIN : value > LONG_MAX ? LONG_MAX : value;
}

function truncated(value: number): number {
  // 0 is added so that -0 becomes 0.
  return Math.min(Math.max(Math.trunc(value), Number(LONG_MIN)), Number(LONG_MAX)) + 0;
}

export class ConvertedColumn implements SortColumn {
  readonly safe: boolean;
  readonly multiValued: boolean;
  readonly presence: NumericColumn["presence"];
  readonly #column: NumericColumn;
  readonly #conversion: Conversion;
  readonly #many: number[] = [];

  constructor(column: NumericColumn, conversion: Conversion) {
    this.#column = column;
    this.#conversion = conversion;
    this.safe = !(Math.max(-this.min, this.max) > Number.MAX_SAFE_INTEGER);
    this.multiValued = column.multiValued;
    this.presence = column.presence;
  }

  get min(): number {
    return this.#converted(this.#column.min);
  }

  get max(): number {
    return this.#converted(this.#column.max);
  }

  blockMin(block: number): number {
    return this.#converted(this.#column.blockMin(block));
  }

  blockMax(block: number): number {
    return this.#converted(this.#column.blockMax(block));
  }

  read(doc: number, out: number[]): number {
    const count = this.#column.read(doc, out);
    for (let at = 0; at < count; at++) out[at] = this.#converted(out[at]!);
    return count;
  }

  readExact(doc: number, out: bigint[]): number {
    const count = this.#column.read(doc, this.#many);
    for (let at = 0; at < count; at++) out[at] = this.#conversion.exact(this.#many[at]!);
    return count;
  }

  first(doc: number): number {
    return this.#converted(this.#column.first(doc));
  }

  decodeBlock(block: number, out: Float64Array): number {
    const docs = this.#column.decodeBlock(block, out);
    for (let slot = 0; slot < docs; slot++) out[slot] = this.#converted(out[slot]!);
    return docs;
  }

  /** Missing values and the bounds of blocks without any stay as they are. */
  #converted(value: number): number {
    return Number.isFinite(value) ? this.#conversion.number(value) : value;
  }
}
