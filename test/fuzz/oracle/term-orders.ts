/** Random orders of terms: by number of documents, by key, by metrics and filters below them. */

import type { Scope } from "./aggregation.ts";
import { comparison, type Item, type Json, numbersOf, type Value } from "./documents.ts";

type Group = readonly [key: Value, items: readonly Item[]];

interface Order {
  readonly order: Json | readonly Json[];
  /** What it reads. */
  readonly aggs: Json;
  readonly compare: (a: Group, b: Group) => number;
}

/** A number of a bucket, with the path to it. */
interface Measure {
  readonly path: string;
  readonly aggs: Json;
  readonly of: (items: readonly Item[]) => number;
}

export const DEFAULT_ORDER: Json = { _count: "desc" };

/** All of its values are sums of quarters, so that the order of summing doesn't count. */
const FIELD = "d";

export function randomOrder({ subject: { dice }, level }: Scope, field: string): Order {
  const byKey = comparison(field);
  const byCount = (a: Group, b: Group): number => a[1].length - b[1].length;
  const simple: readonly Order[] = [
    { order: DEFAULT_ORDER, aggs: {}, compare: (a, b) => byCount(b, a) },
    { order: { _count: "asc" }, aggs: {}, compare: byCount },
    { order: { _key: "asc" }, aggs: {}, compare: (a, b) => byKey(a[0], b[0]) },
    { order: { _key: "desc" }, aggs: {}, compare: (a, b) => byKey(b[0], a[0]) },
    {
      order: [{ _count: "asc" }, { _key: "desc" }],
      aggs: {},
      compare: (a, b) => byCount(a, b) || byKey(b[0], a[0]),
    },
  ];
  if (level !== "root" || dice.chance(0.6)) return dice.pick([simple[0]!, ...simple]);
  const kind = dice.pick(["avg", "min", "max", "sum"]);
  return byMeasure(dice.pick(["asc", "desc"]), dice.pick([direct, ofStats, filtered, counted])(kind));
}

/** Buckets without a number come last in both directions. */
function byMeasure(direction: "asc" | "desc", { path, aggs, of }: Measure): Order {
  const sign = direction === "asc" ? 1 : -1;
  return {
    order: { [path]: direction },
    aggs,
    compare([, a], [, b]) {
      const [first, second] = [of(a), of(b)];
      if (Number.isNaN(first) || Number.isNaN(second))
        return Number(Number.isNaN(first)) - Number(Number.isNaN(second));
      return first === second ? 0 : first < second ? -sign : sign;
    },
  };
}

function direct(kind: string): Measure {
  return { path: "by", aggs: { by: { [kind]: { field: FIELD } } }, of: (items) => numberOf(kind, items) };
}

function ofStats(kind: string): Measure {
  return {
    path: `by.${kind}`,
    aggs: { by: { stats: { field: FIELD } } },
    of: (items) => numberOf(kind, items),
  };
}

const CHOSEN = { range: { n: { gte: 0 } } };

function chosen(items: readonly Item[]): Item[] {
  return items.filter((item) => numbersOf(item, "n").some((value) => value >= 0));
}

function filtered(kind: string): Measure {
  const aggs = { by: { filter: CHOSEN, aggs: { metric: { [kind]: { field: FIELD } } } } };
  return { path: "by>metric", aggs, of: (items) => numberOf(kind, chosen(items)) };
}

function counted(): Measure {
  return { path: "by", aggs: { by: { filter: CHOSEN } }, of: (items) => chosen(items).length };
}

/** Of no numbers the least is infinite and the most negative infinite, as orders of 6.5 see them. */
function numberOf(kind: string, items: readonly Item[]): number {
  const numbers = items.flatMap((item) => numbersOf(item, FIELD));
  const sum = numbers.reduce((total, each) => total + each, 0);
  if (kind === "sum") return sum;
  if (kind === "avg") return sum / numbers.length;
  return kind === "min" ? Math.min(...numbers) : Math.max(...numbers);
}
