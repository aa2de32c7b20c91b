/** Parses the settings of an index in requests and prints them in answers. */

import { TYPE_SETTING } from "#hub/api/compat/mapping-types.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { optionalText } from "./values.ts";

/** Maximum depth of nested objects. */
const MAX_DEPTH = 20;

/**
 * Returns settings with dotted keys without the leading "index.". Lists of texts are kept as values. Throws
 * settings_invalid.
 */
export function flattenSettings(settings: unknown): JsonObject {
  const flat: JsonObject = {};
  if (settings === undefined || settings === null) return flat;
  if (!isObject(settings)) throw new AppError("settings_invalid", "the settings must be an object");
  flattenInto(flat, "", settings, 0);
  return Object.fromEntries(Object.entries(flat).map(([key, value]) => [key.replace(/^index\./, ""), value]));
}

/** Settings that an index gets only after documents are copied into it, because they would reject or change these. */
const AFTER_DOCUMENTS = /^(?:blocks\.|(?:default|final)_pipeline$)/;

/** Returns whether an index gets the setting `key` only after documents are copied into it. */
export function isSetAfterDocuments(key: string): boolean {
  return AFTER_DOCUMENTS.test(key);
}

/** Returns {"index.number_of_shards": "5", …}: all settings as text, by name. `human`: adds readable variants. */
export function flatSettings(index: IndexInfo, compatVersion: string, human = false): JsonObject {
  const { settings, name, uuid } = index;
  const all: JsonObject = {
    ...settings.raw,
    creation_date: settings.creationDate,
    number_of_replicas: settings.numberOfReplicas,
    number_of_shards: settings.numberOfShards,
    provided_name: name,
    uuid,
    "version.created": versionNumber(compatVersion),
    ...(human && {
      creation_date_string: new Date(settings.creationDate).toISOString(),
      "version.created_string": compatVersion,
    }),
  };
  delete all[TYPE_SETTING];
  return Object.fromEntries(
    Object.entries(all)
      .map(([key, value]): [string, unknown] => [`index.${key}`, printSetting(value)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Returns settings with dotted keys as nested objects. These have no prototype because clients choose the keys. */
export function nestSettings(flat: Readonly<JsonObject>): JsonObject {
  const result = Object.create(null) as JsonObject;
  for (const [key, value] of Object.entries(flat)) {
    const path = key.split(".");
    let at = result;
    for (const part of path.slice(0, -1)) {
      const next = at[part];
      if (isObject(next)) at = next;
      else at = at[part] = Object.create(null) as JsonObject;
    }
    at[path.at(-1)!] = value;
  }
  return result;
}

/** Returns settings of a template or the like as text, by name with the leading "index.". */
export function printSettings(raw: Readonly<JsonObject>): JsonObject {
  const shown = Object.entries(raw).filter(([key]) => key !== TYPE_SETTING);
  return Object.fromEntries(shown.map(([key, value]) => [`index.${key}`, printSetting(value)]));
}

/** Returns a setting of an index as a whole number of at least 1; `fallback` if it is absent or has another value. */
export function numberSetting({ settings }: IndexInfo, name: string, fallback: number): number {
  const value = Number(settings.raw[name] ?? fallback);
  return Number.isInteger(value) && value > 0 ? value : fallback;
}

function flattenInto(flat: JsonObject, prefix: string, value: JsonObject, depth: number): void {
  if (depth > MAX_DEPTH)
    throw new AppError("settings_invalid", `the settings below [${prefix}] are nested too deeply`);
  for (const [key, each] of Object.entries(value)) {
    const path = prefix === "" ? key : `${prefix}.${key}`;
    if (isObject(each)) flattenInto(flat, path, each, depth + 1);
    else if (Array.isArray(each) && each.some((item) => typeof item === "object"))
      throw new AppError("settings_invalid", `the setting [${path}] is a list, which may hold texts only`);
    else flat[path] = each;
  }
}

/** Every value is printed as text. */
function printSetting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(printSetting);
  return optionalText(value, "settings") ?? null;
}

/** Returns 6.5.4 as 6050499, the form that clients read. */
export function versionNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  return major * 1_000_000 + minor * 10_000 + patch * 100 + 99;
}
