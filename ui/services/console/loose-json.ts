/**
 * JSON as people type it into the console: with comments (`#`, `//`, `/* *\/`), keys without quotes and texts in
 * triple quotes. Tokens keep every character, so numbers of any size and what isn't JSON at all survive formatting.
 */

export type TokenKind =
  | "key"
  | "string"
  | "number"
  | "literal"
  | "word"
  | "punctuation"
  | "comment"
  | "space";

/** `start` inclusive, `end` exclusive, in UTF-16 units. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

/** A top-level value of a text. */
export interface ValueSpan {
  readonly start: number;
  readonly end: number;
}

const TOKEN =
  /(\s+)|("""[\s\S]*?(?:"""|$)|"(?:[^"\\\n]|\\.)*"?)|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![^\s"{}[\]:,]))|([{}[\]:,])|((?:#|\/\/)[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|([^\s"{}[\]:,#]+)/y;
const KINDS: readonly TokenKind[] = ["space", "string", "number", "punctuation", "comment", "word"];
/** A list of scalars stays on its line up to this width. */
const INLINE_WIDTH = 72;
const TRIPLE = '"""';

/** Returns all tokens of a text, without gaps. */
export function lex(text: string): Token[] {
  const tokens: Token[] = [];
  let lastSolid = -1;
  for (let at = 0; at < text.length; ) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    const end = match === null ? at + 1 : TOKEN.lastIndex;
    const kind = kindOf(match);
    if (kind === "punctuation" && text[at] === ":" && lastSolid >= 0) markKey(tokens, lastSolid);
    tokens.push({ kind, start: at, end });
    if (kind !== "space" && kind !== "comment") lastSolid = tokens.length - 1;
    at = end;
  }
  return tokens;
}

function kindOf(match: RegExpExecArray | null): TokenKind {
  if (match === null) return "word";
  const kind = KINDS[match.findIndex((group, index) => index > 0 && group !== undefined) - 1]!;
  return kind === "word" && /^(true|false|null)$/.test(match[0]) ? "literal" : kind;
}

function markKey(tokens: Token[], index: number): void {
  const token = tokens[index]!;
  if (token.kind === "string" || token.kind === "word") tokens[index] = { ...token, kind: "key" };
}

/** Returns the top-level values; what can't be a value ends one as well. */
export function splitValues(text: string): ValueSpan[] {
  const values: ValueSpan[] = [];
  let depth = 0;
  let start = -1;
  for (const token of lex(text)) {
    if (token.kind === "space" || token.kind === "comment") continue;
    if (start < 0) start = token.start;
    const sign = text[token.start]!;
    if (token.kind === "punctuation" && "{[".includes(sign)) depth++;
    if (token.kind === "punctuation" && "}]".includes(sign)) depth--;
    if (depth > 0) continue;
    values.push({ start, end: token.end });
    depth = 0;
    start = -1;
  }
  if (start >= 0) values.push({ start, end: text.trimEnd().length });
  return values;
}

/** Returns the text as it can be sent: without comments, triple-quoted texts as JSON strings; lines stay. */
export function toPlainJson(text: string): string {
  return lex(text)
    .map((token) => (token.kind === "comment" ? "" : plain(text, token)))
    .join("");
}

/** Returns the text on one line. */
export function compactJson(text: string): string {
  let result = "";
  let last: TokenKind = "punctuation";
  for (const token of lex(text)) {
    if (token.kind === "space" || token.kind === "comment") continue;
    if (last !== "punctuation" && token.kind !== "punctuation") result += " ";
    result += plain(text, token);
    last = token.kind;
  }
  return result;
}

/** Returns the text with a line per member and two spaces per level; short lists of scalars stay on one line. */
export function indentJson(text: string): string {
  const tokens = lex(text).filter(({ kind }) => kind !== "space");
  const writer = new IndentedText();
  for (let index = 0; index < tokens.length; index++) {
    const { kind, start, end } = tokens[index]!;
    const word = text.slice(start, end);
    const inline = word === "{" || word === "[" ? inlineList(text, tokens, index) : undefined;
    if (inline !== undefined) {
      writer.scalar(inline.text);
      index = inline.last;
    } else if (kind === "comment") {
      const before = tokens[index - 1];
      writer.comment(word, before === undefined || text.slice(before.end, start).includes("\n"));
    } else if (kind !== "punctuation") writer.scalar(word);
    else if (word === ",") writer.comma();
    else if (word === ":") writer.colon();
    else if (word === "{" || word === "[") writer.open(word);
    else writer.close(word);
  }
  return writer.text;
}

/** Writes tokens; a line break waits until it is clear that no comment follows on the line. */
class IndentedText {
  #text = "";
  #depth = 0;
  #isBreakDue = false;
  #isAfterComment = false;

  get text(): string {
    return this.#text.trimEnd();
  }

  scalar(word: string): void {
    this.#begin();
    this.#text += word;
    this.#isBreakDue = this.#depth === 0;
  }

  comment(word: string, isOwnLine: boolean): void {
    if (isOwnLine || this.#isAfterComment) this.#begin();
    else this.#text += " ";
    this.#text += word;
    this.#isBreakDue = true;
    this.#isAfterComment = true;
  }

  open(sign: string): void {
    this.#begin();
    this.#text += sign;
    this.#depth++;
    this.#isBreakDue = true;
  }

  close(sign: string): void {
    this.#depth = Math.max(0, this.#depth - 1);
    this.#isBreakDue = true;
    this.#begin();
    this.#text += sign;
    this.#isBreakDue = this.#depth === 0;
  }

  comma(): void {
    if (this.#isAfterComment) this.#begin();
    this.#text = `${this.#text.trimEnd()},`;
    this.#isBreakDue = true;
  }

  colon(): void {
    if (this.#isAfterComment) this.#begin();
    this.#text += ": ";
  }

  #begin(): void {
    this.#isAfterComment = false;
    if (this.#isBreakDue && this.#text !== "")
      this.#text = `${this.#text.trimEnd()}\n${"  ".repeat(this.#depth)}`;
    else if (/[^\s]$/.test(this.#text)) this.#text += " ";
    this.#isBreakDue = false;
  }
}

/** An empty object or list, or a short list of scalars, that begins at `first`. */
function inlineList(
  text: string,
  tokens: readonly Token[],
  first: number,
): { readonly text: string; readonly last: number } | undefined {
  const isList = text[tokens[first]!.start] === "[";
  let line = text[tokens[first]!.start]!;
  for (let index = first + 1; index < tokens.length && line.length < INLINE_WIDTH; index++) {
    const { kind, start, end } = tokens[index]!;
    const word = text.slice(start, end);
    if (word === (isList ? "]" : "}")) return { text: line + word, last: index };
    const fits = word === "," ? ", " : word;
    if (!isList || kind === "comment" || word.includes("\n") || /^[[\]{}:]$/.test(word)) return undefined;
    line += fits;
  }
  return undefined;
}

function plain(text: string, { kind, start, end }: Token): string {
  const word = text.slice(start, end);
  if (kind !== "string" || !word.startsWith(TRIPLE)) return word;
  return JSON.stringify(word.slice(3, word.endsWith(TRIPLE) && word.length >= 6 ? -3 : undefined));
}
