/** The option `missing`: the values of a field, with one for documents that have none. */

import type { Scope } from "./aggregation.ts";
import { type Item, type Json, KINDS, type Value, valuesOf, written } from "./documents.ts";
import { someValue } from "./question.ts";

interface ReplacedValues {
  /** For the body of the aggregation. */
  readonly options: Json;
  readonly missing: Value | undefined;
  readonly valuesOf: (item: Item) => Value[];
}

/** How often a value is asked for. */
const SHARE = 0.2;

export function withMissing({ subject }: Scope, field: string): ReplacedValues {
  const { dice } = subject;
  if (!dice.chance(SHARE))
    return { options: {}, missing: undefined, valuesOf: (item) => valuesOf(item, field) };
  const kind = KINDS[field]!;
  // Of keywords and numbers also one that no document has.
  const strange = { keyword: "zz", number: 3, boolean: 1, ip: "10.0.0.7", date: Date.UTC(2018, 2, 25) }[kind];
  const missing = dice.chance(0.5) ? strange : someValue(subject, field);
  const shown = kind === "date" ? new Date(missing).toISOString() : written(field, missing);
  return {
    options: { missing: shown },
    missing,
    valuesOf(item) {
      const values = valuesOf(item, field);
      return values.length === 0 ? [missing] : values;
    },
  };
}
