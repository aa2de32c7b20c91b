/**
 * Random ingest processors with what they do by the documentation of Elasticsearch 6.5.
 *
 * Not expected: how lists and objects print; numbers with fractions; kinds of values that conversions meet in lists.
 */

import type { Dice } from "../oracle/dice.ts";
import { offsetAt, written } from "../pipelines/times.ts";
import {
  Failed,
  type Fields,
  isObject,
  type Json,
  type PlainDocument,
  Unspecified,
} from "./plain-document.ts";

export interface Processor {
  readonly body: Fields;
  /** Throws Failed. */
  readonly run: (document: PlainDocument) => void;
}

export const WORDS = [
  "one",
  "Two",
  " x ",
  "a,b,,c",
  "k=1 l=two",
  "ü",
  "12",
  "-7",
  "true",
  "False",
  "",
  "one 12",
  "😀",
  "1-2-",
];

export function path(dice: Dice): string {
  return dice.pick([
    "a",
    "a",
    "b",
    "c",
    "n.x",
    "n.y",
    "list",
    "list",
    "list.0",
    "t",
    "js",
    "n",
    "missing",
    "a.x",
  ]);
}

function target(dice: Dice): string {
  return dice.pick(["new", "b", "n.x", "n.new", "made.up", "list.0"]);
}

/** Reads a field; undefined: nothing is to be done. */
function read(document: PlainDocument, field: string, ignoresMissing: boolean): Json | undefined {
  const value = ignoresMissing ? document.find(field) : document.require(field);
  if (value !== undefined && value !== null) return value;
  if (ignoresMissing) return undefined;
  throw new Failed(`${field} is null`);
}

function textOf(value: Json): string {
  if (value !== null && typeof value === "object") throw new Unspecified("how lists and objects print");
  return String(value);
}

/** A processor of a field with `target_field` and `ignore_missing`. */
function ofField(
  dice: Dice,
  type: string,
  change: (value: Json) => Json,
  more: Fields = {},
  field = path(dice),
): Processor {
  const into = dice.chance(0.4) ? target(dice) : undefined;
  const ignoresMissing = dice.chance(0.5);
  const settings: Fields = { field, ...more, ignore_missing: ignoresMissing };
  if (into !== undefined) settings["target_field"] = into;
  return {
    body: { [type]: settings },
    run(document) {
      const value = read(document, field, ignoresMissing);
      if (value !== undefined) document.set(into ?? field, change(value));
    },
  };
}

function text(value: Json): string {
  if (typeof value !== "string") throw new Failed("no text");
  return value;
}

const PROCESSORS: readonly ((dice: Dice) => Processor)[] = [
  set,
  set,
  append,
  rename,
  remove,
  convert,
  convert,
  (dice) => ofField(dice, "lowercase", (value) => text(value).toLowerCase()),
  (dice) => ofField(dice, "uppercase", (value) => text(value).toUpperCase()),
  (dice) => ofField(dice, "trim", (value) => text(value).replaceAll(/^[\0- ]+|[\0- ]+$/g, "")),
  gsub,
  split,
  join,
  sort,
  json,
  kv,
  dissect,
  grok,
  date,
  foreach,
];

export function randomProcessor(dice: Dice): Processor {
  return dice.pick(PROCESSORS)(dice);
}

/** A text with fields in it, and what it becomes. */
function template(dice: Dice): [text: string, of: (document: PlainDocument) => string] {
  const field = dice.pick(["a", "b", "n.x", "missing", "t"]);
  const before = dice.pick(["", "x-", "ü "]);
  return [
    `${before}{{${field}}}`,
    (document) => {
      const value = document.find(field);
      const shown = value === undefined || value === null ? "" : textOf(value);
      return before + JSON.stringify(shown).slice(1, -1);
    },
  ];
}

function randomValue(dice: Dice): [value: Json, of: (document: PlainDocument) => Json] {
  if (dice.chance(0.4)) return template(dice);
  const value = dice.pick<Json>(["text", 5, true, ["x", 1], { m: "y" }, ""]);
  return [value, () => structuredClone(value)];
}

function set(dice: Dice): Processor {
  const field = dice.chance(0.5) ? target(dice) : path(dice);
  const [value, of] = randomValue(dice);
  const overrides = dice.chance(0.7);
  return {
    body: { set: { field, value, override: overrides } },
    run(document) {
      const before = document.find(field);
      if (overrides || before === undefined || before === null) document.set(field, of(document));
    },
  };
}

function append(dice: Dice): Processor {
  const field = dice.chance(0.3) ? target(dice) : path(dice);
  const [value, of] = randomValue(dice);
  return {
    body: { append: { field, value } },
    run(document) {
      const before = document.find(field);
      const made = of(document);
      const added = Array.isArray(made) ? made : [made];
      const list = before === undefined ? [] : Array.isArray(before) ? before : [before];
      document.set(field, [...list, ...added]);
    },
  };
}

function rename(dice: Dice): Processor {
  const [field, into, ignoresMissing] = [path(dice), target(dice), dice.chance(0.4)];
  return {
    body: { rename: { field, target_field: into, ignore_missing: ignoresMissing } },
    run(document) {
      const value = document.find(field);
      if (value === undefined && ignoresMissing) return;
      if (value === undefined || document.find(into) !== undefined) throw new Failed("missing, or there");
      if (/\.[0-9]+$/.test(field)) throw new Unspecified("an item that moves back");
      document.remove(field);
      try {
        document.set(into, value);
      } catch (error) {
        document.set(field, value);
        throw error;
      }
    },
  };
}

function remove(dice: Dice): Processor {
  const fields = dice.some(["a", "b", "n.x", "list.0", "t"], dice.between(1, 2));
  const ignoresMissing = dice.chance(0.6);
  return {
    body: { remove: { field: fields.length === 1 ? fields[0]! : fields, ignore_missing: ignoresMissing } },
    run(document) {
      for (const field of fields) {
        if (ignoresMissing && document.find(field) === undefined) continue;
        document.remove(field);
      }
    },
  };
}

const CONVERSIONS: Readonly<Record<string, (value: Json) => Json>> = {
  integer: (value) => whole(value, 2 ** 31),
  long: (value) => whole(value, Number.MAX_SAFE_INTEGER),
  string: textOf,
  boolean(value) {
    const text = textOf(value).toLowerCase();
    if (text !== "true" && text !== "false") throw new Failed("neither true nor false");
    return text === "true";
  },
};

function whole(value: Json, limit: number): number {
  const text = textOf(value);
  if (!/^[-+]?[0-9]+$/.test(text) || Math.abs(Number(text)) >= limit) throw new Failed("no number");
  return Number(text);
}

function convert(dice: Dice): Processor {
  const type = dice.pick(Object.keys(CONVERSIONS));
  const one = (value: Json): Json => {
    if (value === null) throw new Unspecified("items that are null");
    return CONVERSIONS[type]!(value);
  };
  return ofField(dice, "convert", (value) => (Array.isArray(value) ? value.map(one) : one(value)), { type });
}

function gsub(dice: Dice): Processor {
  const [pattern, here] = dice.pick([
    ["[ou]", /[ou]/g],
    ["(\\w)(\\d)", /(\w)(\d)/g],
    ["\\s+", /[ \t\n\v\f\r]+/g],
    [",", /,/g],
    ["^", /^/g],
    ["\\.|-", /\.|-/g],
  ] as const);
  const replacement = dice.pick(pattern.startsWith("(") ? ["$2$1", "<$0>", "\\$1"] : ["", "-", "\\\\", "ü"]);
  const there =
    replacement === "<$0>"
      ? "<$&>"
      : replacement === "\\$1"
        ? "$$1"
        : replacement === "\\\\"
          ? "\\"
          : replacement;
  return ofField(dice, "gsub", (value) => text(value).replaceAll(here, there), { pattern, replacement });
}

function split(dice: Dice): Processor {
  const [separator, here] = dice.pick([
    [",", /,/],
    [" +", / +/],
    ["[=-]", /[=-]/],
  ] as const);
  const parts = (value: Json): Json => {
    if (value === "") return [""];
    const all = text(value).split(here);
    while (all.at(-1) === "") all.pop();
    return all;
  };
  return ofField(dice, "split", parts, { separator });
}

function join(dice: Dice): Processor {
  const separator = dice.pick(["-", "", ", "]);
  const field = dice.pick(["list", "list", "a", "missing"]);
  return {
    body: { join: { field, separator } },
    run(document) {
      const value = read(document, field, false)!;
      if (!Array.isArray(value)) throw new Failed("no list");
      document.set(field, value.map(textOf).join(separator));
    },
  };
}

function sort(dice: Dice): Processor {
  const isDescending = dice.chance(0.5);
  const field = dice.pick(["list", "list", "a", "missing"]);
  return {
    body: { sort: { field, order: isDescending ? "desc" : "asc" } },
    run(document) {
      const value = read(document, field, false)!;
      if (!Array.isArray(value)) throw new Failed("no list");
      const kinds = new Set(value.map((each) => typeof each));
      if (kinds.size > 1) throw new Failed("no order");
      if (kinds.has("object")) throw new Unspecified("an order of objects");
      const sorted = value.toSorted((one, other) => (one! < other! ? -1 : one! > other! ? 1 : 0));
      document.set(field, isDescending ? sorted.toReversed() : sorted);
    },
  };
}

function json(dice: Dice): Processor {
  const field = dice.pick(["js", "js", "js", "a", "missing"]);
  const toRoot = dice.chance(0.3);
  const into = !toRoot && dice.chance(0.5) ? target(dice) : undefined;
  return {
    body: {
      json: { field, ...(toRoot ? { add_to_root: true } : into === undefined ? {} : { target_field: into }) },
    },
    run(document) {
      const value = document.require(field);
      if (typeof value !== "string") throw new Unspecified("JSON of no text");
      if (!/^[{["]/.test(value)) throw new Unspecified("JSON of plain values");
      let parsed: Json;
      try {
        parsed = JSON.parse(value) as Json;
      } catch {
        throw new Failed("no JSON");
      }
      if (!toRoot) document.set(into ?? field, parsed);
      else if (isObject(parsed)) Object.assign(document.source, parsed);
      else throw new Failed("no object");
    },
  };
}

function kv(dice: Dice): Processor {
  const into = dice.chance(0.5) ? "kv" : undefined;
  const field = dice.pick(["t", "a", "missing"]);
  const include = dice.chance(0.3) ? ["k"] : undefined;
  const exclude = dice.chance(0.3) ? ["l"] : undefined;
  const ignoresMissing = dice.chance(0.5);
  const settings: Fields = { field, field_split: " ", value_split: "=", ignore_missing: ignoresMissing };
  if (into !== undefined) settings["target_field"] = into;
  if (include !== undefined) settings["include_keys"] = include;
  if (exclude !== undefined) settings["exclude_keys"] = exclude;
  return {
    body: { kv: settings },
    run(document) {
      const value = read(document, field, ignoresMissing);
      if (value === undefined) return;
      for (const part of text(value).split(" ")) {
        const at = part.indexOf("=");
        if (at < 0) throw new Failed("no pair");
        const key = part.slice(0, at);
        if (include?.includes(key) === false || exclude?.includes(key) === true) continue;
        const full = into === undefined ? key : `${into}.${key}`;
        const before = document.find(full);
        const list = Array.isArray(before) ? before : [before!];
        document.set(full, before === undefined ? part.slice(at + 1) : [...list, part.slice(at + 1)]);
      }
    },
  };
}

function dissect(dice: Dice): Processor {
  const field = dice.pick(["t", "a", "missing"]);
  return {
    body: { dissect: { field, pattern: "%{b}=%{n.d} %{?skipped}=%{made}" } },
    run(document) {
      const found = /^([^=]*)=([^ ]*) ([^=]*)=(.*)$/s.exec(text(read(document, field, false)!));
      if (found === null) throw new Failed("the text doesn't fit");
      if (/==| {2}/.test(found[0])) throw new Unspecified("repeated delimiters");
      for (const [at, name] of [
        [1, "b"],
        [2, "n.d"],
        [4, "made"],
      ] as const)
        document.set(name, found[at]!);
    },
  };
}

function grok(dice: Dice): Processor {
  const field = dice.pick(["a", "t", "missing"]);
  const ignoresMissing = dice.chance(0.5);
  return {
    body: {
      grok: {
        field,
        patterns: ["^%{WORD:g.w} %{INT:g.n:int}$", "%{INT:b:long}"],
        ignore_missing: ignoresMissing,
      },
    },
    run(document) {
      const value = read(document, field, ignoresMissing);
      if (value === undefined) return;
      const both = /^(\w+) ([-+]?[0-9]+)$/.exec(text(value));
      const one = /[-+]?[0-9]+/.exec(text(value));
      if (both === null && one === null) throw new Failed("no match");
      // Only int and float are types of captures in 6.5; others leave texts.
      if (both === null) document.set("b", one![0]);
      else {
        document.set("g.w", both[1]!);
        document.set("g.n", Number(both[2]));
      }
    },
  };
}

export const TIME_PATTERN = "yyyy-MM-dd HH:mm:ss";

function date(dice: Dice): Processor {
  const timezone = dice.pick(["UTC", "Europe/Berlin", "America/New_York"]);
  const into = dice.chance(0.5) ? "when" : undefined;
  const field = dice.pick(["time", "time", "time", "a"]);
  return {
    body: {
      date: {
        field,
        formats: ["dd.MM.yyyy", TIME_PATTERN],
        timezone,
        ...(into === undefined ? {} : { target_field: into }),
      },
    },
    run(document) {
      const value = document.require(field);
      if (typeof value !== "string") throw new Unspecified("times of numbers");
      const [, ...parts] = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$/.exec(value) ?? [];
      if (parts.length === 0) throw new Failed("no time");
      const [year, month, day, hour, minute, second] = parts.map(Number) as [
        number,
        number,
        number,
        number,
        number,
        number,
      ];
      const local = Date.UTC(year, month - 1, day, hour, minute, second);
      const offset = offsetAt(timezone, local - offsetAt(timezone, local) * 60_000);
      const text = written("yyyy-MM-dd'T'HH:mm:ss.SSSZZ", local - offset * 60_000, offset);
      document.set(into ?? "@timestamp", text.replace("+00:00", "Z"));
    },
  };
}

function foreach(dice: Dice): Processor {
  const field = dice.pick(["list", "list", "a", "missing"]);
  const change = dice.pick<[string, (value: Json) => Json]>([
    ["uppercase", (value) => text(value).toUpperCase()],
    ["trim", (value) => text(value).replaceAll(/^[\0- ]+|[\0- ]+$/g, "")],
  ]);
  return {
    body: { foreach: { field, processor: { [change[0]]: { field: "_ingest._value" } } } },
    run(document) {
      const value = read(document, field, false)!;
      if (isObject(value)) throw new Unspecified("objects, which later versions take");
      if (!Array.isArray(value)) throw new Failed("no list");
      document.set(
        field,
        value.map((each) => {
          if (each === null) throw new Failed("null");
          return change[1](each);
        }),
      );
    },
  };
}
