/** Functions of the templates of `line_format` and `label_format`, as in Go's templates and Loki. */

import { isObject } from "#proto/kit/json.ts";
import type { Entry } from "./entry.ts";
import { chargePass, chargeWork, partExpression } from "./expressions.ts";
import { byteCount, durationMs } from "./lexer.ts";
import {
  checkLength,
  concatenated,
  fraction,
  isTrue,
  order,
  printed,
  TemplateFault,
  text,
  type Value,
  whole,
} from "./template-values.ts";

/** Returns the value of a call; throws TemplateFault where Loki's fails. */
export type TemplateFunction = (values: readonly Value[], entry: Entry) => Value;

/** Functions of texts, in the order of Go's arguments. */
function texts(work: (...values: string[]) => Value): TemplateFunction {
  return (values) => work(...values.map(text));
}

/** Functions of a count and a text. */
function counted(work: (count: number, characters: string[]) => string): TemplateFunction {
  return ([count, value]) => {
    const characters = Array.from(text(value));
    const number = Number(whole(count));
    checkLength(Math.abs(number));
    return work(number, characters);
  };
}

const wholes =
  (work: (a: bigint, b: bigint) => bigint): TemplateFunction =>
  (values) =>
    some(values).map(whole).reduce(work);

const fractions =
  (work: (a: number, b: number) => number): TemplateFunction =>
  (values) =>
    some(values).map(fraction).reduce(work);

function some(values: readonly Value[]): readonly Value[] {
  if (values.length === 0) throw new TemplateFault("missing argument");
  return values;
}

const withoutValues: TemplateFunction = () => {
  throw new TemplateFault("missing argument");
};

function divided(a: bigint, b: bigint, isRest: boolean): bigint {
  if (b === 0n) throw new TemplateFault("integer divide by zero");
  return isRest ? a % b : a / b;
}

function trimmed(value: string, characters: string, sides: "both" | "left" | "right"): string {
  const all = Array.from(value);
  const cut = new Set(characters);
  let [start, end] = [0, all.length];
  if (sides !== "right") while (start < end && cut.has(all[start]!)) start++;
  if (sides !== "left") while (end > start && cut.has(all[end - 1]!)) end--;
  return all.slice(start, end).join("");
}

function replaced(value: string, from: string, to: string, times = -1): string {
  const parts = value.split(from === "" ? /(?:)/u : from);
  const count = times < 0 ? parts.length - 1 : Math.min(times, parts.length - 1);
  checkLength(value.length + count * to.length);
  return [parts.slice(0, count + 1).join(to), ...parts.slice(count + 1)].join(from);
}

function indented(count: Value | undefined, value: Value | undefined): string {
  const lines = text(value).split("\n");
  checkLength(lines.length * Number(whole(count)));
  return lines.map((line) => " ".repeat(Math.max(0, Number(whole(count)))) + line).join("\n");
}

/** Returns the expression of a call, and charges its work to the line. */
function expressionFor(source: string, value: string, entry: Entry): RegExp {
  const expression = partExpression(source);
  chargeWork(entry, expression, value);
  expression.lastIndex = 0;
  return expression;
}

function regexReplaced(isLiteral: boolean): TemplateFunction {
  return ([source, value, to], entry) => {
    const [line, replacement] = [text(value), text(to)];
    const expression = expressionFor(text(source), line, entry);
    let length = 0;
    const expanded = (found: unknown[]): string => {
      if (isLiteral) return replacement;
      const named = isObject(found.at(-1)) ? (found.pop() as Readonly<Record<string, unknown>>) : {};
      // The offset and the whole text follow the groups.
      const groups = found.slice(0, -2);
      return replacement.replace(/\$(?:\{(\w+)\}|(\w+)|\$)/g, (_, braced?: string, plain?: string) => {
        const name = braced ?? plain;
        if (name === undefined) return "$";
        const group = /^\d+$/.test(name) ? groups[Number(name)] : named[name];
        return typeof group === "string" ? group : "";
      });
    };
    return line.replace(expression, (...found: unknown[]) => {
      chargePass(entry, replacement.length);
      const added = expanded(found);
      checkLength((length += added.length));
      return added;
    });
  };
}

function measured(value: string, read: (value: string) => number, what: string): number {
  const number = read(value.trim());
  if (Number.isNaN(number)) throw new TemplateFault(`invalid ${what} ${JSON.stringify(value.slice(0, 100))}`);
  return number;
}

function urlDecoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    throw new TemplateFault("invalid URL escape");
  }
}

function urlEncoded(value: string): string {
  const special = (character: string): string =>
    `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  return encodeURIComponent(value.toWellFormed())
    .replace(/[!'()*]/g, special)
    .replaceAll("%20", "+");
}

const min = (a: bigint, b: bigint): bigint => (b < a ? b : a);
const max = (a: bigint, b: bigint): bigint => (b > a ? b : a);

const OFFERED: Readonly<Record<string, TemplateFunction>> = {
  ToUpper: texts((value = "") => value.toUpperCase()),
  ToLower: texts((value = "") => value.toLowerCase()),
  upper: texts((value = "") => value.toUpperCase()),
  lower: texts((value = "") => value.toLowerCase()),
  title: texts((value = "") => value.replace(/(^|[^\p{L}\p{N}_'])(\p{L})/gu, (all) => all.toUpperCase())),
  trim: texts((value = "") => value.trim()),
  TrimSpace: texts((value = "") => value.trim()),
  Trim: texts((value = "", cut = "") => trimmed(value, cut, "both")),
  TrimLeft: texts((value = "", cut = "") => trimmed(value, cut, "left")),
  TrimRight: texts((value = "", cut = "") => trimmed(value, cut, "right")),
  TrimPrefix: texts((value = "", cut = "") => (value.startsWith(cut) ? value.slice(cut.length) : value)),
  TrimSuffix: texts((value = "", cut = "") =>
    value.endsWith(cut) ? value.slice(0, value.length - cut.length) : value,
  ),
  trimAll: texts((cut = "", value = "") => trimmed(value, cut, "both")),
  trimPrefix: texts((cut = "", value = "") => (value.startsWith(cut) ? value.slice(cut.length) : value)),
  trimSuffix: texts((cut = "", value = "") =>
    value.endsWith(cut) ? value.slice(0, value.length - cut.length) : value,
  ),
  Replace: ([value, from, to, times]) => replaced(text(value), text(from), text(to), Number(whole(times))),
  replace: texts((from = "", to = "", value = "") => replaced(value, from, to)),
  contains: texts((part = "", value = "") => value.includes(part)),
  hasPrefix: texts((part = "", value = "") => value.startsWith(part)),
  hasSuffix: texts((part = "", value = "") => value.endsWith(part)),
  repeat: ([count, value]) => {
    const times = Math.max(0, Number(whole(count)));
    checkLength(times * text(value).length);
    return text(value).repeat(times);
  },
  trunc: counted((count, all) =>
    (count < 0 ? all.slice(Math.min(0, Math.max(count, -all.length))) : all.slice(0, count)).join(""),
  ),
  substr: ([start, end, value]) => {
    const all = Array.from(text(value));
    const [from, to] = [Number(whole(start)), Number(whole(end))];
    return (from < 0 ? all.slice(0, Math.max(0, to)) : all.slice(from, to < 0 ? undefined : to)).join("");
  },
  alignLeft: counted((count, all) => (count < 0 ? all : all.slice(0, count)).join("").padEnd(count)),
  alignRight: counted((count, all) =>
    all
      .slice(count < 0 ? 0 : Math.max(0, all.length - count))
      .join("")
      .padStart(count),
  ),
  indent: ([count, value]) => indented(count, value),
  nindent: ([count, value]) => `\n${indented(count, value)}`,
  regexReplaceAll: regexReplaced(false),
  regexReplaceAllLiteral: regexReplaced(true),
  count: ([source, value], entry) =>
    BigInt([...text(value).matchAll(expressionFor(text(source), text(value), entry))].length),
  urlencode: texts((value = "") => urlEncoded(value)),
  urldecode: texts((value = "") => urlDecoded(value)),
  b64enc: texts((value = "") => Buffer.from(value).toString("base64")),
  b64dec: texts((value = "") => Buffer.from(value, "base64").toString()),
  bytes: texts((value = "") => measured(value, byteCount, "size")),
  duration: texts((value = "") => measured(value, durationMs, "duration") / 1_000),
  duration_seconds: texts((value = "") => measured(value, durationMs, "duration") / 1_000),
  int: ([value]) => whole(value),
  float64: ([value]) => fraction(value),
  add: wholes((a, b) => a + b),
  sub: wholes((a, b) => a - b),
  mul: wholes((a, b) => a * b),
  div: wholes((a, b) => divided(a, b, false)),
  mod: wholes((a, b) => divided(a, b, true)),
  min: wholes(min),
  max: wholes(max),
  addf: fractions((a, b) => a + b),
  subf: fractions((a, b) => a - b),
  mulf: fractions((a, b) => a * b),
  divf: fractions((a, b) => a / b),
  minf: fractions((a, b) => Math.min(a, b)),
  maxf: fractions((a, b) => Math.max(a, b)),
  ceil: ([value]) => Math.ceil(fraction(value)),
  floor: ([value]) => Math.floor(fraction(value)),
  round: ([value, places, from = 0.5]) => {
    const power = 10 ** Number(whole(places));
    const scaled = fraction(value) * power;
    return (scaled - Math.floor(scaled) >= fraction(from) ? Math.ceil(scaled) : Math.floor(scaled)) / power;
  },
  default: ([otherwise = "", value]) => (isTrue(value) ? value! : otherwise),
  eq: ([first, ...others]) => others.some((other) => order(first, other) === 0),
  ne: ([a, b]) => order(a, b) !== 0,
  lt: ([a, b]) => order(a, b) < 0,
  le: ([a, b]) => order(a, b) <= 0,
  gt: ([a, b]) => order(a, b) > 0,
  ge: ([a, b]) => order(a, b) >= 0,
  // With values these are worked out where templates are read.
  and: withoutValues,
  or: withoutValues,
  not: ([value]) => !isTrue(value),
  len: ([value]) => BigInt(Buffer.byteLength(text(value))),
  print: (values) => concatenated(values.map(text)),
  printf: printed,
};

export const TEMPLATE_FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map(Object.entries(OFFERED));
