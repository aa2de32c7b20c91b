/** Keeps events that match an expression of `include_lines`, if there are any, and none of `exclude_lines`. */

import { LiteralSearch, literalsOf } from "./literals.ts";

/** Filter for ranges of one buffer, which must be checked in ascending order while its bytes stay the same. */
export interface RangeFilter {
  /** Returns true where bytes `start` to `end` are the text of an event that is kept. */
  keeps(start: number, end: number): boolean;
  /**
   * Returns a place at or after `start`: each text from `start` on is kept unless it holds this place or later ones.
   * Infinity: all are. Null: `keeps` must check each.
   */
  keptUntil(start: number): number | null;
}

const KEEPS_ALL: RangeFilter = { keeps: () => true, keptUntil: () => Number.POSITIVE_INFINITY };

export class LineFilter {
  readonly #include: readonly RegExp[];
  readonly #exclude: readonly RegExp[];
  readonly #includeLiterals: readonly Buffer[] | null;
  readonly #excludeLiterals: readonly Buffer[] | null;

  constructor(include: readonly RegExp[], exclude: readonly RegExp[]) {
    this.#include = include;
    this.#exclude = exclude;
    this.#includeLiterals = allLiterals(include);
    this.#excludeLiterals = allLiterals(exclude);
  }

  /** False: everything is kept. */
  get isNeeded(): boolean {
    return this.#include.length + this.#exclude.length > 0;
  }

  keeps(text: string): boolean {
    if (this.#include.length > 0 && !this.#include.some((expression) => expression.test(text))) return false;
    return !this.#exclude.some((expression) => expression.test(text));
  }

  /** Returns the filter for UTF-8 text in `buffer`. Fast path: no string is made where the bytes show that no expression matches. */
  within(buffer: Buffer): RangeFilter {
    if (!this.isNeeded) return KEEPS_ALL;
    const included = this.#searchFor(this.#includeLiterals, buffer);
    const excluded = this.#searchFor(this.#excludeLiterals, buffer);
    const hasInclude = this.#include.length > 0;
    return {
      keeps: (start, end) => {
        if (hasInclude && included?.isWithin(start, end) === false) return false;
        if (!hasInclude && excluded?.isWithin(start, end) === false) return true;
        return this.keeps(buffer.toString("utf8", start, end));
      },
      keptUntil: (start) => (hasInclude || excluded === null ? null : excluded.next(start)),
    };
  }

  #searchFor(literals: readonly Buffer[] | null, buffer: Buffer): LiteralSearch | null {
    return literals === null ? null : new LiteralSearch(literals, buffer);
  }
}

/** Returns the literals of all expressions, or null if one has none. */
function allLiterals(expressions: readonly RegExp[]): readonly Buffer[] | null {
  const found = expressions.map(literalsOf);
  if (found.includes(null)) return null;
  return found.flatMap((literals) => literals ?? []).map((literal) => Buffer.from(literal));
}
