/**
 * Filter mutate: the changes in the order that its documentation says, the first that fails ends them.
 *
 * Not expected: numbers of other notations than decimal ones, as their reading depends on the version; capital letters of two
 * characters; items of lists that Ruby has no method for.
 */

import type { Dice } from "#test/fuzz/oracle/dice.ts";
import { arrayOf, type OptionValue, type PlainFilter } from "../configuration.ts";
import { FieldError, type PlainEvent } from "../plain-event.ts";
import { sprintf } from "../sprintf.ts";
import { copyOf, isHash, textOf, Unspecified, type Value } from "../values.ts";
import { format, reference, target, word } from "../vocabulary.ts";
import { converted, KINDS } from "./conversion.ts";

/** A change with its option. */
interface Change {
  readonly name: string;
  readonly option: OptionValue;
  readonly apply: (event: PlainEvent) => void;
}

/** In the order of the documentation. */
const CHANGES: readonly ((dice: Dice) => Change)[] = [
  coerce,
  rename,
  update,
  replace,
  convert,
  gsub,
  (dice) => letters(dice, "uppercase", (text) => text.toUpperCase()),
  (dice) => letters(dice, "capitalize", capitalized),
  (dice) => letters(dice, "lowercase", (text) => text.toLowerCase()),
  strip,
  split,
  join,
  merge,
  copy,
];

export function mutate(dice: Dice): PlainFilter {
  const places = dice.some([...CHANGES.keys()], dice.between(1, 4)).toSorted((one, other) => one - other);
  const changes = places.map((at) => CHANGES[at]!(dice));
  const tag = dice.chance(0.2) ? "mutated_badly" : undefined;
  return {
    name: "mutate",
    options: {
      ...Object.fromEntries(dice.some(changes, changes.length).map(({ name, option }) => [name, option])),
      tag_on_failure: tag,
    },
    apply(event, { matched }) {
      try {
        for (const change of changes) change.apply(event);
        matched(event);
      } catch (error) {
        if (!(error instanceof FieldError)) throw error;
        event.tag(tag ?? "_mutate_error");
      }
    },
  };
}

/** A change of one or two fields with an argument each. */
function table(
  dice: Dice,
  name: string,
  field: (dice: Dice) => string,
  argument: (dice: Dice) => string,
  one: (event: PlainEvent, field: string, argument: string) => void,
): Change {
  const option = new Map(dice.times(dice.between(1, 2), () => [field(dice), argument(dice)] as const));
  return {
    name,
    option,
    apply: (event) => {
      for (const [key, value] of option) one(event, key, value);
    },
  };
}

function coerce(dice: Dice): Change {
  return table(dice, "coerce", reference, format, (event, field, value) => {
    if (event.has(field) && event.get(field) === null) event.set(field, sprintf(event, value));
  });
}

function rename(dice: Dice): Change {
  return table(dice, "rename", reference, target, (event, from, to) => {
    const [old, name] = [sprintf(event, from), sprintf(event, to)];
    if (event.has(old)) event.set(name, event.remove(old)!);
  });
}

function update(dice: Dice): Change {
  return table(dice, "update", reference, format, (event, field, value) => {
    if (event.has(field)) event.set(field, sprintf(event, value));
  });
}

function replace(dice: Dice): Change {
  return table(dice, "replace", target, format, (event, field, value) => {
    event.set(field, sprintf(event, value));
  });
}

function convert(dice: Dice): Change {
  return table(
    dice,
    "convert",
    reference,
    () => dice.pick(KINDS),
    (event, field, kind) => {
      const value = event.get(field);
      if (value === undefined || value === null || isHash(value)) return;
      if (Array.isArray(value))
        event.set(
          field,
          value.map((each) => (each === null ? each : converted(each, kind))),
        );
      else event.set(field, converted(value, kind));
    },
  );
}

const NEEDLES: readonly [ruby: string, here: RegExp][] = [
  ["o", /o/g],
  ["[aeiou]", /[aeiou]/g],
  ["\\s+", /[ \t\r\n\f\v]+/g],
  ["(\\w)(\\w)", /(\w)(\w)/g],
  [".", /[^\n]/gu],
  ["x*", /x*/gu],
  ["\\.", /\./g],
  ["(?<first>\\w)o", /(?<first>\w)o/g],
  ["[^a-z]", /[^a-z]/gu],
  ["Ä|ü|é", /Ä|ü|é/g],
];
const REPLACEMENTS = ["", "-", "\\1", "[\\0]", "\\\\1", "\\2\\1", "$1", "$&", "%{b}", "ü", "\\&", "\\3"];

function gsub(dice: Dice): Change {
  const parts = dice.times(dice.between(1, 2), () => {
    const [ruby, here] = dice.pick(NEEDLES);
    return { field: reference(dice), ruby, here, replacement: dice.pick(REPLACEMENTS) };
  });
  return {
    name: "gsub",
    option: parts.flatMap(({ field, ruby, replacement }) => [field, ruby, replacement]),
    apply(event) {
      for (const { field, here, replacement } of parts) {
        const value = event.get(field);
        const one = (each: Value): Value =>
          typeof each === "string" ? replaced(each, here, sprintf(event, replacement)) : each;
        if (typeof value === "string") event.set(field, one(value));
        else if (Array.isArray(value)) event.set(field, value.map(one));
      }
    },
  };
}

/** A backslash before a digit, &, or another one means something in a replacement of Ruby's gsub. */
function replaced(text: string, needle: RegExp, replacement: string): string {
  return text.replaceAll(needle, (...found) => {
    const isNamed = typeof found.at(-1) === "object";
    const groups = found.slice(0, isNamed ? -3 : -2) as (string | undefined)[];
    return replacement.replaceAll(/\\([0-9&\\])/g, (_, sign: string) => {
      if (sign === "\\") return "\\";
      return groups[sign === "&" ? 0 : Number(sign)] ?? "";
    });
  });
}

function capitalized(text: string): string {
  const [first = "", ...rest] = text;
  if (first.toUpperCase().length > first.length) throw new Unspecified("a capital letter of two characters");
  return first.toUpperCase() + rest.join("").toLowerCase();
}

function letters(dice: Dice, name: string, change: (text: string) => string): Change {
  const option = dice.times(dice.between(1, 2), () => reference(dice));
  return {
    name,
    option,
    apply(event) {
      for (const field of option) {
        const value = event.get(field);
        const one = (each: Value): Value => (typeof each === "string" ? change(each) : each);
        if (typeof value === "string") event.set(field, one(value));
        else if (Array.isArray(value)) event.set(field, value.map(one));
      }
    },
  };
}

/** Ruby's strip takes ASCII's whitespace and NUL. */
function stripped(value: Value): Value {
  if (typeof value !== "string") throw new Unspecified("strip of an item that isn't text");
  return value.replaceAll(/^[\0\t\n\v\f\r ]+|[\0\t\n\v\f\r ]+$/g, "");
}

function strip(dice: Dice): Change {
  const option = dice.times(dice.between(1, 2), () => reference(dice));
  return {
    name: "strip",
    option,
    apply(event) {
      for (const field of option) {
        const value = event.get(field);
        if (typeof value === "string") event.set(field, stripped(value));
        else if (Array.isArray(value)) event.set(field, value.map(stripped));
      }
    },
  };
}

/** Ruby's split: empty parts at the end fall away; a blank splits at runs of whitespace, and none begins. */
function rubySplit(text: string, separator: string): string[] {
  const parts =
    separator === " "
      ? text.replace(/^[\t\n\v\f\r ]+/, "").split(/[\t\n\v\f\r ]+/)
      : separator === ""
        ? Array.from(text)
        : text.split(separator);
  while (parts.at(-1) === "") parts.pop();
  return parts;
}

function split(dice: Dice): Change {
  const separator = (): string => dice.pick([",", " ", ".", "o", "  ", "three", "ü"]);
  return table(dice, "split", reference, separator, (event, field, by) => {
    const value = event.get(field);
    if (typeof value === "string") event.set(field, rubySplit(value, by));
  });
}

function join(dice: Dice): Change {
  const separator = (): string => dice.pick([",", " ", "", "-ü-"]);
  return table(dice, "join", reference, separator, (event, field, by) => {
    const value = event.get(field);
    if (Array.isArray(value)) event.set(field, joined(value, by));
  });
}

function joined(list: readonly Value[], by: string): string {
  return list.map((each) => (Array.isArray(each) ? joined(each, by) : textOf(each))).join(by);
}

function merge(dice: Dice): Change {
  const fields = new Map([[target(dice), dice.times(dice.between(1, 2), () => reference(dice))]]);
  return {
    name: "merge",
    option: new Map([...fields].map(([to, from]) => [to, from.length === 1 ? from[0]! : from])),
    apply(event) {
      for (const [to, from] of fields) for (const each of from) mergeOne(event, to, each);
    },
  };
}

function mergeOne(event: PlainEvent, to: string, from: string): void {
  const [before, added] = [event.get(to), event.get(from)];
  if (isHash(before) !== isHash(added)) return;
  if (isHash(before) && isHash(added))
    event.set(to, new Map([...before, ...(copyOf(added) as typeof added)]));
  else event.set(to, [...arrayOf(before), ...arrayOf(added).map(copyOf)]);
}

function copy(dice: Dice): Change {
  return table(dice, "copy", reference, target, (event, from, to) => {
    const value = event.get(from);
    if (value !== undefined && value !== null) event.set(to, copyOf(value));
  });
}

/** A mutate that only has what all filters have. */
export function plainMutate(dice: Dice): PlainFilter {
  return {
    name: "mutate",
    options: { id: dice.chance(0.1) ? `mutate_${word(dice)}${dice.below(1_000_000)}` : undefined },
    apply: (event, { matched }) => matched(event),
  };
}
