/**
 * Numbers for the terms of a field that hold for all segments: counts by ordinal are added up by number, and no term is
 * compared. A segment's terms are numbered once, when they are first counted. Those of a thread, used last, are kept.
 */

import type { KeywordColumn } from "#hub/engine/searcher/searcher.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { TermTable } from "./term-table.ts";

/** Memory of all tables. */
const LIMIT_BYTES = 96 * 1024 * 1024;
/** One table must not push out all others. */
const LARGEST_SHARE = 1 / 2;
/** Memory of a term: its bytes, where it ends, its hash, its slots, its number in some segments. */
const TERM_BYTES = 64;
/** A table with so many times the terms of the segments is made again: most of its terms are gone. */
const STALE_FACTOR = 2;
/** Terms that a table may have whatever the segments have. */
const FEW_TERMS = 10_000;
/** Terms between two pauses: well below a millisecond. */
const STEP_TERMS = 1024;

/** The terms of one field. */
export class SharedTerms {
  readonly table = new TermTable({ add: () => undefined });
  readonly #numbers = new WeakMap<KeywordColumn, Int32Array>();

  /** Returns the number of each ordinal of a column; numbers are added in steps. */
  *numbersOf(column: KeywordColumn): Steps<Int32Array> {
    const known = this.#numbers.get(column);
    if (known !== undefined) return known;
    const numbers = new Int32Array(column.cardinality);
    const reader = column.reader();
    for (let ordinal = 0; ordinal < numbers.length; ordinal++) {
      if (ordinal % STEP_TERMS === STEP_TERMS - 1) yield;
      numbers[ordinal] = this.table.number(reader.bytes(ordinal));
    }
    this.#numbers.set(column, numbers);
    return numbers;
  }
}

/** Keeps the terms of the fields used last. */
export class SharedTermsCache {
  readonly #limitBytes: number;
  /** In the order of their use, the oldest first. */
  readonly #fields = new Map<string, SharedTerms>();

  constructor(limitBytes = LIMIT_BYTES) {
    this.#limitBytes = limitBytes;
  }

  /**
   * Returns the terms of a field of an index (by UUID); undefined where they would take too much memory. `values`: terms of all segments, those
   * of several segments several times.
   */
  open(index: string, path: string, values: number): SharedTerms | undefined {
    if (values * TERM_BYTES > this.#limitBytes * LARGEST_SHARE) return undefined;
    const key = `${index}\u0000${path}`;
    let terms = this.#fields.get(key);
    this.#fields.delete(key);
    if (terms === undefined || terms.table.size > FEW_TERMS + STALE_FACTOR * values)
      terms = new SharedTerms();
    this.#fields.set(key, terms);
    this.#shrink();
    return terms;
  }

  /** Lets go of the fields that weren't used for longest. */
  #shrink(): void {
    let bytes = 0;
    for (const { table } of this.#fields.values()) bytes += table.size * TERM_BYTES;
    for (const [key, { table }] of this.#fields) {
      if (bytes <= this.#limitBytes || this.#fields.size === 1) return;
      this.#fields.delete(key);
      bytes -= table.size * TERM_BYTES;
    }
  }
}

let ofThread: SharedTermsCache | undefined;

/** Returns the terms that this thread keeps. */
export function sharedTermsCache(): SharedTermsCache {
  return (ofThread ??= new SharedTermsCache());
}
