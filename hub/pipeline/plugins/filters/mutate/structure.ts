/** Parts of mutate that move values between fields. */

import type { Mutation } from "#hub/pipeline/plugins/filters/mutate.ts";
import { copyValue, isHash, valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";

type Table = Readonly<Record<string, unknown>>;

/** A field whose name may be a format. */
function fieldOf(name: string): (event: Parameters<Mutation>[0]) => FieldReference {
  const format = compileFormat(name);
  if (format.isConstant) {
    const reference = fieldReference(name);
    return () => reference;
  }
  return (event) => fieldReference(format(event));
}

/** Formats in text values, lists included; other values stay as they are. */
function valueMaker(value: unknown): (event: Parameters<Mutation>[0]) => unknown {
  if (typeof value === "string") return compileFormat(value);
  if (Array.isArray(value)) {
    const items = value.map(valueMaker);
    return (event) => items.map((item) => item(event));
  }
  return () => copyValue(value);
}

function listOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).map(valueText);
}

export const structureParts = {
  /** Gives fields that are null a value. */
  coerce: (table: Table): Mutation[] =>
    Object.entries(table).map(([name, value]) => {
      const field = fieldOf(name);
      const make = compileFormat(valueText(value));
      return (event) => {
        const reference = field(event);
        if (event.get(reference) === null) event.set(reference, make(event));
      };
    }),

  rename: (table: Table): Mutation[] =>
    Object.entries(table).map(([from, to]) => {
      const source = fieldOf(from);
      const target = fieldOf(valueText(to));
      return (event) => {
        const reference = source(event);
        if (!event.has(reference)) return;
        event.set(target(event), event.remove(reference));
      };
    }),

  update: (table: Table): Mutation[] =>
    Object.entries(table).map(([name, value]) => {
      const field = fieldOf(name);
      const make = valueMaker(value);
      return (event) => {
        const reference = field(event);
        if (event.has(reference)) event.set(reference, make(event));
      };
    }),

  replace: (table: Table): Mutation[] =>
    Object.entries(table).map(([name, value]) => {
      const field = fieldOf(name);
      const make = valueMaker(value);
      return (event) => event.set(field(event), make(event));
    }),

  /** Text becomes a list; empty parts at the end are dropped, as Ruby does. */
  split: (table: Table): Mutation[] =>
    Object.entries(table).map(([name, separator]) => {
      const field = fieldOf(name);
      const by = compileFormat(valueText(separator));
      return (event) => {
        const reference = field(event);
        const value = event.get(reference);
        if (typeof value !== "string") return;
        const parts = value.split(by(event));
        while (parts.at(-1) === "") parts.pop();
        event.set(reference, parts);
      };
    }),

  join: (table: Table): Mutation[] =>
    Object.entries(table).map(([name, separator]) => {
      const field = fieldOf(name);
      const by = compileFormat(valueText(separator));
      return (event) => {
        const reference = field(event);
        const value = event.get(reference);
        if (Array.isArray(value)) event.set(reference, value.map(valueText).join(by(event)));
      };
    }),

  /** Appends lists and texts to each other, or members to an object. */
  merge: (table: Table): Mutation[] =>
    Object.entries(table).flatMap(([name, added]) =>
      listOf(added).map((from): Mutation => {
        const target = fieldOf(name);
        const source = fieldOf(from);
        return (event) => mergeInto(event, target(event), event.get(source(event)));
      }),
    ),

  copy: (table: Table): Mutation[] =>
    Object.entries(table).flatMap(([name, targets]) =>
      listOf(targets).map((to): Mutation => {
        const source = fieldOf(name);
        const target = fieldOf(to);
        return (event) => {
          const value = event.get(source(event));
          if (value !== undefined && value !== null) event.set(target(event), copyValue(value));
        };
      }),
    ),
};

function mergeInto(event: Parameters<Mutation>[0], target: FieldReference, added: unknown): void {
  if (added === undefined || added === null) return;
  const before = event.get(target);
  if (before === undefined || before === null) {
    event.set(target, isHash(added) ? copyValue(added) : [added].flat());
  } else if (isHash(before) && isHash(added)) {
    event.set(target, { ...before, ...(copyValue(added) as object) });
  } else if (!isHash(before) && !isHash(added)) {
    event.set(target, [...new Set([before].flat().concat([added].flat()))]);
  }
}
