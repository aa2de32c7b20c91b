/** `_source` of a mapping: which parts of documents searches and reads show. Documents are kept as they came in any case. */

import { AppError } from "#proto/kit/errors.ts";
import { asRecord, parseError, printValue } from "./parameters.ts";

export interface SourceSettings {
  /** False: documents aren't shown. */
  readonly enabled: boolean;
  /** Patterns of paths; no includes mean all. */
  readonly includes: readonly string[];
  readonly excludes: readonly string[];
}

export const WHOLE_SOURCE: SourceSettings = { enabled: true, includes: [], excludes: [] };

/** Reads the settings over those that a mapping has. `isNew`: there is no mapping yet. Throws mapping_parse, mapping_conflict. */
export function mergeSourceSettings(old: SourceSettings, json: unknown, isNew: boolean): SourceSettings {
  if (json === undefined || json === null) return old;
  const given = asRecord(json);
  if (given === undefined) throw parseError("Expected map for property [_source] but got a value");
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    throw parseError(
      `Mapping definition for [_source] has unsupported parameters:  [${unknown} : ${printValue(given[unknown])}]`,
    );
  }
  const enabled = given["enabled"] === undefined ? old.enabled : printValue(given["enabled"]) === "true";
  if (!isNew && enabled !== old.enabled)
    throw new AppError("mapping_conflict", "Cannot update enabled setting for [_source]");
  return {
    enabled,
    includes: patterns(given["includes"]) ?? old.includes,
    excludes: patterns(given["excludes"]) ?? old.excludes,
  };
}

/** `compress` and `compress_threshold` are of old versions and change nothing. */
const KEYS = ["enabled", "includes", "excludes", "compress", "compress_threshold"];

function patterns(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  return (Array.isArray(value) ? value : [value]).map(printValue);
}
