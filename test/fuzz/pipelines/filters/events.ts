/**
 * Filters that concern whole events: split, clone, drop, prune, de_dot.
 *
 * Not expected: texts without parts, which split loses; patterns for values that aren't texts; objects within lists, of which
 * de_dot leaves the names.
 */

import type { Dice } from "#test/fuzz/oracle/dice.ts";
import { arrayOf, type PlainFilter } from "../configuration.ts";
import { FieldError, type PlainEvent } from "../plain-event.ts";
import { isHash, Unspecified, type Value } from "../values.ts";
import { reference, target } from "../vocabulary.ts";

export function split(dice: Dice): PlainFilter {
  const named = dice.chance(0.5) ? undefined : reference(dice);
  const into = dice.chance(0.5) ? undefined : target(dice);
  // An item that is removed moves the others.
  const field = into === undefined ? named?.replace(/\[-?[0-9]+\]/, "") : named;
  const terminator = dice.pick([undefined, undefined, ",", " ", "o", ".", ", "]);
  return {
    name: "split",
    options: { field, target: into, terminator },
    message: () => dice.pick(["a,b,,c", "a\nb\n", "one", "", ",", "a, b, c", "o", "\n\n", "x.y.z"]),
    apply(event, { matched, emit }) {
      const name = field ?? "message";
      const value = event.get(name);
      const isText = typeof value === "string";
      if (!isText && !Array.isArray(value)) {
        event.tag("_split_type_failure");
        return;
      }
      if (!isText && into === undefined) event.remove(name);
      if (isText && rubyParts(value, terminator ?? "\n").every((part) => part === ""))
        throw new Unspecified("a text without parts, which is lost");
      const parts: Value[] = isText ? rubyParts(value, terminator ?? "\n") : value;
      if (isText && parts.length === 1) return;
      for (const part of parts) {
        if (part === null || part === "") continue;
        const child = event.clone();
        child.set(into ?? name, part);
        matched(child);
        emit(child);
      }
      event.isCancelled = true;
    },
  };
}

/** Ruby's split with -1 keeps empty parts, and splits at whitespace where the separator is a blank. */
function rubyParts(text: string, separator: string): string[] {
  if (text === "") return [];
  return separator === " "
    ? text.replace(/^[\t\n\v\f\r ]+/, "").split(/[\t\n\v\f\r ]+/)
    : text.split(separator);
}

export function clone(dice: Dice): PlainFilter {
  const clones = dice.times(dice.between(1, 2), () => dice.pick(["copy", "two", "Ü"]));
  const isEcs = dice.chance(0.3);
  return {
    name: "clone",
    options: { clones, ecs_compatibility: isEcs ? "v8" : undefined },
    apply(event, { matched, emit }) {
      for (const name of clones) {
        const made = event.clone();
        if (isEcs) made.set("tags", [...arrayOf(made.get("tags")), name]);
        else made.set("type", name);
        matched(made);
        emit(made);
      }
    },
  };
}

export function drop(): PlainFilter {
  return {
    name: "drop",
    options: {},
    apply(event) {
      event.isCancelled = true;
    },
  };
}

type Expression = readonly [ruby: string, here: RegExp];

/** What is removed where the option is absent: names of fields that there weren't. */
const DEFAULT: readonly Expression[] = [["%\\{[^}]+\\}", /%\{[^}]+\}/]];
const TIMES: Expression = ["^[@t]", /(?<![^\n])[@t]/];
const EXPRESSIONS: readonly Expression[] = [
  ["^[a-c]$", /(?<![^\n])[a-c](?![^\n])/],
  ["^me", /(?<![^\n])me/],
  ["ü", /ü/],
  ["^n", /(?<![^\n])n/],
  ["^.$", /(?<![^\n])[^\n](?![^\n])/u],
  ["ot", /ot/],
  ["[0-9]", /[0-9]/],
];

/** `@timestamp` is kept: an event without a time isn't one here. */
export function prune(dice: Dice): PlainFilter {
  const names = dice.some(EXPRESSIONS, dice.below(4));
  const keep = dice.chance(0.5) ? [...names, TIMES] : [];
  const remove = dice.chance(0.6) ? dice.some(EXPRESSIONS, dice.below(3)) : undefined;
  const values = (): Map<string, Expression> =>
    new Map(
      dice.some(["a", "b", "message", "list"], dice.below(2)).map((name) => [name, dice.pick(EXPRESSIONS)]),
    );
  const [kept, removed] = [values(), values()];
  return {
    name: "prune",
    options: {
      whitelist_names: keep.length > 0 ? keep.map(([text]) => text) : undefined,
      blacklist_names: remove?.map(([text]) => text),
      whitelist_values: textsOf(kept),
      blacklist_values: textsOf(removed),
    },
    apply(event, { matched }) {
      const all = [...event.data.keys()];
      const gone = new Set<string>();
      for (const name of all) {
        if (keep.length > 0 && !keep.some(([, here]) => here.test(name))) gone.add(name);
        if ((remove ?? DEFAULT).some(([, here]) => here.test(name))) gone.add(name);
      }
      const before = new Map(event.data);
      for (const [name, [, here]] of kept)
        pruneValue(event, name, before.get(name), (text) => !here.test(text), gone);
      for (const [name, [, here]] of removed)
        pruneValue(event, name, before.get(name), (text) => here.test(text), gone);
      for (const name of gone) event.data.delete(name);
      matched(event);
    },
  };
}

function textsOf(expressions: ReadonlyMap<string, Expression>): Map<string, string> {
  return new Map([...expressions].map(([name, [text]]) => [name, text]));
}

/** Removes a value, or items of a list; Ruby has `match` for texts alone. */
function pruneValue(
  event: PlainEvent,
  name: string,
  value: Value | undefined,
  isUnwanted: (text: string) => boolean,
  gone: Set<string>,
): void {
  if (value === undefined || value === null || value === false) return;
  const items = Array.isArray(value) ? value : [value];
  if (!items.every((each) => typeof each === "string")) throw new Unspecified("values that aren't texts");
  const left = items.filter((each) => !isUnwanted(each));
  if (left.length === items.length) return;
  if (left.length === 0) gone.add(name);
  else if (new Set(items).size < items.length || gone.has(name))
    throw new Unspecified("the order of removals");
  else event.data.set(name, left);
}

export function deDot(dice: Dice): PlainFilter {
  const isNested = dice.chance(0.4);
  const separator = dice.chance(0.4) ? "-" : undefined;
  const isRecursive = dice.chance(0.4);
  const fields = dice.chance(0.4) ? ["d.ot", "[n][d.ot]", "missing.x", "a"] : undefined;
  const by = isNested ? "][" : (separator ?? "_");
  return {
    name: "de_dot",
    options: {
      nested: isNested,
      separator: isNested ? undefined : separator,
      recursive: isRecursive,
      fields,
    },
    apply(event, { matched }) {
      try {
        for (const name of fields ?? [...event.data.keys()])
          if (event.has(name) && (name.includes(".") || isRecursive)) renamed(event, name, by, isRecursive);
        matched(event);
      } catch (error) {
        if (!(error instanceof FieldError)) throw error;
        event.tag("_de_dot_error");
      }
    },
  };
}

function renamed(event: PlainEvent, name: string, by: string, isRecursive: boolean): void {
  let field = by === "][" || isRecursive ? bracketed(name) : name;
  if (field.includes(".")) {
    const before = field;
    field = field.replaceAll(".", by);
    if (event.has(field)) throw new Unspecified("a name that is taken");
    event.set(field, event.get(before)!);
    event.remove(before);
  }
  const value = isRecursive ? event.get(field) : undefined;
  if (Array.isArray(value)) throw new Unspecified("names within lists");
  if (isHash(value)) for (const key of Array.from(value.keys())) renamed(event, `${field}[${key}]`, by, true);
}

function bracketed(name: string): string {
  return `${name.startsWith("[") ? "" : "["}${name}${name.endsWith("]") ? "" : "]"}`;
}
