/** Filter mutate: changes fields. Its parts run in a fixed order, whatever order they are written in. */

import type { Static, Type } from "typebox";
import { rubySplit } from "#hub/pipeline/formats/ruby-split.ts";
import { convertParts, type Mutation } from "#hub/pipeline/formats/value-conversion.ts";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { type RubyRegexp, translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { copyValue, isHash, valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import { anyTable, list, options, table, text } from "#proto/kit/options.ts";

const OPTIONS = options({
  coerce: anyTable("values for existing fields that are null"),
  rename: table("new names by old ones"),
  update: anyTable("new values, as formats, for existing fields"),
  replace: anyTable("new values, as formats"),
  convert: anyTable("kinds by field: integer, float, integer_eu, float_eu, string, boolean"),
  gsub: list("field, expression, replacement, in threes"),
  uppercase: list("fields to write in upper case"),
  capitalize: list("fields to write with a capital first letter"),
  lowercase: list("fields to write in lower case"),
  strip: list("fields from which whitespace at both ends is trimmed"),
  split: table("separators by field: text becomes a list"),
  join: table("separators by field: a list becomes text"),
  merge: anyTable("fields to append, by the field to which they are appended"),
  copy: anyTable("target fields by the field to copy"),
  tag_on_failure: text("tag of events for which a change failed; later changes are skipped", "_mutate_error"),
});

export type MutateOptions = typeof OPTIONS extends Type.TSchema ? Static<typeof OPTIONS> : never;

export const mutateFilter = defineFilter({
  name: "mutate",
  description: "renames, converts and rewrites fields",
  options: OPTIONS,
  create(values, context) {
    const mutations = compileMutations(values, context);
    return {
      apply(event) {
        for (const mutate of mutations) mutate(event);
        return true;
      },
      conflicted: (event) => event.tag(values.tag_on_failure),
    };
  },
});

/** Upstream's order; it can't be changed by the order of writing. */
function compileMutations(values: MutateOptions, context: FilterContext): Mutation[] {
  const { coerce, rename, update, replace } = structureParts;
  return [
    ...coerce(values.coerce),
    ...rename(values.rename),
    ...update(values.update),
    ...replace(values.replace),
    ...convertParts(values.convert, context),
    ...textParts.gsub(values.gsub, context),
    ...textParts.uppercase(values.uppercase),
    ...textParts.capitalize(values.capitalize),
    ...textParts.lowercase(values.lowercase),
    ...textParts.strip(values.strip),
    ...structureParts.split(values.split),
    ...structureParts.join(values.join),
    ...structureParts.merge(values.merge),
    ...structureParts.copy(values.copy),
  ];
}

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

const structureParts = {
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

  /** Text becomes a list; what Ruby's split makes of it. */
  split: (table: Table): Mutation[] =>
    Object.entries(table).map(([name, separator]) => {
      const field = fieldOf(name);
      const by = compileFormat(valueText(separator));
      return (event) => {
        const reference = field(event);
        const value = event.get(reference);
        if (typeof value !== "string") return;
        event.set(reference, partsOf(value, by(event)));
      };
    }),

  join: (table: Table): Mutation[] =>
    Object.entries(table).map(([name, separator]) => {
      const field = fieldOf(name);
      const by = compileFormat(valueText(separator));
      return (event) => {
        const reference = field(event);
        const value = event.get(reference);
        if (Array.isArray(value)) event.set(reference, joined(value, by(event)));
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

/** Lists within the list are joined likewise. */
function joined(list: readonly unknown[], separator: string): string {
  return list
    .map((each) => (Array.isArray(each) ? joined(each, separator) : valueText(each)))
    .join(separator);
}

/** Empty parts at the end are dropped. */
function partsOf(value: string, separator: string): string[] {
  const parts = rubySplit(value, separator);
  while (parts.at(-1) === "") parts.pop();
  return parts;
}

/** An object merges with an object alone; else a list is made, also of a single value and of none. */
function mergeInto(event: Parameters<Mutation>[0], target: FieldReference, added: unknown): void {
  const before = event.get(target);
  if (isHash(before) !== isHash(added)) return;
  if (isHash(before)) event.set(target, { ...before, ...(copyValue(added) as object) });
  else event.set(target, [...itemsOf(before), ...itemsOf(copyValue(added))]);
}

function itemsOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** A replacement takes at most this long, ms; text comes from anywhere. */
const GSUB_LIMIT_MS = 30_000;

/** Rewrites a field's text or a list's texts; other values stay. */
function rewriteText(name: string, rewrite: (text: string) => string): Mutation {
  const reference = fieldReference(name);
  return (event) => {
    const value = event.get(reference);
    if (typeof value === "string") event.set(reference, rewrite(value));
    else if (Array.isArray(value)) {
      event.set(
        reference,
        value.map((item: unknown) => (typeof item === "string" ? rewrite(item) : item)),
      );
    }
  };
}

function capitalized(value: string): string {
  const [first = ""] = value;
  return first.toUpperCase() + value.slice(first.length).toLowerCase();
}

const each = (rewrite: (text: string) => string) => (names: readonly string[]) =>
  names.map((name) => rewriteText(name, rewrite));

const textParts = {
  uppercase: each((value) => value.toUpperCase()),
  lowercase: each((value) => value.toLowerCase()),
  capitalize: each(capitalized),
  /** ASCII's whitespace and NUL, as Ruby does. */
  strip: each((value) => value.replace(/^[\t-\r \0]+|(?<![\t-\r \0])[\t-\r \0]+$/g, "")),

  /** `[ field, expression, replacement, … ]` */
  gsub(triples: readonly string[], { report, guard }: FilterContext): Mutation[] {
    if (triples.length % 3 !== 0) {
      report(
        "error",
        "gsub",
        "Invalid gsub configuration: its values come in threes",
        'write: gsub => [ "field", "expression", "replacement" ]',
      );
      return [];
    }
    const mutations: Mutation[] = [];
    for (let at = 0; at < triples.length; at += 3) {
      const [name = "", expression = "", replacement = ""] = triples.slice(at, at + 3);
      const pattern = patternOf(expression);
      const format = compileFormat(replacement);
      const reference = fieldReference(name);
      mutations.push((event) => {
        const { expression: expressionNow, regexp } = pattern(event);
        const replacer = rubyReplacer(format(event), regexp);
        const rewrite = (value: string): string => value.replace(expressionNow, replacer);
        const value = event.get(reference);
        const done = (): unknown =>
          typeof value === "string"
            ? rewrite(value)
            : Array.isArray(value)
              ? value.map((item: unknown) => (typeof item === "string" ? rewrite(item) : item))
              : undefined;
        const subject =
          typeof value === "string" ? value : Array.isArray(value) ? value.map(valueText).join("\n") : "";
        const result = guard.run(expressionNow, subject, GSUB_LIMIT_MS, done);
        if (result !== undefined) event.set(reference, result);
      });
    }
    return mutations;
  },
};

interface Pattern {
  readonly expression: RegExp;
  /** What it was made of. */
  readonly regexp: RubyRegexp;
}

/** An expression may hold fields of the event; one without is compiled once. */
function patternOf(expression: string): (event: Parameters<Mutation>[0]) => Pattern {
  const format = compileFormat(expression);
  if (format.isConstant) {
    const pattern = globalPattern(expression);
    return () => pattern;
  }
  let last = "";
  let compiled = globalPattern("");
  return (event) => {
    const text = format(event);
    if (text !== last) {
      compiled = globalPattern(text);
      last = text;
    }
    return compiled;
  };
}

function globalPattern(expression: string): Pattern {
  const regexp = translateRubyRegexp(expression);
  return { expression: new RegExp(regexp.source, "gu"), regexp };
}

/** Ruby's references within a replacement: `\1`, `\0` and `\&`, `\k<name>`, `` \` `` and `\'`; `\\` is a backslash. */
const REFERENCE = /\\(?:([0-9&`'\\])|k<([^>]+)>)/g;

/**
 * Returns what replaces a match; a group that didn't take part in it, or doesn't exist, is empty. A dollar stands for
 * itself.
 */
function rubyReplacer(text: string, regexp: RubyRegexp): (...found: unknown[]) => string {
  if (!text.includes("\\")) return () => text;
  const reader = regexp.captureReader();
  const names = [...new Set(regexp.captures.map(({ name }) => name))];
  return (...found) => {
    const [subject, offset] = [found.pop() as string, found.pop() as number];
    const match = found as unknown as RegExpExecArray;
    const groups = new Map<string, string>();
    reader.visit(match, (name, value) => groups.set(name, value));
    return text.replace(REFERENCE, (_, sign: string | undefined, name: string) => {
      if (sign === undefined) return groups.get(name) ?? "";
      if (sign === "\\") return sign;
      if (sign === "&" || sign === "0") return match[0];
      if (sign === "`") return subject.slice(0, offset);
      if (sign === "'") return subject.slice(offset + match[0].length);
      // Groups with names have numbers too.
      return groups.get(sign) ?? groups.get(names[Number(sign) - 1] ?? "") ?? "";
    });
  };
}
