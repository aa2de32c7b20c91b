/**
 * Members of a body as byte ranges, so that documents keep the bytes they were sent with. A member `settings` with only
 * the numbers of shards and replicas is for the index and isn't stored; any other is part of the document.
 */

import { flattenSettings } from "#hub/api/parameters/index-settings.ts";
import type { Indices } from "#hub/api/ports/indices.ts";
import { JsonScanner, OBJECT } from "#hub/engine/json/scanner.ts";
import { parseJson } from "#hub/search/options/json.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

const SETTINGS_KEY = Buffer.from('"settings"');
/** Settings that may be given with a document. */
const COUNTS: readonly string[] = ["number_of_shards", "number_of_replicas"];

/** A document without the settings for its index. */
export interface SplitBody {
  readonly source: Uint8Array;
  /** Dotted keys without the leading "index."; undefined if the body has no settings for the index. */
  readonly settings: JsonObject | undefined;
}

/** Throws mapping_parse if the body has a member `settings` but isn't a JSON object. */
export function splitSettings(source: Buffer): SplitBody {
  if (!source.includes(SETTINGS_KEY)) return { source, settings: undefined };
  const members = jsonMembers(source);
  const settings = readCounts(members.get("settings"));
  if (settings === undefined) return { source, settings: undefined };
  members.delete("settings");
  return { source: joinMembers(members), settings };
}

/**
 * Applies settings to the index, which is created with them if it is missing. Throws settings_invalid and the errors of
 * creating an index.
 */
export async function applySettings(
  indices: Indices,
  name: string,
  settings: JsonObject | undefined,
): Promise<void> {
  if (settings === undefined) return;
  const exists = isKnown(indices, name);
  if (!exists) {
    try {
      await indices.create(name, { settings, mappings: {}, aliases: {} });
      return;
    } catch (error) {
      if (toAppError(error).code !== "index_exists") throw error;
    }
  }
  const index = await indices.ensure(name);
  await indices.putSettings(index.name, settings);
}

function readCounts(bytes: Uint8Array | undefined): JsonObject | undefined {
  if (bytes === undefined) return undefined;
  const value = parseJson(Buffer.from(bytes).toString("utf8"));
  if (!isObject(value)) return undefined;
  const flat = flattenSettings(value);
  const keys = Object.keys(flat);
  return keys.length > 0 && keys.every((key) => COUNTS.includes(key)) ? flat : undefined;
}

function isKnown(indices: Indices, name: string): boolean {
  try {
    return indices.resolve(name, {}).length > 0;
  } catch (error) {
    if (error instanceof AppError && error.code === "index_missing") return false;
    throw error;
  }
}

/**
 * Returns the raw values of an object's members by key; of repeated keys the last counts. Throws parsing, mapping_parse (not
 * JSON).
 */
export function jsonMembers(bytes: Uint8Array): Map<string, Uint8Array> {
  const scanner = new JsonScanner();
  scanner.reset(bytes);
  if (scanner.value() !== OBJECT) {
    throw new AppError("parsing", "the body must be a JSON object", { data: { type: "parse_exception" } });
  }
  const members = new Map<string, Uint8Array>();
  for (let first = true; scanner.key(first); first = false) {
    const key = scanner.text();
    const from = scanner.at;
    scanner.skip(scanner.value());
    members.set(key, bytes.subarray(from, scanner.at));
  }
  scanner.finish();
  return members;
}

/** Returns an object of members with raw values. */
export function joinMembers(members: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [key, value] of members) {
    parts.push(Buffer.from(`${parts.length === 0 ? "{" : ","}${JSON.stringify(key)}:`), value);
  }
  if (parts.length === 0) parts.push(Buffer.from("{"));
  parts.push(Buffer.from("}"));
  return Buffer.concat(parts);
}
