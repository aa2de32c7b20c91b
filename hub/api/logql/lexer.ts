/** Cuts a LogQL query into tokens, and walks through them. Unexpected tokens throw an error with Loki's wording. */

import { unquoteGo } from "#proto/codec/go-string.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";

/** Maximum nesting depth of brackets and functions. */
const MAX_DEPTH = 32;
/** Maximum number of operators in a query, whose tree is walked recursively. */
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

  /** Consumes a symbol if it comes next; returns whether it did. */
  accept(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.#at++;
    return true;
  }

  /** Consumes the next token. */
  take(): Token {
    const { token } = this;
    if (token.kind !== "end") this.#at++;
    return token;
  }

  /** Consumes a binary operator. Throws request_invalid if there are too many. */
  takeOperator(): Token {
    this.countOperator();
    return this.take();
  }

  /** Counts an operator that isn't written. Throws request_invalid if there are too many. */
  countOperator(): void {
    if (++this.#operators > MAX_OPERATORS)
      throw this.fault(`a query has at most ${MAX_OPERATORS} operators between its parts`);
  }

  /** Throws request_invalid if brackets are nested too deeply. */
  checkDepth(depth: number): void {
    if (depth > MAX_DEPTH)
      throw this.fault(`brackets and functions may stand at most ${MAX_DEPTH} deep in one another`);
  }

  expect(symbol: string): void {
    if (!this.accept(symbol)) throw this.unexpected(symbol);
  }

  /** Consumes a token of a kind. */
  expectKind(kind: Token["kind"], what: string): string {
    if (this.token.kind !== kind) throw this.unexpected(what);
    return this.take().text;
  }

  /** Returns the error for an unexpected next token. */
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

  /** Returns an error at the next token. */
  fault(what: string): AppError {
    return this.faultAt(this.token, what);
  }

  faultAt({ offset }: Token, what: string): AppError {
    return parseFault(this.#text, offset, what);
  }
}

export interface Token {
  readonly kind: "name" | "text" | "number" | "duration" | "bytes" | "symbol" | "end";
  /** Texts without their quotes. */
  readonly text: string;
  readonly offset: number;
}

/** Longest query, characters. */
const MAX_QUERY = 16_384;

const TOKEN =
  /\s+|#[^\n]*|(?<text>"(?:[^"\\\n]|\\.)*"|`[^`]*`)|(?<duration>(?:\d+(?:\.\d+)?(?:ns|us|\u00b5s|ms|[smhdwy]))+(?![\w.]))|(?<bytes>\d+(?:\.\d+)?(?:[kKMGTP]i?B|B|[kKMGTP]i?)(?!\w))|(?<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w))|(?<name>[A-Za-z_][\w]*)|(?<symbol>\|=|\|~|\|>|!=|!~|!>|=~|==|>=|<=|[{}()[\],=|<>+\-*/%^])/gy;

/** Returns the tokens of a query, the last one of kind "end". Throws request_invalid with the position. */
export function tokensOf(query: string): Token[] {
  if (query.length > MAX_QUERY)
    throw new AppError("request_invalid", `parse error : a query has at most ${MAX_QUERY} characters`);
  const tokens: Token[] = [];
  let at = 0;
  TOKEN.lastIndex = 0;
  while (at < query.length) {
    const match = TOKEN.exec(query);
    if (match === null) throw parseFault(query, at, `unexpected ${JSON.stringify(query[at])}`);
    const [kind, text] = Object.entries(match.groups ?? {}).find(([, each]) => each !== undefined) ?? [];
    if (kind !== undefined)
      tokens.push({
        kind: kind as Token["kind"],
        text: kind === "text" ? unquoted(query, at, text as string) : (text as string),
        offset: at,
      });
    at = TOKEN.lastIndex;
  }
  return [...tokens, { kind: "end", text: "$end", offset: query.length }];
}

function unquoted(query: string, at: number, text: string): string {
  const inner = text.slice(1, -1);
  if (text.startsWith("`")) return inner;
  const meant = unquoteGo(inner);
  if (meant === undefined) throw parseFault(query, at, `invalid char escape in ${text.slice(0, 100)}`);
  return meant;
}

/** Returns an error with Loki's wording, with line and column. */
export function parseFault(query: string, offset: number, what: string): AppError {
  const before = query.slice(0, offset).split("\n");
  const column = before.at(-1)!.length + 1;
  return new AppError(
    "request_invalid",
    `parse error at line ${before.length}, col ${column}: syntax error: ${what}`,
  );
}

const DURATION_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
  y: 365 * DAY_MS,
};

/** Returns the ms of a duration such as "1h30m" or "-5s"; NaN for any other text. */
export function durationMs(text: string): number {
  if (!/^-?(?:\d+(?:\.\d+)?(?:ns|us|\u00b5s|ms|[smhdwy]))+$/.test(text)) return Number.NaN;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|\u00b5s|ms|[smhdwy])/g))
    ms += Number(amount) * DURATION_MS[unit!]!;
  return text.startsWith("-") ? -ms : ms;
}

/** Returns the bytes of a size such as "5KB" or "1.5GiB"; NaN for any other text. */
export function byteCount(text: string): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)\s*([kKMGTP]?)(i?)B?$/.exec(text) ?? [];
  if (amount === undefined) return Number.NaN;
  const base = /i/.test(text) ? 1024 : 1000;
  return Number(amount) * base ** " KMGTP".indexOf(unit === "" ? " " : unit.toUpperCase());
}

/** Numbers of a label filter: 5, 20ms, 1KB. */
export function numberOf({
  kind,
  text,
}: Token): { value: number; unit: "number" | "duration" | "bytes" } | undefined {
  if (kind === "number") return { value: Number(text), unit: "number" };
  if (kind === "duration") return { value: durationMs(text) / 1000, unit: "duration" };
  return kind === "bytes" ? { value: byteCount(text), unit: "bytes" } : undefined;
}
