/**
 * Filter translate.
 *
 * Not expected: the empty list that it makes of null.
 */

import type { Dice } from "#test/fuzz/oracle/dice.ts";
import type { PlainFilter } from "../configuration.ts";
import { FieldError, type PlainEvent } from "../plain-event.ts";
import { sprintf } from "../sprintf.ts";
import { isHash, Time, textOf, Unspecified } from "../values.ts";
import { format, reference, target } from "../vocabulary.ts";

/** Keys of dictionaries. */
const KEYS = ["one", "Two", "1", "5", "true", "", "x", "three four", "3.5", "ü"];

export function translate(dice: Dice): PlainFilter {
  const source = reference(dice);
  const into = dice.chance(0.3) ? source : target(dice);
  const override = into === source || dice.chance(0.5) ? undefined : dice.chance(0.5);
  const fallback = dice.chance(0.4) ? format(dice) : undefined;
  const isIterated = dice.chance(0.2);
  const lookup = dice.pick([exactly, exactly, byExpression, inParts])(dice);
  return {
    name: "translate",
    options: {
      source,
      target: into,
      override,
      fallback,
      iterate_on: isIterated ? source : undefined,
      ...lookup.options,
      dictionary: lookup.dictionary,
    },
    apply(event, { matched }) {
      if (!(override ?? into === source) && event.has(into)) return;
      if (!event.has(source)) return;
      try {
        const isFound = (isIterated ? eachTranslated : oneTranslated)(event, source, into, lookup, fallback);
        if (isFound || into === source) matched(event);
      } catch (error) {
        // It is logged.
        if (!(error instanceof FieldError)) throw error;
      }
    },
  };
}

interface Lookup {
  readonly dictionary: ReadonlyMap<string, string>;
  readonly options: Readonly<Record<string, boolean>>;
  readonly find: (text: string) => string | undefined;
}

function entries(dice: Dice, keys: readonly string[]): Map<string, string> {
  return new Map(
    dice.some(keys, dice.between(1, 6)).map((key) => [key, dice.pick(["eins", "Zwei", "", "%{a}", "日本"])]),
  );
}

function exactly(dice: Dice): Lookup {
  const dictionary = entries(dice, KEYS);
  return { dictionary, options: {}, find: (text) => dictionary.get(text) };
}

const EXPRESSIONS: readonly [string, RegExp][] = [
  ["^o", /(?<![^\n])o/],
  ["[0-9]", /[0-9]/],
  ["e$", /e(?![^\n])/],
  ["^$", /(?<![^\n])(?![^\n])/],
  ["T.o", /T[^\n]o/],
];

function byExpression(dice: Dice): Lookup {
  const chosen = dice.some(EXPRESSIONS, 3);
  const dictionary = new Map(chosen.map(([key], at) => [key, `found ${at}`]));
  const find = (text: string): string | undefined => {
    const found = chosen.find(([, expression]) => expression.test(text));
    return found && dictionary.get(found[0]);
  };
  return { dictionary, options: { regex: true }, find };
}

/** `exact => false` replaces the keys wherever they occur; the first that fits is taken. */
function inParts(dice: Dice): Lookup {
  const dictionary = entries(dice, ["o", "on", "e", "x", " ", "1", ".", "ü", "ee"]);
  const keys = [...dictionary.keys()];
  const find = (text: string): string | undefined => {
    let made = "";
    for (let at = 0; at < text.length; ) {
      const key = keys.find((each) => text.startsWith(each, at));
      made += key === undefined ? text[at] : dictionary.get(key);
      at += key?.length ?? 1;
    }
    return made === text ? undefined : made;
  };
  return { dictionary, options: { exact: false }, find };
}

function oneTranslated(
  event: PlainEvent,
  source: string,
  into: string,
  { find }: Lookup,
  fallback?: string,
): boolean {
  const value = event.get(source)!;
  if (value instanceof Time) throw new Unspecified("a time");
  const text = textOf(Array.isArray(value) ? value[0] : value);
  const found = find(text) ?? (fallback === undefined ? undefined : sprintf(event, fallback));
  if (found !== undefined) event.set(into, found);
  return found !== undefined;
}

function eachTranslated(
  event: PlainEvent,
  source: string,
  into: string,
  { find }: Lookup,
  fallback?: string,
): boolean {
  const value = event.get(source)!;
  if (isHash(value)) throw new Unspecified("Array() of a hash");
  if (value === null) throw new Unspecified("null becomes an empty list");
  const items = Array.isArray(value) ? value : [value];
  const rest = fallback === undefined ? null : sprintf(event, fallback);
  const made = items.map((each) => find(textOf(each)) ?? rest);
  event.set(into, made);
  return made.some((each) => each !== null);
}
