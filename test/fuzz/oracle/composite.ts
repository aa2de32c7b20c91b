/** Random composite aggregations, whose pages are read to their end. */

import type { Aggregation, Scope } from "./aggregation.ts";
import { randomSub } from "./buckets.ts";
import { randomRounding } from "./date-buckets.ts";
import {
  comparison,
  type Item,
  type Json,
  KINDS,
  numbersOf,
  type Value,
  valuesOf,
  written,
} from "./documents.ts";
import { MINUTE_FORMATS, printedTime } from "./printed-time.ts";

interface Source {
  readonly name: string;
  readonly body: Json;
  readonly keysOf: (item: Item) => Value[];
  readonly compare: (a: Value | null, b: Value | null) => number;
  readonly write: (value: Value | null) => unknown;
}

export interface Composite extends Aggregation {
  readonly sources: readonly Json[];
  readonly sub: Json;
  readonly size: number;
  /** All buckets of documents, in order. */
  readonly all: (items: readonly Item[]) => Json[];
}

export function randomComposite(scope: Scope): Composite {
  const { dice } = scope.subject;
  const sources = dice.times(1 + dice.below(3), (at) => randomSource(scope, `source${at}`));
  const sub = randomSub(scope, 0);
  const size = dice.pick([3, 50, 2_000]);
  const bodies = sources.map(({ name, body }) => ({ [name]: body }));
  const all = (items: readonly Item[]): Json[] =>
    combined(items, sources).map(([keys, group]) => ({
      key: Object.fromEntries(sources.map(({ name, write }, at) => [name, write(keys[at]!)])),
      ...sub.expectBucket(group),
    }));
  return {
    sources: bodies,
    sub: sub.body,
    size,
    all,
    body: { composite: { size, sources: bodies }, ...sub.body },
    expect: (items) => ({ buckets: all(items).slice(0, size) }),
  };
}

function randomSource(scope: Scope, name: string): Source {
  const { dice } = scope.subject;
  const isDescending = dice.chance(0.3);
  const options: Json = {};
  if (isDescending) options["order"] = "desc";
  if (dice.chance(0.3)) options["missing_bucket"] = true;
  const withMissing = (values: Value[]): Value[] =>
    values.length === 0 && options["missing_bucket"] === true ? [null as unknown as Value] : values;
  const make = (kind: string, own: Json, field: string, keysOf: (item: Item) => Value[]): Source => ({
    name,
    body: { [kind]: { field, ...own, ...options } },
    keysOf: (item) => withMissing(keysOf(item)),
    compare: (a, b) => (isDescending ? -1 : 1) * compareKeys(field, a, b),
    write: (value) => (value === null || kind !== "terms" ? value : written(field, value)),
  });
  switch (dice.below(3)) {
    case 0: {
      const field = dice.pick(["k", "kk", "ks", "n", "b", "ip", "p.k", "at", "ka", "z", "f"]);
      return make("terms", {}, field, (item) => valuesOf(item, field));
    }
    case 1: {
      const interval = dice.pick([5, 25]);
      return make("histogram", { interval }, "n", (item) =>
        numbersOf(item, "n").map((value) => Math.floor(value / interval) * interval),
      );
    }
    default: {
      const { options: own, start, zone } = randomRounding(scope, false);
      const format = dice.chance(0.3) ? dice.pick(MINUTE_FORMATS) : undefined;
      const source = make("date_histogram", { ...own, format }, "at", (item) =>
        numbersOf(item, "at").map(start),
      );
      if (format === undefined) return source;
      return {
        ...source,
        write: (value) => (value === null ? null : printedTime(value as number, zone, format)),
      };
    }
  }
}

/** No value comes before all others. */
function compareKeys(field: string, a: Value | null, b: Value | null): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  return comparison(KINDS[field] === undefined ? "n" : field)(a, b);
}

/** Returns documents by combinations of their keys, in order. */
function combined(items: readonly Item[], sources: readonly Source[]): [(Value | null)[], Item[]][] {
  const groups = new Map<string, [Value[], Item[]]>();
  for (const item of items) {
    let lists: Value[][] = [[]];
    for (const { keysOf } of sources) {
      const keys = [...new Set(keysOf(item))];
      lists = lists.flatMap((list) => keys.map((key) => [...list, key]));
    }
    for (const keys of lists) {
      const text = JSON.stringify(keys);
      const group = groups.get(text);
      if (group === undefined) groups.set(text, [keys, [item]]);
      else group[1].push(item);
    }
  }
  return [...groups.values()].sort(([a], [b]) => {
    for (const [at, { compare }] of sources.entries()) {
      const order = compare(a[at]!, b[at]!);
      if (order !== 0) return order;
    }
    return 0;
  });
}
