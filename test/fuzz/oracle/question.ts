/** A query with the test that says of a document's JSON whether the query matches it. */

import type { Dice } from "./dice.ts";
import {
  comparison,
  type Item,
  itemsAt,
  type Json,
  KINDS,
  type Level,
  levelOf,
  type Value,
  valuesOf,
} from "./documents.ts";

export interface Question {
  readonly query: Json;
  readonly fits: (item: Item) => boolean;
}

/** What random requests are made of. */
export interface Subject {
  readonly dice: Dice;
  /** The documents that searches see. */
  readonly items: readonly Item[];
  readonly shards: number;
  /** Segments may still have terms of documents that are gone. */
  readonly hasDeleted: boolean;
}

const FIELDS: Readonly<Record<Level, readonly string[]>> = {
  root: ["at", "k", "kk", "ks", "n", "m", "d", "f", "h", "c", "z", "b", "ip", "p.k", "p.n", "ka", "na"],
  object: ["o.k", "o.n", "o.at"],
  part: ["o.q.k", "o.q.n"],
};
/** How often a document is looked for that has a value of a field. */
const TRIES = 20;

/** Returns the fields of a level, of the given kinds alone where there are any. */
export function fieldsOf(level: Level, ...kinds: readonly string[]): string[] {
  return FIELDS[level].filter((field) => kinds.length === 0 || kinds.includes(KINDS[field]!));
}

/** Returns a value that a document has, or one that none needs to have. */
export function someValue({ dice, items }: Subject, field: string): Value {
  for (let tried = 0; tried < TRIES && items.length > 0; tried++) {
    const root = dice.pick(items);
    const item = dice.pick(itemsAt(root, levelOf(field)));
    const values = item === undefined ? [] : valuesOf(item, field);
    if (values.length > 0) return dice.pick(values);
  }
  const strange = { keyword: "s1", ip: "10.0.0.1", date: Date.UTC(2018, 2, 25), number: 1, boolean: 1 };
  return strange[KINDS[field]!];
}

/** Returns two values of a field, the smaller one first. */
export function someBounds(subject: Subject, field: string): [Value, Value] {
  const [a, b] = [someValue(subject, field), someValue(subject, field)];
  return comparison(field)(a, b) <= 0 ? [a, b] : [b, a];
}

/** Infinite bounds are equal to each other. */
export function compareBounds(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
