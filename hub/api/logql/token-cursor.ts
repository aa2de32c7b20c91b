/** Walks through the tokens of a query. Unexpected tokens throw an error with Loki's wording. */

import type { AppError } from "#proto/kit/errors.ts";
import { parseFault, type Token, tokensOf } from "./lexer.ts";

/** Maximum nesting depth of brackets and functions. */
const MAX_DEPTH = 32;
/** Maximum number of operators in a query: their tree is walked by recursion. */
const MAX_OPERATORS = 250;

/** Walks through the tokens of a query. */
export class TokenCursor {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #at = 0;
  #operators = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokensOf(text);
  }

  get token(): Token {
    return this.#tokens[this.#at]!;
  }

  get next(): Token {
    return this.#tokens[this.#at + 1] ?? this.token;
  }

  isSymbol(text: string): boolean {
    return this.token.kind === "symbol" && this.token.text === text;
  }

  isName(text: string): boolean {
    return this.token.kind === "name" && this.token.text === text;
  }

  /** Takes a symbol where it comes next. */
  accept(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.#at++;
    return true;
  }

  /** Takes the next token. */
  take(): Token {
    const { token } = this;
    if (token.kind !== "end") this.#at++;
    return token;
  }

  /** Takes an operator between two parts. Throws request_invalid where there are too many. */
  takeOperator(): Token {
    if (++this.#operators > MAX_OPERATORS)
      throw this.fault(`a query has at most ${MAX_OPERATORS} operators between its parts`);
    return this.take();
  }

  /** Throws request_invalid at a place too deep within brackets. */
  checkDepth(depth: number): void {
    if (depth > MAX_DEPTH)
      throw this.fault(`brackets and functions may stand at most ${MAX_DEPTH} deep in one another`);
  }

  expect(symbol: string): void {
    if (!this.accept(symbol)) throw this.unexpected(symbol);
  }

  /** Takes a token of a kind. */
  expectKind(kind: Token["kind"], what: string): string {
    if (this.token.kind !== kind) throw this.unexpected(what);
    return this.take().text;
  }

  /** The fault that the next token is. */
  unexpected(expecting?: string): AppError {
    const { kind, text, offset } = this.token;
    const shown = {
      name: "IDENTIFIER",
      text: "STRING",
      number: "NUMBER",
      duration: "DURATION",
      bytes: "BYTES",
    }[kind as string];
    const what = `unexpected ${shown ?? text}${expecting === undefined ? "" : `, expecting ${expecting}`}`;
    return parseFault(this.#text, offset, what);
  }

  /** A fault at the next token. */
  fault(what: string): AppError {
    return this.faultAt(this.token, what);
  }

  faultAt({ offset }: Token, what: string): AppError {
    return parseFault(this.#text, offset, what);
  }
}
