/** One processed event for filters and rows: decoded at most once for all viewers. */

import { isObject } from "#proto/kit/json.ts";
import { wordsOf } from "./pattern.ts";

/** An event that has passed the pipeline. */
export interface LiveEvent {
  readonly index: string;
  /** The document's `_id`. */
  readonly id: string;
  /** @timestamp, ms since 1970-01-01 UTC. */
  readonly timestampMs: number;
  /** The document as JSON in UTF-8. */
  readonly source: Uint8Array;
}

type Fields = Readonly<Record<string, unknown>>;

/** Deeper paths aren't followed: the number of ways to split a dotted name grows with its dots. */
const MAX_PATH_PARTS = 16;
/** Maximum depth of nested arrays that are followed: a document may nest them as deep as it is long. */
const MAX_ARRAYS = 100;
const NO_TEXTS: readonly string[] = [];

export class EventDocument {
  readonly event: LiveEvent;
  #bytes: string | undefined;
  #ascii: boolean | undefined;
  #fields: Fields | undefined;
  #text: string | undefined;
  readonly #texts = new Map<string, readonly string[]>();

  constructor(event: LiveEvent) {
    this.event = event;
  }

  /** True if the JSON is already decoded: a test of its bytes then saves nothing. */
  get isDecoded(): boolean {
    return this.#fields !== undefined;
  }

  /**
   * Returns false if `literal` (lower-case ASCII that JSON never escapes) can't be in any value. Always true for documents
   * with other letters: some of those fold to ASCII ones.
   */
  mayContain(literal: string): boolean {
    const { source } = this.event;
    this.#bytes ??= latin1(source).toLowerCase();
    if (this.#bytes.includes(literal)) return true;
    this.#ascii ??= !/[\u0080-\u00ff]/.test(this.#bytes);
    return !this.#ascii;
  }

  /** The document; empty if its bytes aren't a JSON object. */
  get fields(): Fields {
    this.#fields ??= decode(this.event.source);
    return this.#fields;
  }

  /** The message in lower case, or the whole document's JSON if it has none. */
  get text(): string {
    this.#text ??= this.message.toLowerCase();
    return this.#text;
  }

  /** The message, or the whole document's JSON if it has none. */
  get message(): string {
    const message = this.fields["message"];
    if (typeof message === "string") return message;
    return new TextDecoder().decode(this.event.source);
  }

  /** Returns the values of a dotted field as lower-case texts; none if it is missing. */
  texts(field: string): readonly string[] {
    const known = this.#texts.get(field);
    if (known !== undefined) return known;
    const values: string[] = [];
    collect(this.value(field), values, MAX_ARRAYS);
    const texts = values.length === 0 ? NO_TEXTS : values;
    this.#texts.set(field, texts);
    return texts;
  }

  /** Returns the words of a dotted field's values, lower case; none if it is missing. */
  words(field: string): readonly string[] {
    const texts = this.texts(field);
    return texts.length === 1 ? wordsOf(texts[0]!) : texts.flatMap(wordsOf);
  }

  /** Returns the value of a dotted field, unconverted; undefined if it is missing. */
  value(field: string): unknown {
    return valueAt(this.fields, partsOf(field), 0, MAX_ARRAYS);
  }
}

function latin1(source: Uint8Array): string {
  return Buffer.from(source.buffer, source.byteOffset, source.byteLength).toString("latin1");
}

function decode(source: Uint8Array): Fields {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(source));
    return isObject(value) ? (value as Fields) : {};
  } catch {
    return {};
  }
}

/** The parts of requested names: filters request few names, each for every event. */
const knownParts = new Map<string, readonly string[]>();
const MAX_KNOWN_PARTS = 10_000;

function partsOf(field: string): readonly string[] {
  let parts = knownParts.get(field);
  if (parts !== undefined) return parts;
  parts = field.split(".", MAX_PATH_PARTS);
  if (knownParts.size >= MAX_KNOWN_PARTS) knownParts.clear();
  knownParts.set(field, parts);
  return parts;
}

/** Follows nested objects and dotted keys from part `from` on, in any mixture; the longest key wins. */
function valueAt(value: unknown, parts: readonly string[], from: number, arrays: number): unknown {
  if (from === parts.length) return value;
  if (Array.isArray(value)) {
    if (arrays === 0) return undefined;
    const found = value
      .map((item) => valueAt(item, parts, from, arrays - 1))
      .filter((item) => item !== undefined);
    return found.length === 0 ? undefined : found;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (let end = parts.length; end > from; end--) {
    const key = end === from + 1 ? parts[from]! : parts.slice(from, end).join(".");
    if (!Object.hasOwn(value, key)) continue;
    const found = valueAt((value as Fields)[key], parts, end, arrays);
    if (found !== undefined) return found;
  }
  return undefined;
}

function collect(value: unknown, into: string[], arrays: number): void {
  if (typeof value === "string") into.push(value.toLowerCase());
  else if (typeof value === "number" || typeof value === "boolean") into.push(String(value));
  else if (Array.isArray(value)) {
    if (arrays > 0) for (const item of value) collect(item, into, arrays - 1);
  } else if (typeof value === "object" && value !== null) into.push("");
}
