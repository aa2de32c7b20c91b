/**
 * Formulas over measures: `count(log.level:error) / count() * 100`, `moving_average(p95(took), 5)`,
 * `count() - offset(count(), 1w)`. Numbers, `+ - * /`, brackets, measures of lines and functions of series.
 */

import { msg, str } from "@lit/localize";

/** Measures of lines: `count(QUERY)`, the others `KIND(FIELD)` or `KIND(FIELD, QUERY)`. */
const MEASURES = ["count", "sum", "avg", "min", "max", "unique", "p50", "p95", "p99"] as const;
export type MeasureKind = (typeof MEASURES)[number];

/** Functions that see all values of a series. */
const SERIES_FUNCTIONS = ["moving_average", "derivative", "cumulative"] as const;
export type SeriesFunction = (typeof SERIES_FUNCTIONS)[number];

/** What is measured of a group's lines. */
export interface Measure {
  readonly kind: MeasureKind;
  /** "" for `count`. */
  readonly field: string;
  /** Of the lines that count; "": all. */
  readonly query: string;
  /** How long before the group's own time, ms. */
  readonly offsetMs: number;
}

export type Term =
  | { readonly kind: "number"; readonly value: number }
  /** Index of `Formula.measures`. */
  | { readonly kind: "measure"; readonly at: number }
  | {
      readonly kind: "binary";
      readonly sign: "+" | "-" | "*" | "/";
      readonly left: Term;
      readonly right: Term;
    }
  /** `steps`: of a moving average. */
  | { readonly kind: "series"; readonly name: SeriesFunction; readonly of: Term; readonly steps: number };

export interface Formula {
  readonly term: Term;
  readonly measures: readonly Measure[];
}

/** A position in a formula that can't be read. */
export interface FormulaFault {
  readonly fault: string;
  /** Of the first character that doesn't fit, from 1. */
  readonly column: number;
}

/** Longer ones, or ones of more measures, aren't a formula that a person reads. */
const MAX_LENGTH = 500;
const MAX_MEASURES = 8;
const MAX_STEPS = 1_000;
const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Returns the formula of a text, or where it can't be read. */
export function parseFormula(text: string): Formula | FormulaFault {
  if (text.length > MAX_LENGTH)
    return { fault: msg(str`A formula has at most ${MAX_LENGTH} characters.`), column: MAX_LENGTH };
  const parser = new Parser(text);
  try {
    return parser.whole();
  } catch (error) {
    if (error instanceof FormulaError) return { fault: error.message, column: error.at + 1 };
    throw error;
  }
}

class FormulaError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

class Parser {
  readonly #text: string;
  readonly #measures: Measure[] = [];
  #at = 0;
  #offsetMs = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Formula {
    const term = this.#sum();
    if (this.#next() !== "") throw new FormulaError(msg("An operator is missing before this."), this.#at);
    if (this.#measures.length === 0)
      throw new FormulaError(msg("A formula measures something, such as count()."), 0);
    if (this.#measures.every(({ offsetMs }) => offsetMs > 0))
      throw new FormulaError(
        msg("One measure must be of the time that is shown: offset() moves all of these."),
        0,
      );
    return { term, measures: this.#measures };
  }

  #sum(): Term {
    let left = this.#product();
    for (let sign = this.#next(); sign === "+" || sign === "-"; sign = this.#next()) {
      this.#at++;
      left = { kind: "binary", sign, left, right: this.#product() };
    }
    return left;
  }

  #product(): Term {
    let left = this.#atom();
    for (let sign = this.#next(); sign === "*" || sign === "/"; sign = this.#next()) {
      this.#at++;
      left = { kind: "binary", sign, left, right: this.#atom() };
    }
    return left;
  }

  #atom(): Term {
    const sign = this.#next();
    if (sign === "-") {
      this.#at++;
      return { kind: "binary", sign: "-", left: { kind: "number", value: 0 }, right: this.#atom() };
    }
    if (sign === "(") {
      this.#at++;
      const inner = this.#sum();
      this.#expect(")");
      return inner;
    }
    const number = /^\d+(?:\.\d+)?/.exec(this.#text.slice(this.#at))?.[0];
    if (number === undefined) return this.#call();
    this.#at += number.length;
    return { kind: "number", value: Number(number) };
  }

  #call(): Term {
    const start = this.#at;
    const name = /^[a-z]\w*/.exec(this.#text.slice(start))?.[0] ?? "";
    this.#at += name.length;
    if (name === "" || this.#next() !== "(")
      throw new FormulaError(
        msg("A number, a measure such as count(), or a bracket is missing here."),
        start,
      );
    this.#at++;
    if (isOneOf(MEASURES, name)) return this.#measure(name, start);
    if (name === "offset") return this.#offset();
    if (isOneOf(SERIES_FUNCTIONS, name)) return this.#series(name);
    throw new FormulaError(
      msg(str`There is no function ${name}(). “Examples and functions” below the formula lists all.`),
      start,
    );
  }

  #series(name: SeriesFunction): Term {
    const of = this.#sum();
    let steps = 1;
    if (name === "moving_average") {
      this.#expect(",");
      const from = this.#at;
      steps = Number(this.#raw());
      if (!Number.isInteger(steps) || steps < 1 || steps > MAX_STEPS)
        throw new FormulaError(msg(str`A number of steps from 1 to ${MAX_STEPS} is missing here.`), from);
    }
    this.#expect(")");
    return { kind: "series", name, of, steps };
  }

  /** Its length follows what it moves, and is read first. */
  #offset(): Term {
    const start = this.#at;
    const before = this.#offsetMs;
    const length = /,\s*(\d+)([smhdw])\s*$/.exec(this.#text.slice(start, this.#closing(start)));
    if (length === null)
      throw new FormulaError(
        msg("A comma and a length such as 1w are missing at the end of offset()."),
        start,
      );
    this.#offsetMs = before + Number(length[1]) * UNITS_MS[length[2]!]!;
    const inner = this.#sum();
    this.#offsetMs = before;
    this.#expect(",");
    this.#raw();
    this.#expect(")");
    return inner;
  }

  #measure(kind: MeasureKind, start: number): Term {
    const end = this.#closing(this.#at);
    const inside = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    const comma = kind === "count" ? -1 : inside.indexOf(",");
    const query = kind === "count" ? inside : comma < 0 ? "" : inside.slice(comma + 1);
    const field = kind === "count" ? "" : (comma < 0 ? inside : inside.slice(0, comma)).trim();
    if (kind !== "count" && field === "")
      throw new FormulaError(msg(str`${kind}() takes a field, such as ${kind}(duration).`), start);
    const measure: Measure = { kind, field, query: query.trim(), offsetMs: this.#offsetMs };
    const key = JSON.stringify(measure);
    let at = this.#measures.findIndex((one) => JSON.stringify(one) === key);
    if (at < 0) at = this.#measures.push(measure) - 1;
    if (at >= MAX_MEASURES)
      throw new FormulaError(msg(str`A formula has at most ${MAX_MEASURES} measures.`), start);
    return { kind: "measure", at };
  }

  /** Returns where the bracket ends that was opened before `from`; brackets within quotes don't count. */
  #closing(from: number): number {
    let depth = 0;
    let isQuoted = false;
    for (let at = from; at < this.#text.length; at++) {
      const sign = this.#text[at]!;
      if (sign === "\\") at++;
      else if (sign === '"') isQuoted = !isQuoted;
      else if (isQuoted) continue;
      else if (sign === "(") depth++;
      else if (sign === ")" && depth-- === 0) return at;
    }
    throw new FormulaError(msg("This bracket is never closed."), from - 1);
  }

  /** Returns the text up to the next comma or bracket. */
  #raw(): string {
    const text = /^[^,()]*/.exec(this.#text.slice(this.#at))![0];
    this.#at += text.length;
    return text.trim();
  }

  #next(): string {
    this.#at += /^\s*/.exec(this.#text.slice(this.#at))![0].length;
    return this.#text[this.#at] ?? "";
  }

  #expect(sign: string): void {
    if (this.#next() !== sign) throw new FormulaError(msg(str`A ${sign} is missing here.`), this.#at);
    this.#at++;
  }
}

function isOneOf<T extends string>(names: readonly T[], name: string): name is T {
  return (names as readonly string[]).includes(name);
}

/** Returns the values of a term over a series, from those of its measures; undefined if there is nothing to divide. */
export function termValues(
  term: Term,
  measured: readonly (readonly (number | undefined)[])[],
  length: number,
): (number | undefined)[] {
  if (term.kind === "number") return Array.from({ length }, () => term.value);
  if (term.kind === "measure") return [...measured[term.at]!];
  if (term.kind === "series") return ofSeries(term.name, termValues(term.of, measured, length), term.steps);
  const left = termValues(term.left, measured, length);
  const right = termValues(term.right, measured, length);
  return left.map((one, at) => calculated(term.sign, one, right[at]));
}

function calculated(sign: string, a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined || (sign === "/" && b === 0)) return undefined;
  const value = sign === "+" ? a + b : sign === "-" ? a - b : sign === "*" ? a * b : a / b;
  return Number.isFinite(value) ? value : undefined;
}

function ofSeries(
  name: SeriesFunction,
  values: readonly (number | undefined)[],
  steps: number,
): (number | undefined)[] {
  let sum = 0;
  return values.map((value, at) => {
    if (name === "cumulative") return (sum += value ?? 0);
    if (name === "derivative") return calculated("-", value, values[at - 1]);
    const window = values.slice(Math.max(0, at - steps + 1), at + 1).filter((one) => one !== undefined);
    return window.length === 0 ? undefined : window.reduce((total, one) => total + one, 0) / window.length;
  });
}
