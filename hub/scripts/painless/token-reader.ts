/** Reads tokens one after the other, with the language's words for what doesn't fit. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import type { Token } from "./lexer.ts";

/** Nested expressions and statements beyond it are refused: the compiler works by recursion. */
const MAX_DEPTH = 200;

export class TokenReader {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get token(): Token {
    return this.#tokens[this.#at]!;
  }

  /** The token `ahead` of the present one; the "end" after the last. */
  peek(ahead: number): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
  }

  next(): Token {
    const token = this.token;
    if (token.kind !== "end") this.#at++;
    return token;
  }

  /** Returns true where the present token is the operator or keyword `text`. */
  is(text: string): boolean {
    return isSymbol(this.token, text);
  }

  /** Takes `text` where it is next. */
  accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.#at++;
    return true;
  }

  /** Takes `text`. Throws where something else is next. */
  expect(text: string): Token {
    if (!this.is(text)) throw this.unexpected(`['${text}']`);
    return this.next();
  }

  expectName(): Token {
    if (this.token.kind !== "name") throw this.unexpected("{ID}");
    return this.next();
  }

  /** Runs `read` one level deeper. Throws where the script is nested too deeply. */
  nested<T>(read: () => T): T {
    if (++this.#depth > MAX_DEPTH) {
      const message = `the script is nested more than ${MAX_DEPTH} levels deep`;
      throw new ScriptException("IllegalArgumentException", message, this.token.offset);
    }
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }

  unexpected(wanted?: string): ScriptException {
    const { token } = this;
    const reason =
      token.kind === "end"
        ? "unexpected end of script."
        : wanted === undefined
          ? `invalid sequence of tokens near ['${token.text}'].`
          : `unexpected token ['${token.text}'] was expecting one of [${wanted}].`;
    return new ScriptException("IllegalArgumentException", reason, token.offset);
  }
}

export function isSymbol(token: Token, text: string): boolean {
  return (token.kind === "operator" || token.kind === "keyword") && token.text === text;
}
