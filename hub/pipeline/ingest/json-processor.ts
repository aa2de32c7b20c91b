/** `json`: parses a JSON text into fields. */

import { parseEventJson } from "#proto/codec/json.ts";
import { isHash } from "#proto/event.ts";
import { member, put } from "#proto/event-members.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { ProcessorFault } from "./ingest-document.ts";
import { type ProcessorKind, readField } from "./processor.ts";

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
    const parsed =
      typeof value === "string" ? (isStrict ? parseEventJson(value) : leadingJson(value)) : value;
    if (parsed === undefined) throw new ProcessorFault(`field [${field}] holds no JSON`);
    if (!addsToRoot) document.set(target ?? field, parsed);
    else if (!isHash(parsed)) throw new ProcessorFault("cannot add non-map fields to root of document");
    else addMembers(document.source, parsed, conflict === "merge");
  };
};

/** Adds members to an object; objects of the same name are merged, or the later one counts. */
function addMembers(into: JsonObject, from: JsonObject, merges: boolean): void {
  for (const [key, value] of Object.entries(from)) {
    const before = merges ? member(into, key) : undefined;
    if (isHash(before) && isHash(value)) addMembers(before, value, true);
    else put(into, key, value);
  }
}

/** Returns the value that a text begins with, as servers of 7.x read it: what stands behind it is left out. */
function leadingJson(text: string): unknown {
  return parseEventJson(text) ?? parseEventJson(text.slice(0, endOfValue(text)));
}

/** A quote without its end is the last token: looked for from each quote, the end would be looked for again and again. */
const TOKENS = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\]]|[^\s{}[\],:"]+/gs;

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
