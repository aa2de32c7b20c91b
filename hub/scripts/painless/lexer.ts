/** Cuts the text of a script into tokens. Source: the lexer grammar of the 6.5 server's scripting language. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";

export type TokenKind = "name" | "keyword" | "integer" | "decimal" | "string" | "regex" | "operator" | "end";

export interface Token {
  readonly kind: TokenKind;
  /** As written; of strings and regular expressions the content, escapes resolved. */
  readonly text: string;
  /** Offset in the source, UTF-16 units. */
  readonly offset: number;
  /** Flags of a regular expression. */
  readonly flags?: string;
}

export const KEYWORDS: ReadonlySet<string> = new Set(
  "if else while do for in continue break return new try catch throw this instanceof true false null".split(
    " ",
  ),
);

/** Longest first. */
const OPERATORS = [
  ">>>=",
  "<<=",
  ">>=",
  ">>>",
  "===",
  "!==",
  "==~",
  "->",
  "::",
  "?.",
  "?:",
  "++",
  "--",
  "+=",
  "-=",
  "*=",
  "/=",
  "%=",
  "&=",
  "|=",
  "^=",
  "==",
  "!=",
  "<=",
  ">=",
  "&&",
  "||",
  "<<",
  ">>",
  "=~",
  "+",
  "-",
  "*",
  "/",
  "%",
  "&",
  "|",
  "^",
  "~",
  "!",
  "<",
  ">",
  "=",
  "?",
  ":",
  ";",
  ",",
  ".",
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
]; // prettier-ignore

const SPACE = /(?:\s+|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/)+/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /0[xX][0-9a-fA-F]+[lL]?|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[lLfFdD]?/y;
const STRING = /"(?:\\["\\]|[^\\"])*"|'(?:\\['\\]|[^\\'])*'/y;
const REGEX = /\/((?:\\[^\n]|[^/\\\n])+)\/([cilmsUux]*)/y;

/** Limits the text of a script, as `script.max_size_in_bytes` of later servers does. Characters. */
export const MAX_SCRIPT_CHARS = 65_535;

/** Returns the tokens of `source`, an "end" last. Throws IllegalArgumentException with the offset. */
export function tokenise(source: string): Token[] {
  if (source.length > MAX_SCRIPT_CHARS) {
    const limit = `exceeded max allowed inline script size in bytes [${MAX_SCRIPT_CHARS}] with size [${source.length}]`;
    throw new ScriptException("IllegalArgumentException", limit, 0);
  }
  const tokens: Token[] = [];
  let at = skipSpace(source, 0);
  while (at < source.length) {
    const token = nextToken(source, at, tokens.at(-1));
    tokens.push(token.token);
    at = skipSpace(source, token.end);
  }
  tokens.push({ kind: "end", text: "", offset: source.length });
  return tokens;
}

function skipSpace(source: string, at: number): number {
  SPACE.lastIndex = at;
  return SPACE.test(source) ? SPACE.lastIndex : at;
}

function nextToken(source: string, at: number, last: Token | undefined): { token: Token; end: number } {
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  // After a point a number is the index of a list ("ctx.list.0"), and it ends at the next point.
  if (last?.text === "." && last.kind === "operator") {
    const index = /\d+/y;
    const found = take(index);
    if (found !== null) return made("integer", found[0], at, found[0].length);
  }
  const name = take(NAME);
  if (name !== null) return made(KEYWORDS.has(name[0]) ? "keyword" : "name", name[0], at, name[0].length);
  const number = take(NUMBER);
  if (number !== null) {
    const isInteger = /^0[xX]|^\d+[lL]?$/.test(number[0]);
    return made(isInteger ? "integer" : "decimal", number[0], at, number[0].length);
  }
  const string = take(STRING);
  if (string !== null) {
    const text = string[0].slice(1, -1).replace(/\\(.)/g, "$1");
    return made("string", text, at, string[0].length);
  }
  if (source[at] === "/" && !endsOperand(last)) {
    const regex = take(REGEX);
    if (regex !== null) {
      const token: Token = { kind: "regex", text: regex[1]!, offset: at, flags: regex[2]! };
      return { token, end: at + regex[0].length };
    }
  }
  const operator = OPERATORS.find((each) => source.startsWith(each, at));
  if (operator === undefined) throw unexpected(source, at);
  return made("operator", operator, at, operator.length);
}

function made(kind: TokenKind, text: string, offset: number, length: number): { token: Token; end: number } {
  return { token: { kind, text, offset }, end: offset + length };
}

/** A slash after an operand divides. */
function endsOperand(last: Token | undefined): boolean {
  if (last === undefined) return false;
  if (last.kind === "operator") return [")", "]", "}"].includes(last.text);
  if (last.kind === "keyword") return ["this", "true", "false", "null"].includes(last.text);
  return true;
}

function unexpected(source: string, at: number): ScriptException {
  const text = source.slice(at, at + 20);
  const hint = /^["']/.test(text)
    ? " (a string must end on its own, and knows no escapes but \\\\ and its quote)"
    : "";
  return new ScriptException("IllegalArgumentException", `unexpected character [${source[at]}].${hint}`, at);
}
