/** Random queries of values: term, terms, range, exists, ids, prefix, wildcard, regexp, fuzzy. */

import type { Level } from "./documents.ts";
import { comparison, type Item, type Value, valuesOf, written } from "./documents.ts";
import { isSimilar } from "./edit-distance.ts";
import { fieldsOf, type Question, type Subject, someBounds, someValue } from "./question.ts";

/** More values than a query compares one by one. */
const MANY_VALUES = 300;

export function term(subject: Subject, level: Level): Question {
  const field = subject.dice.pick(fieldsOf(level));
  const value = someValue(subject, field);
  return {
    query: { term: { [field]: written(field, value) } },
    fits: (item) => valuesOf(item, field).includes(value),
  };
}

export function terms(subject: Subject, level: Level): Question {
  const field = subject.dice.pick(fieldsOf(level));
  const values = subject.dice.times(subject.dice.pick([2, 5, MANY_VALUES]), () => someValue(subject, field));
  const wanted = new Set(values);
  return {
    query: { terms: { [field]: values.map((value) => written(field, value)) } },
    fits: (item) => valuesOf(item, field).some((value) => wanted.has(value)),
  };
}

export function range(subject: Subject, level: Level): Question {
  const { dice } = subject;
  const field = dice.pick(fieldsOf(level, "keyword", "number", "ip", "date"));
  const compare = comparison(field);
  const [low, high] = someBounds(subject, field);
  const lower = dice.pick(["gte", "gt", undefined]);
  const upper = dice.pick(["lte", "lt", undefined]);
  const above = (value: Value): boolean =>
    lower === undefined ||
    compare(value, low) > (lower === "gte" ? -1 : 0) ||
    (compare(value, low) === 0 && lower === "gte");
  const below = (value: Value): boolean =>
    upper === undefined || compare(value, high) < 0 || (upper === "lte" && compare(value, high) === 0);
  return {
    query: {
      range: {
        [field]: {
          ...(lower === undefined ? {} : { [lower]: low }),
          ...(upper === undefined ? {} : { [upper]: high }),
        },
      },
    },
    fits: (item) => valuesOf(item, field).some((value) => above(value) && below(value)),
  };
}

export function exists({ dice }: Subject, level: Level): Question {
  const field = dice.pick([...fieldsOf(level), ...(level === "root" ? ["p"] : [])]);
  const has = (item: Item, each: string): boolean => valuesOf(item, each).length > 0;
  return {
    query: { exists: { field } },
    fits: (item) => (field === "p" ? has(item, "p.k") || has(item, "p.n") : has(item, field)),
  };
}

export function ids({ dice, items }: Subject): Question {
  const values = dice.times(1 + dice.below(50), () => String(dice.below(items.length * 2 + 1)));
  return { query: { ids: { values } }, fits: (item) => values.includes(item.id) };
}

/** Patterns of keywords with the JavaScript expression that means the same. */
export function pattern(subject: Subject, level: Level): Question {
  const { dice } = subject;
  const field = dice.pick(fieldsOf(level, "keyword"));
  const value = String(someValue(subject, field));
  const ask = (query: Question["query"], expression: RegExp): Question => ({
    query,
    fits: (item) => valuesOf(item, field).some((each) => expression.test(String(each))),
  });
  const start = value.slice(0, 1 + dice.below(value.length));
  const end = value.slice(-1);
  switch (dice.below(3)) {
    case 0:
      return ask({ prefix: { [field]: start } }, new RegExp(`^${start}`));
    case 1: {
      const text = dice.pick([
        `*${end}`,
        `${start}*`,
        `?${value.slice(1)}`,
        "*",
        `${value[0]}*${end}`,
        `${value}?`,
        "??",
      ]);
      const expression = text.replaceAll("*", ".*").replaceAll("?", ".");
      return ask({ wildcard: { [field]: text } }, new RegExp(`^${expression}$`));
    }
    default: {
      // Lucene's expressions are anchored; these mean the same in both languages.
      const text = dice.pick([
        `${start}.*`,
        ".[0-4]+",
        `(${value}|k1|w[12]?)`,
        `${value[0]}[^1-3]{1,2}`,
        ".",
        `[a-s]${end}?[0-9]?`,
      ]);
      return ask({ regexp: { [field]: text } }, new RegExp(`^(?:${text})$`));
    }
  }
}

export function fuzzyKeyword(subject: Subject, level: Level): Question {
  const { dice } = subject;
  const field = dice.pick(fieldsOf(level, "keyword"));
  const value = String(someValue(subject, field));
  // With as many edits as a term has letters versions of Lucene differ, and the shortest have two.
  const edits = dice.below(2);
  const prefix = dice.below(3);
  // Not by default, other than in match.
  const transpositions = dice.pick([undefined, false, true]);
  return {
    // More expansions than there are terms: which ones are left out otherwise depends on segments.
    query: {
      fuzzy: {
        [field]: { value, fuzziness: edits, prefix_length: prefix, max_expansions: 5_000, transpositions },
      },
    },
    fits: (item) =>
      valuesOf(item, field).some((each) =>
        isSimilar(String(each), value, edits, prefix, transpositions ?? false),
      ),
  };
}

/** Addresses that begin alike. */
export function addressBlock(subject: Subject): Question {
  const address = String(someValue(subject, "ip"));
  const bits = subject.dice.pick([8, 16, 24]);
  const start = `${address
    .split(".")
    .slice(0, bits / 8)
    .join(".")}.`;
  return {
    query: { term: { ip: `${address}/${bits}` } },
    fits: (item) => valuesOf(item, "ip").some((value) => String(value).startsWith(start)),
  };
}
