/** Splits words at changes of case, at digits and at punctuation, as the filters `word_delimiter` do. */

import { type Options, readBoolean, readList } from "#hub/engine/analysis/parts/options.ts";
import { words } from "#hub/engine/analysis/parts/stop-words.ts";

const LOWER = 1;
const UPPER = 2;
const DIGIT = 4;
const DELIMITER = 8;
const ALPHA = LOWER | UPPER;
const ALPHANUM = ALPHA | DIGIT;

const TYPE_NAMES: Readonly<Record<string, number>> = {
  LOWER,
  UPPER,
  ALPHA,
  DIGIT,
  ALPHANUM,
  SUBWORD_DELIM: DELIMITER,
};

/** A stretch of a word. */
export interface Subword {
  readonly from: number;
  readonly to: number;
  readonly type: number;
}

export interface Rules {
  readonly wordParts: boolean;
  readonly numberParts: boolean;
  readonly catenateWords: boolean;
  readonly catenateNumbers: boolean;
  readonly catenateAll: boolean;
  readonly splitOnCase: boolean;
  readonly splitOnNumerics: boolean;
  readonly preserveOriginal: boolean;
  readonly stemPossessive: boolean;
  readonly protectedWords: ReadonlySet<string>;
  readonly types: ReadonlyMap<string, number>;
}

/** Reads the settings of both filters. Throws RangeError. */
export function readRules(options: Options): Rules {
  return {
    wordParts: readBoolean(options, "generate_word_parts", true),
    numberParts: readBoolean(options, "generate_number_parts", true),
    catenateWords: readBoolean(options, "catenate_words", false),
    catenateNumbers: readBoolean(options, "catenate_numbers", false),
    catenateAll: readBoolean(options, "catenate_all", false),
    splitOnCase: readBoolean(options, "split_on_case_change", true),
    splitOnNumerics: readBoolean(options, "split_on_numerics", true),
    preserveOriginal: readBoolean(options, "preserve_original", false),
    stemPossessive: readBoolean(options, "stem_english_possessive", true),
    protectedWords: new Set(words(options, "protected_words", [])),
    types: typeTable(readList(options, "type_table", [])),
  };
}

function typeTable(rows: readonly string[]): ReadonlyMap<string, number> {
  const types = new Map<string, number>();
  for (const row of rows) {
    const [, left, name] = /^\s*(\S+|\\u[0-9a-fA-F]{4})\s*=>\s*(\w+)\s*$/.exec(row) ?? [];
    const type = TYPE_NAMES[name ?? ""];
    const character = left?.replace(/^\\u([0-9a-fA-F]{4})$/, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (type === undefined || character?.replace(/^\\/, "").length !== 1)
      throw new RangeError(`Invalid Mapping Rule : [${row}]. Only a single character is allowed.`);
    types.set(character.replace(/^\\/, ""), type);
  }
  return types;
}

const CLASSES: readonly (readonly [RegExp, number])[] = [
  [/^[a-z\p{Ll}]$/u, LOWER],
  [/^\p{Lu}$/u, UPPER],
  [/^[\p{L}\p{M}]$/u, ALPHA],
  [/^\p{N}$/u, DIGIT],
  [/^\p{Cs}$/u, ALPHANUM],
];

/** Cuts words by the rules. */
export class WordCutter {
  readonly rules: Rules;

  constructor(rules: Rules) {
    this.rules = rules;
  }

  /** Returns the subwords; none for a word of punctuation alone. */
  subwords(text: string): Subword[] {
    let from = 0;
    let to = text.length;
    while (from < to && this.#type(text, from) === DELIMITER) from++;
    while (to > from && this.#type(text, to - 1) === DELIMITER) to--;
    if (this.#isPossessive(text, to, to)) to -= 2;
    const found: Subword[] = [];
    for (let at = from; at < to; ) {
      if (this.#type(text, at) === DELIMITER) {
        at++;
        continue;
      }
      const type = this.#type(text, at);
      const end = this.#end(text, at, to);
      found.push({ from: at, to: end, type });
      at = end < to && this.#isPossessive(text, end + 2, to) ? end + 2 : end;
    }
    return found;
  }

  /** Returns whether subwords of the type become tokens. */
  isGenerated(type: number): boolean {
    return ((type & ALPHA) !== 0 && this.rules.wordParts) || ((type & DIGIT) !== 0 && this.rules.numberParts);
  }

  isCatenated(type: number): boolean {
    return (
      ((type & ALPHA) !== 0 && this.rules.catenateWords) ||
      ((type & DIGIT) !== 0 && this.rules.catenateNumbers)
    );
  }

  #end(text: string, from: number, to: number): number {
    let last = this.#type(text, from);
    for (let at = from + 1; at < to; at++) {
      const type = this.#type(text, at);
      if (this.#isBreak(last, type)) return at;
      last = type;
    }
    return to;
  }

  #isBreak(last: number, type: number): boolean {
    if ((type & last) !== 0) return false;
    const isLastAlpha = (last & ALPHA) !== 0;
    const isAlpha = (type & ALPHA) !== 0;
    if (isLastAlpha && isAlpha) return this.rules.splitOnCase && (last & UPPER) === 0;
    if ((isLastAlpha && (type & DIGIT) !== 0) || ((last & DIGIT) !== 0 && isAlpha))
      return this.rules.splitOnNumerics;
    return true;
  }

  /** Returns whether 's ends at an index, after a letter and before the end or a delimiter. */
  #isPossessive(text: string, end: number, to: number): boolean {
    return (
      this.rules.stemPossessive &&
      end > 2 &&
      end <= to &&
      text[end - 2] === "'" &&
      (text[end - 1] === "s" || text[end - 1] === "S") &&
      (this.#type(text, end - 3) & ALPHA) !== 0 &&
      (end === to || this.#type(text, end) === DELIMITER)
    );
  }

  #type(text: string, at: number): number {
    const character = text[at]!;
    const own = this.rules.types.get(character);
    return own ?? CLASSES.find(([pattern]) => pattern.test(character))?.[1] ?? DELIMITER;
  }
}
