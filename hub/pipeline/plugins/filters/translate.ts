/** Filter translate: looks values up in a dictionary. */

import { readFileSync, statSync } from "node:fs";
import { extname } from "node:path";
import type { Static } from "typebox";
import { parseDocument, visit } from "yaml";
import { parseCsvLine } from "#hub/pipeline/formats/csv-line.ts";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { decimal, parseEventJson } from "#proto/codec/json.ts";
import { copyValue, type Event, isHash, valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import { AppError } from "#proto/kit/errors.ts";
import { flag, oneOf, optional, options, text, valueTable, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { refreshed } from "./refreshed-file.ts";

const OPTIONS = options({
  source: optional(text("field whose value is looked up")),
  field: optional(text("former name of source")),
  target: optional(
    text("target field for the result; default: the source; without ECS the field translation"),
  ),
  destination: optional(text("former name of target")),
  override: optional(
    Type.Boolean({ description: "replaces an existing value; default: true if target is the source" }),
  ),
  dictionary: valueTable("results by value"),
  dictionary_path: optional(text("file of the dictionary: .json, .yml or .csv")),
  yaml_dictionary_code_point_limit: withoutEffect("dictionaries of any size are read"),
  yaml_load_strategy: withoutEffect(
    "a dictionary is always read whole",
    Type.Enum(["streaming", "one_shot"], { default: "one_shot" }),
  ),
  refresh_interval: Type.Number({
    default: 300,
    description: "interval at which the file is read again, s; 0: never",
  }),
  refresh_behaviour: oneOf(
    ["merge", "replace"],
    "merge: entries that were removed from the file remain",
    "merge",
  ),
  exact: flag("false: replaces only the matching part of the value", true),
  regex: flag("the keys are regular expressions", false),
  fallback: optional(text("result for values that aren't found, a format")),
  iterate_on: optional(
    text(
      "list whose items are looked up one by one; where it isn't the source, the source and the target are members of its objects",
    ),
  ),
});

/** A number of YAML with a point or an exponent; 0x1e has none. */
const DECIMAL = /^[-+]?[0-9]*(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)$/;

type Options = Static<typeof OPTIONS>;

/** Returns the result of a value, or undefined. */
type Lookup = (value: string) => unknown;
/** Returns the result of a value for an event, the fallback included, or undefined. */
type Find = (event: Event, value: unknown) => unknown;

export const translateFilter = defineFilter({
  name: "translate",
  description: "looks values up in a dictionary",
  options: OPTIONS,
  create(values, context) {
    const sourceName = values.source ?? values.field;
    reportExclusive(values, context);
    if (sourceName === undefined) {
      context.report("error", "source", "translate needs the option source: please provide `source =>`");
      return { apply: () => false };
    }
    const targetName = values.target ?? values.destination ?? (context.ecs ? sourceName : "translation");
    const source = fieldReference(sourceName);
    const target = fieldReference(targetName);
    const override = values.override ?? targetName === sourceName;
    const fallback = values.fallback === undefined ? undefined : compileFormat(values.fallback);
    const lookup = dictionaryLookup(values, context);
    // Upstream a value that may be replaced by its result counts as handled, whether there is one or not.
    const isInPlace = targetName === sourceName;
    if (values.iterate_on !== undefined) {
      const list = fieldReference(values.iterate_on);
      const isOfValues = values.iterate_on === sourceName;
      const wasHandled = (event: Event): boolean => isInPlace && event.has(list);
      const find: Find = (event, value) => lookup(valueText(value)) ?? fallback?.(event);
      return {
        apply: (event) =>
          isOfValues
            ? (override || !event.has(target)) &&
              (translateItems(event, list, target, find) || wasHandled(event))
            : translateObjects(event, list, source, target, find) || wasHandled(event),
        conflicted: () => undefined,
      };
    }
    return {
      apply(event) {
        const value = event.get(source);
        if (value === undefined || (!override && event.has(target))) return false;
        const found = lookup(valueText(Array.isArray(value) ? value[0] : value)) ?? fallback?.(event);
        if (found === undefined) return isInPlace;
        event.set(target, copyValue(found));
        return true;
      },
      conflicted: () => undefined,
    };
  },
});

/** Options that exclude each other are faults of the configuration, as it isn't clear which one is meant. */
function reportExclusive(values: Options, { report }: FilterContext): void {
  const pairs = [
    ["source", "field"],
    ["target", "destination"],
  ] as const;
  for (const [name, former] of pairs) {
    if (values[name] !== undefined && values[former] !== undefined)
      report("error", former, `remove \`${former} =>\`, as \`${name}\` is set`);
  }
  if (values.dictionary_path !== undefined && Object.keys(values.dictionary).length > 0)
    report("error", "dictionary", "dictionary and dictionary_path can't both be set");
}

/** Looks the items of a list up; the target gets as many, null for those that aren't found. */
function translateItems(event: Event, list: FieldReference, target: FieldReference, find: Find): boolean {
  const items = event.get(list);
  if (items === undefined || items === null) return false;
  const found = [items].flat().map((item) => find(event, item) ?? null);
  event.set(target, found);
  return found.some((each) => each !== null);
}

/** Looks a member of each object of a list up, and puts the result into the same object. */
function translateObjects(
  event: Event,
  list: FieldReference,
  source: FieldReference,
  target: FieldReference,
  find: Find,
): boolean {
  const items = event.get(list);
  let isChanged = false;
  for (const [index, item] of (Array.isArray(items) ? items : []).entries()) {
    if (!isHash(item)) continue;
    const value = event.get(memberOf(list, index, source));
    const found = value === undefined || value === null ? undefined : find(event, value);
    if (found === undefined) continue;
    event.set(memberOf(list, index, target), found);
    isChanged = true;
  }
  return isChanged;
}

function memberOf(list: FieldReference, index: number, member: FieldReference): FieldReference {
  return { ...list, path: [...list.path, String(index), ...member.path] };
}

function dictionaryLookup(values: Options, { clock, resolvePath }: FilterContext): Lookup {
  const path = values.dictionary_path === undefined ? undefined : resolvePath(values.dictionary_path);
  let entries = new Map(Object.entries(values.dictionary));
  if (path === undefined) return compileLookup(entries, values);
  let modifiedMs = -1;
  const current = refreshed<Lookup>(clock, values.refresh_interval, (before) => {
    const changedMs = statSync(path).mtimeMs;
    if (before !== undefined && changedMs === modifiedMs) return before;
    const read = readDictionary(path);
    const next = values.refresh_behaviour === "merge" ? new Map([...entries, ...read]) : read;
    const compiled = compileLookup(next, values);
    entries = next;
    modifiedMs = changedMs;
    return compiled;
  });
  return (value) => current()(value);
}

function compileLookup(entries: ReadonlyMap<string, unknown>, { exact, regex }: Options): Lookup {
  if (exact && !regex) return (value) => entries.get(value);
  if (exact) {
    const expressions = [...entries].map(
      ([key, result]) => [new RegExp(translateRubyRegexp(key).source, "u"), result] as const,
    );
    return (value) => expressions.find(([expression]) => expression.test(value))?.[1];
  }
  const keys = [...entries.keys()].map((key) =>
    regex ? translateRubyRegexp(key).source : RegExp.escape(key),
  );
  const any = new RegExp(keys.map((key) => `(${key})`).join("|"), "gu");
  return (value) => {
    const replaced = value.replace(any, (match) => valueText(entries.get(match) ?? match));
    return replaced === value ? undefined : replaced;
  };
}

/** Reads a dictionary file. Throws settings_invalid. */
function readDictionary(path: string): Map<string, unknown> {
  const content = readFileSync(path, "utf8");
  const kind = extname(path).toLowerCase();
  if (kind === ".csv") {
    const rows = content.split(/\r?\n/).map((line) => parseCsvLine(line, ",", '"') ?? []);
    return new Map(rows.filter((row) => row.length > 1).map(([key = "", result = ""]) => [key, result]));
  }
  // Of a key that occurs again the last value counts, in both formats.
  const value = kind === ".json" ? readJson(content) : readYaml(content);
  if (!isHash(value)) throw new AppError("settings_invalid", `${path} holds no table of values`);
  return new Map(Object.entries(value));
}

/** Throws SyntaxError, which names the position. */
function readJson(content: string): unknown {
  return parseEventJson(content) ?? JSON.parse(content);
}

/** Returns the value of a text of YAML, in which 30.0 stays a decimal. Throws YAMLParseError. */
function readYaml(content: string): unknown {
  const document = parseDocument(content, { uniqueKeys: false });
  if (document.errors.length > 0) throw document.errors[0]!;
  visit(document, {
    Scalar(place, node) {
      const { value, source = "" } = node;
      // Keys are texts.
      if (place !== "key" && typeof value === "number" && DECIMAL.test(source)) node.value = decimal(value);
    },
  });
  return document.toJS();
}
