/** Scripts that read columns, with the same computed from the JSON. */

import { comparison, type Item, numbersOf, valuesOf } from "./documents.ts";
import type { Question, Subject } from "./question.ts";

export interface NumberScript {
  readonly source: string;
  readonly of: (item: Item) => number;
}

/** A column's `value` is the smallest one. */
function least(item: Item, field: string): number | undefined {
  const numbers = numbersOf(item, field);
  return numbers.length === 0 ? undefined : Math.min(...numbers);
}

const NUMBERS: readonly NumberScript[] = [
  { source: "doc['u'].value * 3", of: (item) => least(item, "u")! * 3 },
  {
    source: "doc['ks'].size() + (doc['m'].size() > 0 ? doc['m'].value : 0)",
    of: (item) => valuesOf(item, "ks").length + (least(item, "m") ?? 0),
  },
  {
    source: "doc['d'].size() == 0 ? 1.5 : doc['d'].value / 2.0",
    of: (item) => (least(item, "d") ?? 3) / 2,
  },
  {
    source: "doc['n'].size() == 0 ? -1 : doc['n'].value % 7",
    of: (item) => (least(item, "n") === undefined ? -1 : least(item, "n")! % 7),
  },
];

export function numberScript({ dice }: Subject): NumberScript {
  return dice.pick(NUMBERS);
}

/** A keyword's script: the first text in order, or `none`. */
export const KEYWORD_SCRIPT = {
  source: "doc['k'].size() == 0 ? 'none' : doc['k'].value",
  of: (item: Item): string => String(valuesOf(item, "k").sort(comparison("k"))[0] ?? "none"),
};

export function scriptQuery({ dice }: Subject): Question {
  const rest = dice.below(5);
  const source = "doc['m'].size() > 0 && doc['m'].value % 5 == params.rest";
  return {
    query: { script: { script: { source, params: { rest } } } },
    fits: (item) => (least(item, "m") ?? -1) % 5 === rest,
  };
}
