/** Processors that read fields out of a text: `json` parses it, `kv` cuts it into keys and values. */

import { isHash } from "#proto/event.ts";
import { member, put } from "#proto/event-members.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { parseDocumentJson } from "./document-json.ts";
import { type IngestDocument, ProcessorFault } from "./ingest-document.ts";
import { type ProcessorKind, type ProcessorSettings, readField, readText } from "./processor.ts";
import { expressionOf, partsOf, within } from "./text-processors.ts";

export const json: ProcessorKind = (settings, context) => {
  const field = settings.text("field");
  const target = settings.optionalText("target_field");
  const addsToRoot = settings.flag("add_to_root");
  const conflict = settings.text("add_to_root_conflict_strategy", "replace");
  // Of a key that occurs again the last value counts, as with the parser here.
  settings.flag("allow_duplicate_keys", true);
  const isStrict = settings.flag("strict_json_parsing", context.version < 700);
  if (addsToRoot && target !== undefined)
    throw settings.fault(
      "target_field",
      "Cannot set a target field while also setting `add_to_root` to true",
    );
  if (conflict !== "replace" && conflict !== "merge")
    throw settings.fault(
      "add_to_root_conflict_strategy",
      `conflict strategy [${conflict}] not supported: use replace or merge`,
    );
  return (document) => {
    const given = document.get(field);
    const value = given === null ? null : readField(document, { field, target: field, ignoreMissing: false });
    const parsed = typeof value === "string" ? readJson(value, isStrict) : value;
    if (parsed === undefined) throw new ProcessorFault(`field [${field}] holds no JSON`);
    if (!addsToRoot) document.set(target ?? field, parsed);
    else if (!isHash(parsed)) throw new ProcessorFault("cannot add non-map fields to root of document");
    else addMembers(document.source, parsed, conflict === "merge");
  };
};

/** Returns the value of a text, or that which it begins with; null for a blank text, undefined for one without. */
function readJson(text: string, isStrict: boolean): unknown {
  if (text.trim() === "") return null;
  return isStrict ? parseDocumentJson(text) : leadingJson(text);
}

/** A quote without its end is the last token: looked for from each quote, the end would be looked for again and again. */
const TOKENS = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\]]|[^\s{}[\],:"]+/gs;

/** Time of the expressions on one text. */
const EXPRESSION_MS = 1_000;

/** What is made of a value: characters to trim, brackets and quotes to strip. */
interface Trimming {
  readonly key: (text: string) => string;
  readonly value: (text: string) => string;
}

export const kv: ProcessorKind = (settings, { guard }) => {
  const field = settings.text("field");
  const target = settings.optionalText("target_field");
  const ignoreMissing = settings.flag("ignore_missing");
  const prefix = `${target === undefined ? "" : `${target}.`}${settings.text("prefix", "")}`;
  const { expression: fields } = expressionOf(settings, "field_split");
  const { expression: values, text: valueSplit } = expressionOf(settings, "value_split");
  const isWanted = choice(settings);
  const trimming = trimmingOf(settings);
  return (document) => {
    const text = readText(document, { field, target: field, ignoreMissing });
    if (text === undefined) return;
    const parts = within(() => guard.run(fields, text, EXPRESSION_MS, () => partsOf(text, fields)));
    // As String.split() of the original, which drops what is empty at the end.
    if (text !== "") while (parts.at(-1) === "") parts.pop();
    const found = new Map<string, string[]>();
    const take = (part: string): boolean => {
      const match = values.exec(part);
      if (match === null) return false;
      const key = trimming.key(part.slice(0, match.index));
      const value = trimming.value(part.slice(match.index + match[0].length));
      if (!isWanted(key)) return true;
      const before = found.get(key);
      if (before === undefined) found.set(key, [value]);
      else before.push(value);
      return true;
    };
    const isWhole = within(() => guard.run(values, text, EXPRESSION_MS, () => parts.every(take)));
    for (const [key, texts] of found) add(document, prefix + key, texts);
    if (!isWhole) throw new ProcessorFault(`field [${field}] does not contain value_split [${valueSplit}]`);
  };
};

/** A field that there is already, and a key that occurs again, make a list. */
function add(document: IngestDocument, path: string, texts: readonly string[]): void {
  const before = document.get(path);
  if (before === undefined) document.set(path, texts.length === 1 ? texts[0] : texts);
  else document.set(path, [before, texts].flat());
}

function choice(settings: ProcessorSettings): (key: string) => boolean {
  const included = new Set(settings.list("include_keys", []));
  const excluded = new Set(settings.list("exclude_keys", []));
  return (key) => (included.size === 0 || included.has(key)) && !excluded.has(key);
}

function trimmingOf(settings: ProcessorSettings): Trimming {
  const key = trimmer(settings.optionalText("trim_key"));
  const trim = trimmer(settings.optionalText("trim_value"));
  const strips = settings.flag("strip_brackets");
  return { key, value: (text) => trim(strips ? stripped(text) : text) };
}

function trimmer(characters: string | undefined): (text: string) => string {
  if (characters === undefined) return (text) => text;
  return (text) => {
    let [from, to] = [0, text.length];
    while (from < to && characters.includes(text[from]!)) from++;
    while (to > from && characters.includes(text[to - 1]!)) to--;
    return text.slice(from, to);
  };
}

/** Each end on its own, as the original does. */
const BRACKETS = /^[([<"']|[\])>"']$/g;

function stripped(text: string): string {
  return text.replace(BRACKETS, "");
}

/** Adds members to an object; objects of the same name are merged, or the later one counts. */
function addMembers(into: JsonObject, from: JsonObject, merges: boolean): void {
  for (const [key, value] of Object.entries(from)) {
    const before = merges ? member(into, key) : undefined;
    if (isHash(before) && isHash(value)) addMembers(before, value, true);
    else put(into, key, value);
  }
}

/** Returns the value that a text begins with, as servers of 7.x read it: what follows it is left out. */
function leadingJson(text: string): unknown {
  return parseDocumentJson(text) ?? parseDocumentJson(text.slice(0, endOfValue(text)));
}

/** Offset after the first object, list or other value. */
function endOfValue(text: string): number {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    if (depth <= 0) return index + token.length;
  }
  return text.length;
}
