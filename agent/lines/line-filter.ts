/**
 * Keeps events that match an expression of `include_lines`, if there are any, and none of `exclude_lines`. Most
 * filters name a word: searching bytes for the literal texts that every match contains is much faster than decoding
 * them and running the expression.
 */

/** Shorter ones occur everywhere. */
const LENGTH_MIN = 2;
/** Makes the character before it optional. */
const OPTIONAL = /[*?{]/;
const SPECIAL = /[\\^$.*+?()[\]{}|]/;
/** A text of these is the same bytes in each encoding there is for plain text. */
const ASCII = /^[\x20-\x7e]*$/;

/** Looks for literals in one buffer, in ascending order. */
class LiteralSearch {
  readonly #buffer: Buffer;
  readonly #literals: readonly Buffer[];
  /** Offset of the next occurrence of each literal. */
  readonly #next: number[];

  constructor(literals: readonly Buffer[], buffer: Buffer) {
    this.#buffer = buffer;
    this.#literals = literals;
    this.#next = literals.map(() => -1);
  }

  /** Returns true if one of them is within bytes `start` to `end`; `start` must not go back. */
  isWithin(start: number, end: number): boolean {
    for (const [index, literal] of this.#literals.entries()) {
      if (this.#find(index, literal, start) + literal.length <= end) return true;
    }
    return false;
  }

  /** Returns where the first of them begins at or after `start`, Infinity where none does; `start` must not go back. */
  next(start: number): number {
    let first = Number.POSITIVE_INFINITY;
    for (const [index, literal] of this.#literals.entries())
      first = Math.min(first, this.#find(index, literal, start));
    return first;
  }

  #find(index: number, literal: Buffer, start: number): number {
    const known = this.#next[index]!;
    if (known >= start) return known;
    const found = this.#buffer.indexOf(literal, start);
    return (this.#next[index] = found < 0 ? Number.POSITIVE_INFINITY : found);
  }
}

/** Filter for ranges of one buffer, which must be checked in ascending order while its bytes stay the same. */
export interface RangeFilter {
  /** Returns true if bytes `start` to `end` are the text of an event that is kept. */
  keeps(start: number, end: number): boolean;
  /**
   * Returns an offset at or after `start`: each text from `start` on is kept unless it contains this offset or later
   * ones. Infinity: all are. Null: `keeps` must check each.
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

/** Returns texts one of which is contained in everything that `expression` matches; null if there are none. */
export function literalsOf(expression: RegExp): readonly string[] | null {
  const { flags } = expression;
  const source = expression.source.replaceAll("\\/", "/"); // which needs no escape but gets one
  if (flags.includes("i") || !ASCII.test(source)) return null;
  const isFlat = !/[\\()[\]]/.test(source);
  if (!isFlat && source.includes("|")) return null;
  const literals = source.split("|").map(longestRun);
  return literals.every(({ length }) => length >= LENGTH_MIN) ? literals : null;
}

/** Returns the longest piece of plain characters that every match contains; up to the first group or class. */
function longestRun(source: string): string {
  let best = "";
  let run = "";
  const end = (): void => {
    if (run.length > best.length) best = run;
    run = "";
  };
  for (const character of source) {
    if (!SPECIAL.test(character)) {
      run += character;
      continue;
    }
    if (OPTIONAL.test(character)) run = run.slice(0, -1);
    end();
    if (/[\\([{]/.test(character)) return best;
  }
  end();
  return best;
}
