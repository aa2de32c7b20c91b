/** `Processors`: what processors of ingest pipelines do, as functions of scripts. */

import { parseDocument } from "#hub/scripts/values/json.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type CallContext, isMap, print, ScriptObject, weigh } from "#hub/scripts/values/values.ts";
import { isDeeper } from "#proto/kit/json.ts";
import { entriesOf, read, write } from "./maps.ts";
import type { Statics } from "./number-statics.ts";

/** Objects and lists in one another, as many as the processor `json` takes; deeper ones couldn't be written. */
const MAX_NESTING = 1_000;
/** Parsing costs a step for 8 characters. */
const PARSED_SHIFT = 3;

export const PROCESSOR_STATICS: Statics = {
  bytes: ([text]) => parseBytes(print(text)),
  lowercase: ([text]) => print(text).toLowerCase(),
  uppercase: ([text]) => print(text).toUpperCase(),
  urlDecode: ([text]) => decodeURIComponent(print(text).replaceAll("+", " ")),
  json: ([given, field], context) =>
    field === undefined ? parseJson(given, context) : addParsed(given, field, context),
};

function parseBytes(text: string): number {
  const [, amount, unit = "b"] = /^\s*([\d.]+)\s*([kmgtp]?b)\s*$/i.exec(text) ?? [];
  if (amount === undefined)
    throw new ScriptException("IllegalArgumentException", `failed to parse [${text}] as a size in bytes`);
  return Math.round(Number(amount) * 1024 ** Math.max(0, "bkmgtp".indexOf(unit.toLowerCase()[0]!)));
}

/** Returns the value that a text holds. Throws IllegalArgumentException. */
function parseJson(given: unknown, context: CallContext): unknown {
  weigh(given, context);
  const text = print(given);
  context.spend(text.length >> PARSED_SHIFT);
  try {
    const value = parseDocument(text);
    if (text.length <= 2 * MAX_NESTING || !isDeeper(value, MAX_NESTING)) return value;
  } catch {
    // As below.
  }
  throw new ScriptException("IllegalArgumentException", `the value isn't JSON, or nests ${MAX_NESTING} deep`);
}

/** Adds the members of the object that a field of `map` holds as JSON to the map. Throws IllegalArgumentException. */
function addParsed(map: unknown, field: unknown, context: CallContext): null {
  const { get, put } = membersOf(map, context);
  const parsed = parseJson(get(field), context);
  if (!isMap(parsed))
    throw new ScriptException("IllegalArgumentException", "cannot add non-map fields to root of document");
  for (const [name, value] of entriesOf(parsed)) put(name, value);
  return null;
}

/** Returns how the members of a map are read and set, those of a document too. Throws ClassCastException. */
function membersOf(
  map: unknown,
  context: CallContext,
): { readonly get: (key: unknown) => unknown; readonly put: (key: unknown, value: unknown) => void } {
  if (map instanceof ScriptObject && map.lookup !== undefined && map.assign !== undefined)
    return { get: map.lookup.bind(map), put: map.assign.bind(map) };
  if (!isMap(map)) throw new ScriptException("ClassCastException", "a map was expected");
  return { get: (key) => read(map, key), put: (key, value) => write(map, key, value, context) };
}
