/** Methods of texts: String, StringBuilder, StringTokenizer, StringJoiner. */

import { createHash } from "node:crypto";
import { hashCode } from "#hub/scripts/values/hash-order.ts";
import { compare, equals, toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import {
  Callable,
  type CallContext,
  Char,
  type Methods,
  print,
  ScriptObject,
  weigh,
} from "#hub/scripts/values/values.ts";
import { charge } from "./costs.ts";

/** Texts that scripts make may have so many characters. */
export const MAX_TEXT_CHARS = 1_000_000;

/** Code of " ". */
const BLANK = 32;

function text(value: unknown): string {
  if ((value ?? null) === null) throw new ScriptException("NullPointerException", null);
  return print(value);
}

function outOfBounds(index: number): ScriptException {
  return new ScriptException("StringIndexOutOfBoundsException", `String index out of range: ${index}`);
}

/** Refuses a text that is too long, and counts what it costs. */
export function bounded(value: string, context: CallContext): string {
  context.spend(value.length >> 6);
  return refused(value);
}

function refused(value: string): string {
  if (value.length <= MAX_TEXT_CHARS) return value;
  throw new ScriptException(
    "IllegalArgumentException",
    `a text may have at most ${MAX_TEXT_CHARS} characters`,
  );
}

/** `+` where one of the values is a text: nothing is copied yet, so that it costs less than other operations. */
export function appended(left: unknown, right: unknown, context: CallContext): string {
  if (typeof left === "object") weigh(left, context);
  if (typeof right === "object") weigh(right, context);
  const text = print(left) + print(right);
  context.spend(text.length >> 10);
  return refused(text);
}

/** Cuts control characters and blanks off both ends. A loop, because `/\s+$/` takes quadratic time. */
function trimmed(self: string): string {
  let [from, to] = [0, self.length];
  while (from < to && self.charCodeAt(from) <= BLANK) from++;
  while (to > from && self.charCodeAt(to - 1) <= BLANK) to--;
  return self.slice(from, to);
}

function charAt(self: string, index: number): Char {
  if (index < 0 || index >= self.length) throw outOfBounds(index);
  return new Char(self.charCodeAt(index));
}

function substring(self: string, from: number, to = self.length): string {
  if (from < 0) throw outOfBounds(from);
  if (to > self.length) throw outOfBounds(to);
  if (from > to) throw outOfBounds(to - from);
  return self.slice(from, to);
}

function indexOf(self: string, values: readonly unknown[]): number {
  const wanted = typeof values[0] === "number" ? String.fromCharCode(values[0]) : text(values[0]);
  return self.indexOf(wanted, values.length > 1 ? toInteger(values[1]) : 0);
}

function lastIndexOf(self: string, values: readonly unknown[]): number {
  const wanted = typeof values[0] === "number" ? String.fromCharCode(values[0]) : text(values[0]);
  return self.lastIndexOf(wanted, values.length > 1 ? toInteger(values[1]) : undefined);
}

/** `splitOnToken` of the language: no regular expression; empty parts at the end stay. */
function splitOnToken(self: string, values: readonly unknown[]): string[] {
  const [token, limit] = [text(values[0]), values.length > 1 ? toInteger(values[1]) : -1];
  const parts = token === "" ? [self] : self.split(token);
  if (limit <= 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(token)];
}

export const STRING_METHODS: Methods = new Map(
  Object.entries({
    length: (self: string) => self.length,
    isEmpty: (self: string) => self === "",
    charAt: (self: string, [index]: readonly unknown[]) => charAt(self, toInteger(index)),
    codePointAt: (self: string, [index]: readonly unknown[]) => self.codePointAt(toInteger(index)) ?? 0,
    substring: (self: string, [from, to]: readonly unknown[]) =>
      substring(self, toInteger(from), to === undefined ? undefined : toInteger(to)),
    subSequence: (self: string, [from, to]: readonly unknown[]) =>
      substring(self, toInteger(from), toInteger(to)),
    contains: (self: string, [part]: readonly unknown[]) => self.includes(text(part)),
    startsWith: (self: string, [part, from]: readonly unknown[]) =>
      self.startsWith(text(part), from === undefined ? 0 : toInteger(from)),
    endsWith: (self: string, [part]: readonly unknown[]) => self.endsWith(text(part)),
    indexOf: (self: string, values: readonly unknown[]) => indexOf(self, values),
    lastIndexOf: (self: string, values: readonly unknown[]) => lastIndexOf(self, values),
    equals: (self: string, [other]: readonly unknown[]) => self === other,
    equalsIgnoreCase: (self: string, [other]: readonly unknown[]) =>
      typeof other === "string" && self.toLowerCase() === other.toLowerCase(),
    contentEquals: (self: string, [other]: readonly unknown[]) => self === text(other),
    compareTo: (self: string, [other]: readonly unknown[]) => compareTexts(self, text(other)),
    compareToIgnoreCase: (self: string, [other]: readonly unknown[]) =>
      compareTexts(self.toLowerCase(), text(other).toLowerCase()),
    concat: (self: string, [other]: readonly unknown[], context: CallContext) =>
      bounded(self + text(other), context),
    toLowerCase: (self: string) => self.toLowerCase(),
    toUpperCase: (self: string) => self.toUpperCase(),
    trim: (self: string) => trimmed(self),
    replace: (self: string, [from, to]: readonly unknown[], context: CallContext) => {
      context.spend(self.length >> 6);
      return bounded(
        self.replaceAll(text(from), () => text(to)),
        context,
      );
    },
    splitOnToken: (self: string, values: readonly unknown[], context: CallContext) => {
      const parts = splitOnToken(self, values);
      context.spend((self.length >> 4) + parts.length);
      return parts;
    },
    toCharArray: (self: string, _: readonly unknown[], context: CallContext) => {
      context.spend(self.length);
      return Array.from({ length: self.length }, (_each, at) => new Char(self.charCodeAt(at)));
    },
    hashCode: (self: string) => hashCode(self),
    toString: (self: string) => self,
    encodeBase64: (self: string, _: readonly unknown[], context: CallContext) =>
      bounded(Buffer.from(self).toString("base64"), context),
    sha1: (self: string) => createHash("sha1").update(self).digest("hex"),
    sha256: (self: string) => createHash("sha256").update(self).digest("hex"),
    decodeBase64: (self: string, _: readonly unknown[], context: CallContext) =>
      bounded(Buffer.from(self, "base64").toString(), context),
  }),
);

function compareTexts(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const difference = a.charCodeAt(at) - b.charCodeAt(at);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** A text that grows. */
export class StringBuilder extends ScriptObject {
  readonly type = "StringBuilder";
  readonly methods = BUILDER_METHODS;
  text: string;

  constructor(start = "") {
    super();
    this.text = start;
  }

  override toString(): string {
    return this.text;
  }

  override parts(): readonly unknown[] {
    return [this.text];
  }

  override isA(name: string): boolean {
    return name === "CharSequence";
  }
}

function change(self: StringBuilder, next: string, context: CallContext): StringBuilder {
  self.text = bounded(next, context);
  return self;
}

const BUILDER_METHODS: Methods = new Map(
  Object.entries({
    append: (self: StringBuilder, [value]: readonly unknown[], context: CallContext) =>
      change(self, self.text + print(value), context),
    insert: (self: StringBuilder, [at, value]: readonly unknown[], context: CallContext) =>
      change(
        self,
        self.text.slice(0, toInteger(at)) + print(value) + self.text.slice(toInteger(at)),
        context,
      ),
    delete: (self: StringBuilder, [from, to]: readonly unknown[], context: CallContext) =>
      change(self, self.text.slice(0, toInteger(from)) + self.text.slice(toInteger(to)), context),
    deleteCharAt: (self: StringBuilder, [at]: readonly unknown[], context: CallContext) =>
      change(self, self.text.slice(0, toInteger(at)) + self.text.slice(toInteger(at) + 1), context),
    replace: (self: StringBuilder, [from, to, value]: readonly unknown[], context: CallContext) =>
      change(
        self,
        self.text.slice(0, toInteger(from)) + print(value) + self.text.slice(toInteger(to)),
        context,
      ),
    reverse: (self: StringBuilder, _: readonly unknown[], context: CallContext) =>
      change(self, Array.from(self.text).reverse().join(""), context),
    setLength: (self: StringBuilder, [length]: readonly unknown[], context: CallContext) => {
      change(
        self,
        self.text.slice(0, toInteger(length)).padEnd(Math.min(toInteger(length), MAX_TEXT_CHARS), "\0"),
        context,
      );
      return null;
    },
    setCharAt: (self: StringBuilder, [at, value]: readonly unknown[], context: CallContext) => {
      change(
        self,
        self.text.slice(0, toInteger(at)) + print(value) + self.text.slice(toInteger(at) + 1),
        context,
      );
      return null;
    },
    length: (self: StringBuilder) => self.text.length,
    charAt: (self: StringBuilder, [index]: readonly unknown[]) => charAt(self.text, toInteger(index)),
    indexOf: (self: StringBuilder, values: readonly unknown[], context: CallContext) => {
      charge(self.text, "indexOf", values, context);
      return indexOf(self.text, values);
    },
    lastIndexOf: (self: StringBuilder, values: readonly unknown[], context: CallContext) => {
      charge(self.text, "lastIndexOf", values, context);
      return lastIndexOf(self.text, values);
    },
    substring: (self: StringBuilder, [from, to]: readonly unknown[]) =>
      substring(self.text, toInteger(from), to === undefined ? undefined : toInteger(to)),
    toString: (self: StringBuilder) => self.text,
  }),
);

/** Cuts a text at any of some characters. */
export class StringTokenizer extends ScriptObject {
  readonly type = "StringTokenizer";
  readonly methods = TOKENIZER_METHODS;
  readonly tokens: string[];
  at = 0;

  constructor(source: string, delimiters = " \t\n\r\f") {
    super();
    const parts: string[] = [];
    const cuts = new Set(delimiters.split(""));
    let start = 0;
    for (let at = 0; at <= source.length; at++) {
      if (at < source.length && !cuts.has(source[at]!)) continue;
      if (at > start) parts.push(source.slice(start, at));
      start = at + 1;
    }
    this.tokens = parts;
  }
}

function nextToken(self: StringTokenizer): string {
  const token = self.tokens[self.at++];
  if (token === undefined) throw new ScriptException("NoSuchElementException", null);
  return token;
}

const TOKENIZER_METHODS: Methods = new Map(
  Object.entries({
    hasMoreTokens: (self: StringTokenizer) => self.at < self.tokens.length,
    hasMoreElements: (self: StringTokenizer) => self.at < self.tokens.length,
    nextToken: (self: StringTokenizer) => nextToken(self),
    nextElement: (self: StringTokenizer) => nextToken(self),
    countTokens: (self: StringTokenizer) => self.tokens.length - self.at,
  }),
);

/** Returns the method of a function value that sorts: a comparator, or the natural order. */
export function orderOf(comparator: unknown): (a: unknown, b: unknown) => number {
  if (!(comparator instanceof Callable)) return compare;
  return (a, b) => toInteger(comparator.call(a, b));
}

/** equals() as a method. */
export const equalsMethod = (self: unknown, [other]: readonly unknown[], context: CallContext): boolean =>
  equals(self, other, context);
