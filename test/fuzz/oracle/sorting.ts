/** Random sort keys and the order of documents by them. */

import type { Level } from "./documents.ts";
import { comparison, FRACTIONS, type Item, type Json, KINDS, type Value, valuesOf } from "./documents.ts";
import { fieldsOf, type Subject, someValue } from "./question.ts";
import { type NumberScript, numberScript } from "./scripts.ts";

/** How one value is made of several; texts, addresses and booleans have the first two alone. */
export const SORT_MODES = ["min", "max", "sum", "avg", "median"] as const;

export type SortMode = (typeof SORT_MODES)[number];

export interface SortKey {
  readonly field: string;
  readonly order: "asc" | "desc";
  readonly mode?: SortMode;
  readonly missing?: string | number;
  /** Instead of the field's values. */
  readonly script?: NumberScript;
}

/** No two documents are alike in it. */
export const BY_NUMBER: SortKey = { field: "u", order: "asc" };

/** Returns keys that leave no two documents alike. */
export function randomKeys(subject: Subject, most: number, level: Level = "root"): SortKey[] {
  return [...subject.dice.times(subject.dice.between(0, most), () => randomKey(subject, level)), BY_NUMBER];
}

function randomKey(subject: Subject, level: Level): SortKey {
  const { dice } = subject;
  if (level === "root" && dice.chance(0.1))
    return { field: "_script", order: dice.pick(["asc", "desc"]), script: numberScript(subject) };
  const field = dice.pick(fieldsOf(level));
  const kind = KINDS[field]!;
  const modes = kind === "number" || kind === "date" ? SORT_MODES : SORT_MODES.slice(0, 2);
  const own = kind === "number" || kind === "keyword" ? [someValue(subject, field)] : [];
  return {
    field,
    order: dice.pick(["asc", "desc"]),
    ...(dice.chance(0.4) ? { mode: dice.pick(modes) } : {}),
    ...(dice.chance(0.5) ? { missing: dice.pick(["_first", "_last", ...own]) } : {}),
  };
}

export function sortBody(keys: readonly SortKey[]): Json[] {
  return keys.map(({ field, script, ...options }) => {
    if (script === undefined) return { [field]: options };
    return { _script: { type: "number", script: { source: script.source }, ...options } };
  });
}

/** Returns a comparison of documents by keys. */
export function orderBy(keys: readonly SortKey[]): (a: Item, b: Item) => number {
  return (a, b) => {
    for (const key of keys) {
      const order = compareBy(key, sortValue(a, key), sortValue(b, key));
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Returns documents in the order of keys. */
export function sorted(items: readonly Item[], keys: readonly SortKey[]): Item[] {
  return items.toSorted(orderBy(keys));
}

function compareBy(
  { field, order, missing = "_last" }: SortKey,
  a: Value | undefined,
  b: Value | undefined,
): number {
  if (a === undefined && b === undefined) return 0;
  if (a === undefined || b === undefined) return (a === undefined) === (missing === "_last") ? 1 : -1;
  const compared = comparison(field)(a, b);
  return order === "asc" ? compared : -compared;
}

/** Returns the value that a document is sorted by; undefined: none. */
export function sortValue(item: Item, key: SortKey): Value | undefined {
  const { field, missing, script } = key;
  if (script !== undefined) return script.of(item);
  const values = valuesOf(item, field).sort(comparison(field));
  if (values.length === 0) return missing === "_first" || missing === "_last" ? undefined : missing;
  const mode = key.mode ?? (key.order === "asc" ? "min" : "max");
  if (mode === "min") return values[0];
  if (mode === "max") return values.at(-1);
  return reduced(values as number[], mode, !FRACTIONS.has(field));
}

/** Returns one number of several; `isWhole`: of a field of whole numbers, to which means are rounded. */
export function reduced(ascending: readonly number[], mode: SortMode, isWhole: boolean): number {
  if (mode === "min") return ascending[0]!;
  if (mode === "max") return ascending.at(-1)!;
  const sum = ascending.reduce((total, each) => total + each, 0);
  if (mode === "sum") return sum;
  const middle = ascending.length >> 1;
  const isOdd = ascending.length % 2 === 1;
  const median = isOdd ? ascending[middle]! : (ascending[middle - 1]! + ascending[middle]!) / 2;
  const result = mode === "avg" ? sum / ascending.length : median;
  return isWhole ? Math.round(result) : result;
}
