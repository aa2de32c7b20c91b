/** Reads `key=value` pairs of a text: quotes and brackets keep values together. */

import type { FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";

type Transform = "lowercase" | "uppercase" | "capitalize";

export interface KeyValueOptions {
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

export interface KeyFilter {
  readonly prefix: string;
  /** Empty: all. */
  readonly include: ReadonlySet<string>;
  readonly exclude: ReadonlySet<string>;
}

/** Pairs within pairs. */
const MAX_DEPTH = 10;

export class KeyValueReader {
  readonly #options: KeyValueOptions;
  /** Groups: key, then the kinds of values, of which one takes part. */
  readonly #scan: RegExp;
  readonly #nested: RegExp;
  readonly #cleanKey: (text: string) => string;
  readonly #cleanValue: (text: string) => string;

  private constructor(options: KeyValueOptions, scan: RegExp, nested: RegExp) {
    this.#options = options;
    this.#scan = scan;
    this.#nested = nested;
    this.#cleanKey = cleaner(options.trim_key, options.remove_char_key, options.transform_key);
    this.#cleanValue = cleaner(options.trim_value, options.remove_char_value, options.transform_value);
  }

  /** Returns a reader, or undefined where an expression is none, which is reported. */
  static create(options: KeyValueOptions, report: FilterContext["report"]): KeyValueReader | undefined {
    const field = separator(options.field_split, options.field_split_pattern, "field_split_pattern", report);
    const value = separator(options.value_split, options.value_split_pattern, "value_split_pattern", report);
    if (field === undefined || value === undefined) return undefined;
    try {
      const scan = new RegExp(scanSource(field, value, options), "gsu");
      return new KeyValueReader(options, scan, new RegExp(value, "su"));
    } catch (error) {
      report("error", "field_split", `the separators make no expression: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** Adds the pairs of `text` to `found`; a key that comes again gets a list. */
  read(text: string, filter: KeyFilter, found: Map<string, unknown>, depth = 0): void {
    if (!this.#nested.test(text)) return;
    for (const match of text.matchAll(this.#scan)) {
      const key = filter.prefix + this.#cleanKey(match[1]!);
      const raw = match.slice(2).find((group) => group !== undefined) ?? "";
      if (key === "" || (raw === "" && !this.#options.allow_empty_values)) continue;
      if (filter.include.size > 0 && !filter.include.has(key)) continue;
      if (filter.exclude.has(key)) continue;
      this.#add(found, key, this.#value(this.#cleanValue(raw), filter, depth));
    }
  }

  #value(text: string, filter: KeyFilter, depth: number): unknown {
    if (!this.#options.recursive || depth >= MAX_DEPTH) return text;
    const inner = new Map<string, unknown>();
    this.read(text, filter, inner, depth + 1);
    return inner.size === 0 ? text : Object.fromEntries(inner);
  }

  #add(found: Map<string, unknown>, key: string, value: unknown): void {
    const before = found.get(key);
    if (before === undefined) {
      found.set(key, value);
      return;
    }
    const list = Array.isArray(before) ? (before as unknown[]) : [before];
    if (!this.#options.allow_duplicate_values && list.includes(value)) return;
    found.set(key, [...list, value]);
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
    if (pattern !== undefined) return `(?:${translateRubyRegexp(pattern, { unnamedCapture: false }).source})`;
    // As upstream the characters stand in a class, where people write \t and the like.
    return translateRubyRegexp(`[${characters.replaceAll("[", "\\[")}]`).source;
  } catch (error) {
    report("error", option, (error as Error).message);
    return undefined;
  }
}

function scanSource(field: string, value: string, { include_brackets, whitespace }: KeyValueOptions): string {
  const key = `((?:(?!${field}|${value}).)+)`;
  const blank = whitespace === "lenient" ? "[ ]*" : "";
  const end = `(?=${field}|$)`;
  const kinds = [`"((?:\\\\.|[^"\\\\])*)"${end}`, `'((?:\\\\.|[^'\\\\])*)'${end}`];
  if (include_brackets) kinds.push(`\\(([^)]+)\\)${end}`, `\\[([^\\]]+)\\]${end}`, `<([^>]+)>${end}`);
  kinds.push(`((?:(?!${field}).)*)`);
  return `${key.replace(/\)$/, "?)")}${blank}${value}${blank}(?:${kinds.join("|")})`;
}

function cleaner(
  trim: string | undefined,
  remove: string | undefined,
  transform: Transform | undefined,
): (text: string) => string {
  const ends =
    trim === undefined
      ? undefined
      : new RegExp(translateRubyRegexp(`\\A[${trim}]+|[${trim}]+\\z`).source, "gu");
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
