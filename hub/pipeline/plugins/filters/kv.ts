/** Filter kv: reads `key=value` pairs. */

import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { RegexpTimeout } from "#hub/pipeline/regexp/regexp-guard.ts";
import { translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { type Event, valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import { anyTable, flag, list, oneOf, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const TRANSFORMS = ["lowercase", "uppercase", "capitalize"] as const;

export const kvFilter = defineFilter({
  name: "kv",
  description: "parses key=value pairs into fields",
  options: options({
    trim_value: optional(text("characters to trim from both ends of values")),
    trim_key: optional(text("characters to trim from both ends of keys")),
    remove_char_value: optional(text("characters to remove from values")),
    remove_char_key: optional(text("characters to remove from keys")),
    transform_value: optional(oneOf(TRANSFORMS, "how values are written")),
    transform_key: optional(oneOf(TRANSFORMS, "how keys are written")),
    field_split: text("characters between pairs", " "),
    field_split_pattern: optional(text("regular expression for the text between pairs")),
    value_split: text("characters between key and value", "="),
    value_split_pattern: optional(text("regular expression for the text between key and value")),
    prefix: text("prefix of each key, a format", ""),
    source: text("field to read", "message"),
    target: optional(text("target field for the pairs; default: they become fields")),
    include_keys: list("keys to extract, as formats; none: all"),
    exclude_keys: list("keys to ignore, as formats"),
    default_keys: anyTable("values of keys that aren't found"),
    allow_duplicate_values: flag("false: a value that a key has already isn't added", true),
    allow_empty_values: flag("true: keys without a value become empty fields", false),
    include_brackets: flag("(…), […] and <…> around a value are cut off and keep it together", true),
    recursive: flag("values that are pairs themselves become objects", false),
    whitespace: oneOf(["strict", "lenient"], "lenient: blanks around value_split are ignored", "lenient"),
    timeout_millis: Type.Integer({
      default: 30_000,
      minimum: 0,
      description: "timeout for reading one event, ms",
    }),
    tag_on_timeout: text("tag of events for which reading timed out", "_kv_filter_timeout"),
    tag_on_failure: list("tags of events for which reading failed", ["_kv_filter_error"]),
  }),
  create(values, { guard, report }) {
    const source = fieldReference(values.source);
    const target =
      values.target === undefined || values.target === "" ? undefined : fieldReference(values.target);
    const prefix = compileFormat(values.prefix);
    const include = values.include_keys.map(compileFormat);
    const exclude = values.exclude_keys.map(compileFormat);
    guard.expect(values.timeout_millis);
    const reader = KeyValueReader.create(values as KeyValueOptions, report);
    if (reader === undefined) return { apply: () => false };
    const read = (event: Event, value: unknown): Map<string, unknown> => {
      const keys = (formats: typeof include): Set<string> => new Set(formats.map((format) => format(event)));
      const filter = { prefix: prefix(event), include: keys(include), exclude: keys(exclude) };
      return reader.read([value].flat(), filter);
    };
    return {
      apply(event) {
        const value = event.get(source);
        try {
          const guarded = Array.isArray(value) ? value.map(valueText).join("\n") : value;
          const found =
            typeof guarded === "string"
              ? guard.run(reader, guarded, values.timeout_millis, () => read(event, value))
              : new Map<string, unknown>();
          for (const [key, fallback] of Object.entries(values.default_keys))
            if (!found.has(key)) found.set(key, fallback);
          if (found.size === 0) return false;
          store(event, target, found);
          return true;
        } catch (error) {
          if (!(error instanceof RegexpTimeout)) throw error;
          event.tag(values.tag_on_timeout);
          return false;
        }
      },
      conflicted(event) {
        for (const tag of values.tag_on_failure) event.tag(tag);
      },
    };
  },
});

function store(event: Event, target: FieldReference | undefined, found: Map<string, unknown>): void {
  if (target !== undefined) {
    event.set(target, Object.fromEntries(found));
    return;
  }
  for (const [key, value] of found) event.set(keyReference(key), value);
}

/** A key with brackets that isn't a reference stands for itself, brackets made underscores. */
function keyReference(key: string): FieldReference {
  try {
    return fieldReference(key);
  } catch {
    return fieldReference(valueText(key).replace(/[[\]]/g, "_") || "_");
  }
}

type Transform = "lowercase" | "uppercase" | "capitalize";

interface KeyValueOptions {
  readonly trim_value?: string;
  readonly trim_key?: string;
  readonly remove_char_value?: string;
  readonly remove_char_key?: string;
  readonly transform_value?: Transform;
  readonly transform_key?: Transform;
  readonly field_split: string;
  readonly field_split_pattern?: string;
  readonly value_split: string;
  readonly value_split_pattern?: string;
  readonly allow_duplicate_values: boolean;
  readonly allow_empty_values: boolean;
  readonly include_brackets: boolean;
  readonly recursive: boolean;
  readonly whitespace: "strict" | "lenient";
}

interface KeyFilter {
  readonly prefix: string;
  /** Empty: all. */
  readonly include: ReadonlySet<string>;
  readonly exclude: ReadonlySet<string>;
}

/** Pairs within pairs. */
const MAX_DEPTH = 10;

/** The values of one key, in a set where each counts once. */
type Values = unknown[] | Set<unknown>;

class KeyValueReader {
  readonly #options: KeyValueOptions;
  /** A pair. Groups: key, then the kinds of values, of which one takes part. */
  readonly #pair: RegExp;
  readonly #key: RegExp;
  readonly #nested: RegExp;
  readonly #cleanKey: (text: string) => string;
  readonly #cleanValue: (text: string) => string;

  /** `field` and `value`: sources of what separates. Throws if they make no expression. */
  private constructor(options: KeyValueOptions, field: string, value: string) {
    const [key, rest] = pairSources(field, value, options);
    this.#options = options;
    this.#pair = new RegExp(key + rest, "uy");
    this.#key = new RegExp(key, "uy");
    this.#nested = new RegExp(value, "u");
    this.#cleanKey = cleaner(options.trim_key, options.remove_char_key, options.transform_key);
    this.#cleanValue = cleaner(options.trim_value, options.remove_char_value, options.transform_value);
  }

  /** Returns a reader, or undefined if an expression is none, which is reported. */
  static create(options: KeyValueOptions, report: FilterContext["report"]): KeyValueReader | undefined {
    const field = separator(options.field_split, options.field_split_pattern, "field_split", report);
    const value = separator(options.value_split, options.value_split_pattern, "value_split", report);
    if (field === undefined || value === undefined) return undefined;
    try {
      return new KeyValueReader(options, field, value);
    } catch (error) {
      report("error", "field_split", `the separators make no expression: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** Returns the pairs of the texts in `items`; a key that comes again has a list. */
  read(items: readonly unknown[], filter: KeyFilter, depth = 0): Map<string, unknown> {
    const found = new Map<string, Values>();
    for (const item of items) if (typeof item === "string") this.#read(item, filter, found, depth);
    return new Map(
      Array.from(found, ([key, [...values]]) => [key, values.length === 1 ? values[0] : values]),
    );
  }

  #read(text: string, filter: KeyFilter, found: Map<string, Values>, depth: number): void {
    if (!this.#nested.test(text)) return;
    for (const match of this.#pairs(text)) {
      const name = this.#cleanKey(match[1]!);
      const raw = match.slice(2).find((group) => group !== undefined) ?? "";
      if (raw === "" && !this.#options.allow_empty_values) continue;
      if ((filter.include.size > 0 && !filter.include.has(name)) || filter.exclude.has(name)) continue;
      const key = filter.prefix + name;
      if (key !== "") this.#add(found, key, this.#value(this.#cleanValue(raw), filter, depth));
    }
  }

  /** Where no pair begins, none begins in the rest of the key up to a backslash: that is skipped, to take linear time. */
  *#pairs(text: string): Generator<RegExpExecArray> {
    for (let at = 0; at < text.length; ) {
      this.#pair.lastIndex = at;
      const match = this.#pair.exec(text);
      if (match === null) {
        this.#key.lastIndex = at;
        const [key] = this.#key.exec(text) ?? [""];
        at += Math.max(1, key.split("\\", 1)[0]!.length);
        continue;
      }
      at = this.#pair.lastIndex;
      yield match;
    }
  }

  #value(text: string, filter: KeyFilter, depth: number): unknown {
    if (!this.#options.recursive || depth >= MAX_DEPTH) return text;
    const inner = this.read([text], filter, depth + 1);
    return inner.size === 0 ? text : Object.fromEntries(inner);
  }

  #add(found: Map<string, Values>, key: string, value: unknown): void {
    const before = found.get(key);
    const { allow_duplicate_values: repeats } = this.#options;
    if (before === undefined) found.set(key, repeats ? [value] : new Set([value]));
    else if (Array.isArray(before)) before.push(value);
    else before.add(value);
  }
}

/** Returns the source of what separates: one of some characters, or an expression. */
function separator(
  characters: string,
  pattern: string | undefined,
  option: string,
  report: FilterContext["report"],
): string | undefined {
  try {
    if (pattern === "") throw new Error(`${option}_pattern must not be empty`);
    if (pattern !== undefined) return `(?:${translateRubyRegexp(pattern, { unnamedCapture: false }).source})`;
    return characterClass(characters);
  } catch (error) {
    report("error", pattern === undefined ? option : `${option}_pattern`, (error as Error).message);
    return undefined;
  }
}

/**
 * As upstream the characters are put into a class, where people write \t and the like; `start` is "^" for all others.
 */
function characterClass(characters: string, start = ""): string {
  return translateRubyRegexp(`[${start}${characters.replaceAll("[", "\\[")}]`).source;
}

/**
 * Returns the sources of a key and of the rest of a pair: what splits, a value, then the end of the pair, which it
 * consumes so that the next key begins after it. Groups: the key, then one for each kind of value.
 */
function pairSources(field: string, value: string, options: KeyValueOptions): [key: string, rest: string] {
  const { field_split, value_split, field_split_pattern, value_split_pattern } = options;
  const split = options.whitespace === "lenient" ? ` *${value} *` : value;
  const byPattern = field_split_pattern !== undefined || value_split_pattern !== undefined;
  const key = byPattern ? until(`${split}|${field}`) : untilOneOf(value_split + field_split);
  const kinds = [quoted('"'), quoted("'")];
  if (options.include_brackets) kinds.push(quoted("(", ")"), quoted("[", "]"), quoted("<", ">"));
  kinds.push(field_split_pattern === undefined ? untilOneOf(field_split) : until(field));
  return [key, `${split}(?:${kinds.join("|")})?(?:${field}|${LINE_END})`];
}

const LINE_END = "(?![^\\n])";
const ESCAPED = "\\\\[^\\n]";

/**
 * A group of characters that are none of `characters`, or escaped. An escape may be given up at the end of the group
 * alone: each text is read in one way, so that reading takes linear time.
 */
function untilOneOf(characters: string): string {
  const others = characterClass(`${characters}\\\\`, "^");
  return `((?:${ESCAPED}|${others})+\\\\?|\\\\)`;
}

/** A group of characters in which the expression `end` doesn't begin, or escaped ones. */
function until(end: string): string {
  return `((?:(?!${end})(?:${ESCAPED}|[^\\\\\\n]))+(?:(?!${end})\\\\)?|(?!${end})\\\\)`;
}

function quoted(open: string, close = open): string {
  return `${RegExp.escape(open)}${untilOneOf(`\\${close}`)}?${RegExp.escape(close)}`;
}

function cleaner(
  trim: string | undefined,
  remove: string | undefined,
  transform: Transform | undefined,
): (text: string) => string {
  // From the middle of a run its end is not looked for again.
  const ends =
    trim === undefined
      ? undefined
      : new RegExp(translateRubyRegexp(`^[${trim}]+|(?<![${trim}])[${trim}]+$`).source, "gu");
  const taken =
    remove === undefined ? undefined : new RegExp(translateRubyRegexp(`[${remove}]`).source, "gu");
  return (text) => {
    let result = text;
    if (ends !== undefined) result = result.replace(ends, "");
    if (taken !== undefined) result = result.replace(taken, "");
    if (transform === "lowercase") return result.toLowerCase();
    if (transform === "uppercase") return result.toUpperCase();
    return transform === "capitalize"
      ? result.charAt(0).toUpperCase() + result.slice(1).toLowerCase()
      : result;
  };
}
