/**
 * Filter kv: the scan of its source, with its expressions written for this language.
 *
 * Not expected: keys with brackets, of which the product keeps those that aren't references under another name; duplicates of a
 * part of the value before, which `include?` finds.
 */

import type { Dice } from "#test/fuzz/oracle/dice.ts";
import type { PlainFilter } from "../configuration.ts";
import { FieldError, type PlainEvent } from "../plain-event.ts";
import { sprintf } from "../sprintf.ts";
import { type Hash, isHash, Unspecified, type Value } from "../values.ts";

interface KvOptions {
  readonly field_split: string | undefined;
  readonly value_split: string | undefined;
  readonly field_split_pattern: string | undefined;
  readonly value_split_pattern: string | undefined;
  readonly trim_value: string | undefined;
  readonly trim_key: string | undefined;
  readonly remove_char_value: string | undefined;
  readonly remove_char_key: string | undefined;
  readonly transform_value: string | undefined;
  readonly transform_key: string | undefined;
  readonly prefix: string | undefined;
  readonly target: string | undefined;
  readonly include_keys: readonly string[] | undefined;
  readonly exclude_keys: readonly string[] | undefined;
  readonly default_keys: ReadonlyMap<string, string> | undefined;
  readonly allow_duplicate_values: boolean | undefined;
  readonly allow_empty_values: boolean | undefined;
  readonly include_brackets: boolean | undefined;
  readonly recursive: boolean | undefined;
  readonly whitespace: string | undefined;
}

/** An option that is there with a probability. */
function maybe<T>(dice: Dice, probability: number, values: readonly T[]): T | undefined {
  return dice.chance(probability) ? dice.pick(values) : undefined;
}

const KEYS = ["k", "K2", "ü", "a", "key three", "k-1"];
const VALUES = [
  "1",
  "two",
  '"a b"',
  "'x y'",
  "[l m]",
  "(p q)",
  "<s t>",
  "",
  "x=y",
  "a\\ b",
  "é",
  '"un',
  "[in=1 out=2]",
  '""',
  "-v-",
  "..t..",
];

function randomOptions(dice: Dice): KvOptions {
  const isPattern = dice.chance(0.2);
  const transforms = ["lowercase", "uppercase", "capitalize"];
  return {
    field_split: maybe(dice, 0.3, ["&", "&?", ",;", "|", " ,"]),
    value_split: maybe(dice, 0.3, [":", "=:", "-"]),
    field_split_pattern: isPattern ? maybe(dice, 0.7, ["::+", ", ?", "[;&]"]) : undefined,
    value_split_pattern: isPattern ? maybe(dice, 0.7, ["==?", ":=", "[=:]"]) : undefined,
    trim_value: maybe(dice, 0.2, ["-", ".-", "<>"]),
    trim_key: maybe(dice, 0.2, ["k", "-.", " "]),
    remove_char_value: maybe(dice, 0.2, ["x", "a-z", "\\[\\]"]),
    remove_char_key: maybe(dice, 0.2, ["-", "0-9"]),
    transform_value: maybe(dice, 0.2, transforms),
    transform_key: maybe(dice, 0.2, transforms),
    prefix: maybe(dice, 0.2, ["p_", "%{b}_", "ü"]),
    target: maybe(dice, 0.4, ["kv", "[kv][in]", "[@metadata][kv]"]),
    include_keys: maybe(dice, 0.2, [
      ["k", "a"],
      ["K2", "ü", "k"],
    ]),
    exclude_keys: maybe(dice, 0.2, [["k"], ["a", "%{b}"]]),
    default_keys: maybe(dice, 0.2, [
      new Map([
        ["k", "dflt"],
        ["other", "%{b}"],
      ]),
    ]),
    allow_duplicate_values: maybe(dice, 0.3, [true, false]),
    allow_empty_values: maybe(dice, 0.3, [true, false]),
    include_brackets: maybe(dice, 0.3, [true, false]),
    recursive: maybe(dice, 0.2, [true, false]),
    whitespace: maybe(dice, 0.4, ["strict", "lenient"]),
  };
}

export function kv(dice: Dice): PlainFilter {
  const options = randomOptions(dice);
  const scan = new Scan(options);
  return {
    name: "kv",
    options: { ...options },
    message: (dice) => randomPairs(dice, options),
    apply(event, { matched }) {
      try {
        const found = scan.of(event, event.get("message"));
        const all: Hash = new Map([...(options.default_keys ?? []), ...found]);
        if (all.size === 0) return;
        if ([...all.keys()].some((key) => key === "" || /[[\]]/.test(key)))
          throw new Unspecified("keys with brackets, and none");
        if (options.target !== undefined) event.set(options.target, all);
        else for (const [key, value] of all) event.set(key, value);
        matched(event);
      } catch (error) {
        if (!(error instanceof FieldError)) throw error;
        event.tag("_kv_filter_error");
      }
    },
  };
}

function randomPairs(
  dice: Dice,
  { field_split, value_split, field_split_pattern, value_split_pattern }: KvOptions,
): string {
  const between = field_split_pattern === undefined ? (field_split ?? " ") : "::,;& ";
  const middle = value_split_pattern === undefined ? (value_split ?? "=") : "=:";
  const pairs = dice.times(dice.between(0, 5), () => {
    const sign = middle[dice.below(middle.length)]!;
    const space = (): string => (dice.chance(0.1) ? " " : "");
    const value = dice.chance(0.1) ? VALUES[0]! + dice.pick(VALUES) : dice.pick(VALUES);
    return dice.chance(0.9) ? `${dice.pick(KEYS)}${space()}${sign}${space()}${value}` : dice.pick(KEYS);
  });
  return pairs
    .map(
      (pair) =>
        pair + dice.pick([between[dice.below(between.length)]!, between[0]!, between[0]!, "\n", "  "]),
    )
    .join("");
}

/** What ends a match without being part of it is `$` before a line end too. */
class Scan {
  readonly #options: KvOptions;
  readonly #expression: RegExp;
  readonly #valueSplit: RegExp;

  constructor(options: KvOptions) {
    this.#options = options;
    const fieldSplit = options.field_split_pattern ?? `[${options.field_split ?? " "}]`;
    const plain = options.value_split_pattern ?? `[${escaped(options.value_split ?? "=")}]`;
    const valueSplit = options.whitespace === "strict" ? `(?:${plain})` : ` *(?:${plain}) *`;
    const untilSplits =
      options.field_split_pattern === undefined && options.value_split_pattern === undefined
        ? untilClass(escaped((options.value_split ?? "=") + (options.field_split ?? " ")))
        : untilPattern(`(?:${valueSplit})|(?:${fieldSplit})`);
    const values = [quoted('"'), quoted("'")];
    if (options.include_brackets !== false)
      values.push(quoted("\\(", "\\)"), quoted("\\[", "\\]"), quoted("<", ">"));
    values.push(
      options.field_split_pattern === undefined
        ? untilClass(options.field_split ?? " ")
        : untilPattern(fieldSplit),
    );
    const value = `(?:${values.map((each) => `(?:${each})`).join("|")})`;
    this.#valueSplit = new RegExp(valueSplit, "mu");
    this.#expression = new RegExp(
      `${untilSplits}${valueSplit}${value}?(?:(?:${fieldSplit})|(?=\\n)|(?![^]))`,
      "gmu",
    );
  }

  of(event: PlainEvent, value: Value | undefined): Hash {
    const made: Hash = new Map();
    if (typeof value === "string") this.#parse(event, value, made);
    else if (Array.isArray(value))
      for (const each of value) {
        if (typeof each !== "string") throw new Unspecified("items that aren't texts");
        this.#parse(event, each, made);
      }
    return made;
  }

  #parse(event: PlainEvent, text: string, made: Hash): void {
    if (!this.#valueSplit.test(text)) return;
    const { include_keys, exclude_keys, allow_empty_values, allow_duplicate_values, recursive } =
      this.#options;
    const include = include_keys?.map((key) => sprintf(event, key));
    const exclude = exclude_keys?.map((key) => sprintf(event, key)) ?? [];
    for (const [, found, ...candidates] of text.matchAll(this.#expression)) {
      const value = candidates.find((each) => each !== undefined) ?? "";
      if (value === "" && allow_empty_values !== true) continue;
      const plainKey = this.#key(found!);
      if (include !== undefined && !include.includes(plainKey)) continue;
      if (exclude.includes(plainKey)) continue;
      const key = sprintf(event, this.#options.prefix ?? "") + plainKey;
      const text = this.#value(value);
      const before = made.get(key);
      if (allow_duplicate_values === false && before !== undefined && includes(before, text)) continue;
      const inner: Hash = new Map();
      if (recursive === true) this.#parse(event, text, inner);
      if (inner.has("")) throw new Unspecified("keys with brackets, and none");
      const own: Value = inner.size > 0 ? inner : text;
      if (before === undefined) made.set(key, own);
      else made.set(key, Array.isArray(before) ? [...before, own] : [before, own]);
    }
  }

  #key(key: string): string {
    const { trim_key, remove_char_key, transform_key } = this.#options;
    return transformed(removed(trimmed(key, trim_key), remove_char_key), transform_key);
  }

  #value(value: string): string {
    const { trim_value, remove_char_value, transform_value } = this.#options;
    return transformed(removed(trimmed(value, trim_value), remove_char_value), transform_value);
  }
}

function includes(before: Value, text: string): boolean {
  if (isHash(before)) throw new Unspecified("texts beside pairs");
  if (typeof before === "string") {
    if (before !== text && before.includes(text)) throw new Unspecified("a part of the value before");
    return before === text;
  }
  return (before as Value[]).includes(text);
}

function escaped(characters: string): string {
  return characters.replaceAll("-", "\\-");
}

function quoted(open: string, close = open): string {
  return `${open}${untilClass(close)}?${close}`;
}

function untilClass(characters: string): string {
  return `((?:\\\\[^\\n]|[^${characters}])+)`;
}

function untilPattern(pattern: string): string {
  return `((?:(?!${pattern})(?:\\\\[^\\n]|[^\\n]))+)`;
}

function trimmed(text: string, characters: string | undefined): string {
  if (characters === undefined) return text;
  return text.replaceAll(new RegExp(`^[${characters}]+|[${characters}]+$`, "gmu"), "");
}

function removed(text: string, characters: string | undefined): string {
  return characters === undefined ? text : text.replaceAll(new RegExp(`[${characters}]`, "gu"), "");
}

function transformed(text: string, transform: string | undefined): string {
  if (transform === "lowercase") return text.toLowerCase();
  if (transform === "uppercase") return text.toUpperCase();
  if (transform === undefined) return text;
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("").toLowerCase();
}
