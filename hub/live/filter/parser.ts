/**
 * Parses the language of live filters, a part of Lucene's:
 *
 *     or      := and { ("OR" | "||") and }
 *     and     := not { [ "AND" | "&&" ] not }
 *     not     := ("NOT" | "!" | "-") not | "+" not | primary
 *     primary := "(" or ")" | field ":" value | text
 *     value   := "(" or ")" | "*" | (">" | ">=" | "<" | "<=") word | ("[" | "{") word "TO" word ("]" | "}") | text
 *     text    := word | '"' … '"'
 *
 * Adjacent terms must all match. `*` and `?` are wildcards outside of quotes; a backslash escapes the next character.
 */

import { AppError } from "#proto/kit/errors.ts";

/** Bounds a filter's cost: it is evaluated for every event. */
const MAX_TERMS = 200;
/** Bounds the parser's own stack. */
const MAX_DEPTH = 50;

interface Word {
  readonly from: number;
  readonly to: number;
  /** The text with its escapes resolved; wildcards are kept. */
  readonly raw: string;
  readonly pattern: Pattern;
}

/** Returns the tree of `query`; throws `parsing` with `data.at` and `data.hint`. */
export function parseFilter(query: string): FilterNode {
  return new Parser(query).parse();
}

class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #terms = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): FilterNode {
    this.#space();
    if (this.#ended) return { type: "all" };
    const node = this.#or(undefined);
    if (!this.#ended)
      throw this.#error("unexpected )", 1, "remove the parenthesis, or write it in quotes to search for it");
    return node;
  }

  #or(field: string | undefined): FilterNode {
    const children = [this.#and(field)];
    while (this.#operator("OR", "||")) children.push(this.#and(field));
    return children.length === 1 ? children[0]! : { type: "or", children };
  }

  #and(field: string | undefined): FilterNode {
    const children = [this.#not(field)];
    while (!this.#ended && this.#char !== ")" && !this.#sees("OR", "||")) {
      this.#operator("AND", "&&");
      children.push(this.#not(field));
    }
    return children.length === 1 ? children[0]! : { type: "and", children };
  }

  #not(field: string | undefined): FilterNode {
    if (++this.#depth > MAX_DEPTH)
      throw this.#error(`more than ${MAX_DEPTH} levels`, 1, "use fewer parentheses");
    try {
      if (this.#operator("NOT", "!") || this.#prefix("-")) return { type: "not", child: this.#not(field) };
      this.#prefix("+");
      return this.#primary(field);
    } finally {
      this.#depth -= 1;
    }
  }

  #primary(field: string | undefined): FilterNode {
    if (this.#ended)
      throw this.#error("a term is missing", 0, "write a word, a phrase in quotes or field:value");
    if (this.#char === ")")
      throw this.#error("a term is missing before )", 1, "write a term or remove the )");
    if (this.#sees("AND", "&&") || this.#sees("OR", "||"))
      throw this.#error(
        "a term is missing before the operator",
        2,
        "put the word in quotes to search for it",
      );
    if (++this.#terms > MAX_TERMS) throw this.#error(`more than ${MAX_TERMS} terms`, 1, "use fewer terms");
    if (this.#char === "(") return this.#group(field);
    if (field !== undefined) return this.#value(field);
    if (this.#char === '"') return { type: "text", pattern: this.#quoted().pattern };
    const word = this.#word(true);
    if (this.#char !== ":") {
      this.#space();
      return { type: "text", pattern: word.pattern };
    }
    return this.#fieldValue(word);
  }

  #fieldValue(word: Word): FilterNode {
    this.#at += 1;
    if (word.raw === "" || word.pattern.length > 1)
      throw filterError(
        word.raw === "" ? "a field name is missing before :" : "a field name takes no wildcards",
        word.from,
        this.#at,
        "write field:value, or put the text in quotes to search for it",
      );
    if (this.#ended || /\s/.test(this.#char))
      throw this.#error(`the value of ${word.raw} is missing`, 0, `write ${word.raw}:value or ${word.raw}:*`);
    if (word.raw === "_exists_") return { type: "exists", field: this.#text1().raw };
    return this.#char === "(" ? this.#group(word.raw) : this.#value(word.raw);
  }

  #value(field: string): FilterNode {
    if (this.#char === "[" || this.#char === "{") return this.#range(field);
    if (this.#char === ">" || this.#char === "<") return this.#comparison(field);
    const { pattern } = this.#text1();
    if (pattern.length > 1 && pattern.every((part) => part === "")) return { type: "exists", field };
    return { type: "term", field, pattern };
  }

  #comparison(field: string): FilterNode {
    const above = this.#char === ">";
    this.#at += 1;
    const inclusive = this.#prefix("=");
    const bound: Bound = { value: this.#text1().raw.toLowerCase(), inclusive };
    return { type: "range", field, low: above ? bound : undefined, high: above ? undefined : bound };
  }

  #range(field: string): FilterNode {
    const from = this.#at;
    const match = /[[{]\s*("[^"]*"|[^\s\]}]+)\s+TO\s+("[^"]*"|[^\s\]}]+)\s*[\]}]/y;
    match.lastIndex = from;
    const found = match.exec(this.#text);
    if (found === null)
      throw filterError(
        `the range of ${field} isn't complete`,
        from,
        this.#text.length,
        `write ${field}:[1 TO 9]`,
      );
    this.#at = match.lastIndex;
    this.#space();
    return {
      type: "range",
      field,
      low: rangeBound(found[1]!, found[0].startsWith("[")),
      high: rangeBound(found[2]!, found[0].endsWith("]")),
    };
  }

  #group(field: string | undefined): FilterNode {
    const from = this.#at;
    this.#at += 1;
    this.#space();
    const node = this.#or(field);
    if (this.#char !== ")")
      throw filterError("this ( is never closed", from, from + 1, "add a ), or write it in quotes");
    this.#at += 1;
    this.#space();
    return node;
  }

  /** Reads a word or a phrase and the space after it. */
  #text1(): Word {
    if (this.#char === '"') return this.#quoted();
    const word = this.#word(false);
    if (word.raw === "") throw this.#error("a value is missing", 1, "write a word or a phrase in quotes");
    this.#space();
    return word;
  }

  #quoted(): Word {
    const from = this.#at;
    let raw = "";
    for (this.#at += 1; this.#char !== '"'; this.#at += 1) {
      if (this.#ended) throw filterError("these quotes are never closed", from, from + 1, 'add a "');
      if (this.#char === "\\" && this.#at + 1 < this.#text.length) this.#at += 1;
      raw += this.#char;
    }
    this.#at += 1;
    this.#space();
    return { from, to: this.#at, raw, pattern: [literal(raw)] };
  }

  #word(endsAtColon: boolean): Word {
    const from = this.#at;
    const pattern = [""];
    let raw = "";
    for (; !this.#ended && !/[\s()"]/.test(this.#char); this.#at += 1) {
      if (endsAtColon && this.#char === ":") break;
      const escaped = this.#char === "\\" && this.#at + 1 < this.#text.length;
      if (escaped) this.#at += 1;
      raw += this.#char;
      if (this.#char === "*" && !escaped) pattern.push("");
      else
        pattern[pattern.length - 1] +=
          this.#char === "?" && escaped ? literal("?") : this.#char.toLowerCase();
    }
    return { from, to: this.#at, raw, pattern };
  }

  #operator(word: string, sign: string): boolean {
    const length = this.#sees(word, sign);
    this.#at += length;
    if (length > 0) this.#space();
    return length > 0;
  }

  /** Returns the length of the operator here, 0 if there is none. */
  #sees(word: string, sign: string): number {
    if (this.#text.startsWith(sign, this.#at)) return sign.length;
    if (!this.#text.startsWith(word, this.#at)) return 0;
    const next = this.#text.charAt(this.#at + word.length);
    return next === "" || /[\s(]/.test(next) ? word.length : 0;
  }

  #prefix(sign: string): boolean {
    if (this.#char !== sign) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    while (!this.#ended && /\s/.test(this.#char)) this.#at += 1;
  }

  #error(message: string, length: number, hint: string): Error {
    return filterError(message, this.#at, Math.min(this.#text.length, this.#at + length), hint);
  }

  get #char(): string {
    return this.#text.charAt(this.#at);
  }

  get #ended(): boolean {
    return this.#at >= this.#text.length;
  }
}

/** A question mark in quotes or after a backslash isn't a wildcard; a pattern contains this character instead. */
export const LITERAL_QUESTION_MARK = "\u0000";

function literal(text: string): string {
  return text.toLowerCase().replaceAll("?", LITERAL_QUESTION_MARK);
}

function rangeBound(text: string, inclusive: boolean): Bound | undefined {
  if (text === "*") return undefined;
  const value = text.startsWith('"') ? text.slice(1, -1) : text;
  return { value: value.toLowerCase(), inclusive };
}

/** A pattern split at its stars: ["a", "b"] is `a*b`, ["", "a"] is `*a`. Lower case; `?` is any one character. */
export type Pattern = readonly string[];

export type FilterNode =
  | { readonly type: "all" }
  | { readonly type: "and" | "or"; readonly children: readonly FilterNode[] }
  | { readonly type: "not"; readonly child: FilterNode }
  /** Text anywhere in the message. */
  | { readonly type: "text"; readonly pattern: Pattern }
  /** A field's value, or a run of words in it. */
  | { readonly type: "term"; readonly field: string; readonly pattern: Pattern }
  | { readonly type: "exists"; readonly field: string }
  | {
      readonly type: "range";
      readonly field: string;
      readonly low: Bound | undefined;
      readonly high: Bound | undefined;
    };

export interface Bound {
  /** Lower case. Compared as a number if both sides are numbers, else by code units. */
  readonly value: string;
  readonly inclusive: boolean;
}

/** Returns the error of a filter: `from` and `to` are the characters at fault. */
export function filterError(message: string, from: number, to: number, hint: string): AppError {
  return new AppError("parsing", `${message} at character ${from + 1} of the filter`, {
    data: { at: [from, to], hint },
  });
}
