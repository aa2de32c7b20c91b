/** Filter alter: gives fields new values where fields have expected ones. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import type { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import { list, options } from "#proto/kit/options.ts";

export const alterFilter = defineFilter({
  name: "alter",
  description: "gives fields new values where fields have the expected ones",
  options: options({
    condrewrite: list("field, expected value, new value, in threes; values are formats"),
    condrewriteother: list(
      "field, expected value, field to change, its new value, in fours; values are formats",
    ),
    coalesce: list("field, then formats: the field gets the first of which no field is missing"),
  }),
  create({ condrewrite, condrewriteother, coalesce }, { report }) {
    if (condrewrite.length % 3 !== 0)
      report("error", "condrewrite", "condrewrite needs field, expected value and new value, in threes");
    if (condrewriteother.length % 4 !== 0)
      report("error", "condrewriteother", "condrewriteother needs field, value, field and value, in fours");
    if (coalesce.length === 1)
      report("error", "coalesce", "coalesce needs a field and at least one value for it");
    const rewrites = inGroups(condrewrite, 3).map(([field = "", expected = "", value = ""]) =>
      rewriteItself(field, expected, value),
    );
    const others = inGroups(condrewriteother, 4).map(([field = "", expected = "", other = "", value = ""]) =>
      rewriteOther(field, expected, other, value),
    );
    const steps = [...rewrites, ...others, ...(coalesce.length > 1 ? [firstWhole(coalesce)] : [])];
    return {
      apply(event) {
        for (const step of steps) step(event);
        return true;
      },
    };
  },
});

type Step = (event: Event) => void;

function inGroups(items: readonly string[], size: number): string[][] {
  const groups: string[][] = [];
  for (let at = 0; at + size <= items.length; at += size) groups.push(items.slice(at, at + size));
  return groups;
}

/** Rewrites a text, or those texts of a list, that are what is expected. */
function rewriteItself(field: string, expected: string, value: string): Step {
  const reference = fieldReference(field);
  const [wanted, make] = [compileFormat(expected), compileFormat(value)];
  return (event) => {
    const before = event.get(reference);
    if (typeof before !== "string" && !Array.isArray(before)) return;
    // Once for all items: each format may be the text of a long list, too.
    const [sought, replacement] = [wanted(event), make(event)];
    const rewritten = (item: unknown): unknown => (item === sought ? replacement : item);
    event.set(reference, Array.isArray(before) ? before.map(rewritten) : rewritten(before));
  };
}

function rewriteOther(field: string, expected: string, other: string, value: string): Step {
  const [reference, target] = [fieldReference(field), fieldReference(other)];
  const [wanted, make] = [compileFormat(expected), compileFormat(value)];
  return (event) => {
    const found = event.get(reference);
    const isExpected = Array.isArray(found) ? found.includes(wanted(event)) : found === wanted(event);
    if (isExpected) event.set(target, make(event));
  };
}

/** A format of which a field is missing keeps its `%{field}`. An expression would look for the end once for each begin. */
function isUnresolved(text: string): boolean {
  const begin = text.indexOf("%{");
  return begin >= 0 && text.includes("}", begin);
}

function firstWhole([field = "", ...values]: readonly string[]): Step {
  const reference = fieldReference(field);
  const formats = values.map(compileFormat);
  return (event) => {
    for (const format of formats) {
      const value = format(event);
      if (value === "nil" || isUnresolved(value)) continue;
      event.set(reference, value);
      return;
    }
  };
}
