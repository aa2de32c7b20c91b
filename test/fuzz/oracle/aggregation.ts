/** An aggregation with what it should return for the documents of a bucket. */

import type { Item, Json, Level } from "./documents.ts";
import { fieldsOf, type Subject } from "./question.ts";

export interface Aggregation {
  readonly body: Json;
  readonly expect: (items: readonly Item[]) => unknown;
}

/** Where an aggregation is. */
export interface Scope {
  readonly subject: Subject;
  readonly level: Level;
  /** The number `u` of a document is its score. */
  readonly isScored: boolean;
}

/** Returns documents by each different key; one may have several keys. */
export function grouped<K>(items: readonly Item[], keysOf: (item: Item) => readonly K[]): Map<K, Item[]> {
  const groups = new Map<K, Item[]>();
  for (const item of items) {
    for (const key of new Set(keysOf(item))) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [item]);
      else group.push(item);
    }
  }
  return groups;
}

/** Returns a field of numbers or times. */
export function numericField({ subject, level }: Scope): string {
  return subject.dice.pick([...fieldsOf(level, "number", "date"), ...(level === "root" ? ["u"] : [])]);
}
