/** Writes answers as JSON. Raw documents and whole numbers of any size keep their text. */

import { NumberText } from "#proto/kit/number-text.ts";
import { checkNesting, LONG_NUMBER, parseJson } from "./json.ts";

/** Keys that are kept quoted: those of answers, and the first ones of documents. */
const MAX_QUOTED = 2_000;
const quoted = new Map<string, string>();

/** Returns `value` as JSON; undefined members are left out. `pretty`: indented, with a newline at the end. */
export function writeJson(value: unknown, pretty = false): string {
  if (!pretty) return compact(value);
  const parts: string[] = [];
  writePretty(value, "\n", parts);
  parts.push("\n");
  return parts.join("");
}

/** Items of a list between two moments at which others may get the thread. */
const ITEMS_A_STEP = 32;
/** Levels down to which lists are looked for that are written in steps: buckets within buckets, hits. */
const STEPPED_LEVELS = 6;

/** Like `writeJson`, not pretty, in steps. */
export function* jsonSteps(value: unknown, levels = STEPPED_LEVELS): Generator<void, string> {
  if (levels === 0 || typeof value !== "object" || value === null || isText(value)) return compact(value);
  let text = "";
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const item: unknown = value[at];
      const written = value.length < ITEMS_A_STEP ? yield* jsonSteps(item, levels - 1) : compact(item);
      text += (at > 0 ? "," : "") + written;
      if (at % ITEMS_A_STEP === ITEMS_A_STEP - 1) yield;
    }
    return `[${text}]`;
  }
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const each = members[key];
    if (each === undefined) continue;
    text += (text === "" ? "" : ",") + quote(key) + (yield* jsonSteps(each, levels - 1));
  }
  return `{${text}}`;
}

/**
 * Returns `value` with raw documents parsed, for those who look into it. Numbers whose text isn't that of their value, such as
 * 5.0, are NumberText.
 */
export function plainValue(value: unknown): unknown {
  if (value instanceof RawJson) return parseTexts(value.text);
  if (value instanceof NumberText) return value;
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainValue(each)]));
}

const NUMBER = /^-?\d[\d.eE+-]*$/;

/** Returns the number that an answer prints as `value`, if that is one: fractions have texts, other hosts send them as raw JSON. */
export function printedNumber(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (value instanceof NumberText) return Number(value.text);
  return value instanceof RawJson && NUMBER.test(value.text) ? Number(value.text) : undefined;
}

function compact(value: unknown): string {
  if (typeof value !== "object" || value === null) return scalar(value);
  if (isText(value)) return value.text;
  let text = "";
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) text += (at > 0 ? "," : "") + compact(value[at]);
    return `[${text}]`;
  }
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const each = members[key];
    if (each !== undefined) text += (text === "" ? "" : ",") + quote(key) + compact(each);
  }
  return `{${text}}`;
}

/** Returns a key with the colon after it. */
function quote(key: string): string {
  const known = quoted.get(key);
  if (known !== undefined) return known;
  const text = `${JSON.stringify(key)}:`;
  if (quoted.size < MAX_QUOTED) quoted.set(key, text);
  return text;
}

function writePretty(given: unknown, newline: string, parts: string[]): void {
  const value = given instanceof RawJson ? parseTexts(given.text) : given;
  if (value instanceof NumberText) {
    parts.push(value.text);
    return;
  }
  if (typeof value !== "object" || value === null) {
    parts.push(scalar(value));
    return;
  }
  const isList = Array.isArray(value);
  const members = Object.entries(value).filter(([, each]) => isList || each !== undefined);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (members.length === 0) {
    parts.push(open, " ", close);
    return;
  }
  const inner = `${newline}  `;
  parts.push(open);
  for (const [at, [key, each]] of members.entries()) {
    parts.push(at > 0 ? "," : "", inner);
    if (!isList) parts.push(JSON.stringify(key), " : ");
    writePretty(each, inner, parts);
  }
  parts.push(newline, close);
}

/** JSON has no NaN and infinities; clients of this interface expect them as text. */
function scalar(value: unknown): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : `"${value}"`;
  if (typeof value === "bigint") return value.toString();
  return JSON.stringify(value) ?? "null";
}

/** Numbers that may have another text than their value: with an exponent, or a zero at the end of a fraction. */
const OTHER_TEXT = /\d[eE][+-]?\d|\.\d*0(?!\d)/;

/** Parses JSON like parseJson, but keeps the texts of numbers. Throws parsing. */
function parseTexts(text: string): unknown {
  if (!OTHER_TEXT.test(text)) return parseJson(text);
  checkNesting(text);
  return JSON.parse(text, withText);
}

/** Returns the value of a document; numbers whose text isn't that of their value are NumberText. */
export function exactValue({ text }: RawJson): unknown {
  return OTHER_TEXT.test(text) || LONG_NUMBER.test(text) ? JSON.parse(text, withText) : JSON.parse(text);
}

function withText(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  return typeof value === "number" && source !== undefined && String(value) !== source
    ? new NumberText(source)
    : value;
}

function isText(value: object): value is RawJson | NumberText {
  return value instanceof RawJson || value instanceof NumberText;
}

/** A document as it was sent: its numbers, key order and white space stay. */
export class RawJson {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get text(): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString("utf8");
  }

  /** The value, for those who need to look into it. */
  parse(): unknown {
    return JSON.parse(this.text);
  }

  /** So that plain JSON.stringify is right too, if not exact. */
  toJSON(): unknown {
    return this.parse();
  }
}
