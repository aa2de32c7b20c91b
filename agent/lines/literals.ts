/**
 * Finds literal texts that every match of an expression contains. Most filters name a word, and searching bytes for it
 * is much faster than decoding them and running the expression.
 */

/** Shorter ones are everywhere. */
const LENGTH_MIN = 2;
/** Makes the character before it optional. */
const OPTIONAL = /[*?{]/;
const SPECIAL = /[\\^$.*+?()[\]{}|]/;
/** A text of these is the same bytes in each encoding there is for plain text. */
const ASCII = /^[\x20-\x7e]*$/;

/** Returns texts of which everything that `expression` matches holds one; null if there are none. */
export function literalsOf(expression: RegExp): readonly string[] | null {
  const { flags } = expression;
  const source = expression.source.replaceAll("\\/", "/"); // which needs no escape but gets one
  if (flags.includes("i") || !ASCII.test(source)) return null;
  const isFlat = !/[\\()[\]]/.test(source);
  if (!isFlat && source.includes("|")) return null;
  const literals = source.split("|").map(longestRun);
  return literals.every(({ length }) => length >= LENGTH_MIN) ? literals : null;
}

/** Returns the longest piece of plain characters that must stand in what matches; up to the first group or class. */
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

/** Looks for literals in one buffer, place after place. */
export class LiteralSearch {
  readonly #buffer: Buffer;
  readonly #literals: readonly Buffer[];
  /** Where each literal stands next. */
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
