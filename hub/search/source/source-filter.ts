/** Filters `_source`: true, false, patterns, or {includes, excludes}. */

import type { Mapping } from "#hub/engine/mapping/mapping.ts";
import { describe, scalarText } from "#hub/search/options/json.ts";
import { exactValue, RawJson, writeJson } from "#hub/search/options/json-writer.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { NumberText } from "#proto/kit/number-text.ts";

/** Patterns of paths with `*`; empty includes mean all. */
export interface SourceFilter {
  readonly includes: readonly string[];
  readonly excludes: readonly string[];
}

export const ALL_SOURCE: SourceFilter = { includes: [], excludes: [] };

/** Parses the option; false: nothing is returned. Throws parsing. */
export function parseSourceFilter(value: unknown): SourceFilter | false {
  if (value === true || value === "true") return ALL_SOURCE;
  if (value === false || value === "false") return false;
  if (typeof value === "string" || Array.isArray(value)) return { includes: names(value), excludes: [] };
  if (isObject(value)) {
    for (const key of Object.keys(value)) {
      if (["include", "includes", "exclude", "excludes"].includes(key)) continue;
      throw new AppError(
        "parsing",
        `Unknown key for a ${Array.isArray(value[key]) ? "START_ARRAY" : "VALUE_STRING"} in [${key}].`,
      );
    }
    return {
      includes: names(value["includes"] ?? value["include"]),
      excludes: names(value["excludes"] ?? value["exclude"]),
    };
  }
  throw new AppError(
    "parsing",
    `[_source] must be true, false, patterns or an object, but is ${describe(value)}`,
  );
}

/** Returns the parts of a document that are wanted; the document itself if all are. */
export function filterSource(source: Uint8Array, filter: SourceFilter): RawJson | JsonObject {
  const raw = new RawJson(source);
  if (filter.includes.length === 0 && filter.excludes.length === 0) return raw;
  return keepParts(exactValue(raw) as JsonObject, filter);
}

/** Returns a copy of `value` with the parts that the filter keeps. */
export function keepParts(value: JsonObject, { includes, excludes }: SourceFilter): JsonObject {
  const wanted = includes.map(compile);
  const unwanted = excludes.map(compile);
  return prune(value, "", wanted, unwanted, includes.length === 0);
}

/** A pattern as tests of whole paths and of the paths above one that fits. */
interface PathPattern {
  /** The path, or one above it, fits. */
  covers(path: string): boolean;
  /** A path below may fit. */
  leadsTo(path: string): boolean;
}

function compile(pattern: string): PathPattern {
  const parts = pattern.split("*");
  const whole = new RegExp(`^${parts.map((part) => RegExp.escape(part)).join(".*")}(?:\\..*)?$`, "s");
  // A star matches any number of steps, so whatever begins like the pattern before it may fit.
  const head = parts[0]!;
  return {
    covers: (path) => whole.test(path),
    leadsTo: (path) => head.startsWith(`${path}.`) || (parts.length > 1 && `${path}.`.startsWith(head)),
  };
}

function prune(
  value: JsonObject,
  path: string,
  wanted: readonly PathPattern[],
  unwanted: readonly PathPattern[],
  kept: boolean,
): JsonObject {
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const at = path === "" ? key : `${path}.${key}`;
    if (unwanted.some((pattern) => pattern.covers(at))) continue;
    const keeps = kept || wanted.some((pattern) => pattern.covers(at));
    if (keeps && !unwanted.some((pattern) => pattern.leadsTo(at))) {
      result[key] = item;
      continue;
    }
    if (!keeps && !wanted.some((pattern) => pattern.leadsTo(at))) continue;
    const inner = pruneValue(item, at, wanted, unwanted, keeps);
    if (inner !== undefined && (keeps || !isEmpty(inner))) result[key] = inner;
  }
  return result;
}

/** Returns undefined for what isn't kept. Objects and lists of which nothing is left are left out of a list. */
function pruneValue(
  value: unknown,
  path: string,
  wanted: readonly PathPattern[],
  unwanted: readonly PathPattern[],
  kept: boolean,
): unknown {
  if (!isContainer(value)) return kept ? value : undefined;
  if (isObject(value)) return prune(value, path, wanted, unwanted, kept);
  const items = (value as unknown[]).map((item) => pruneValue(item, path, wanted, unwanted, kept));
  return items.filter((item) => item !== undefined && !isEmpty(item));
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !(value instanceof NumberText);
}

function isEmpty(value: unknown): boolean {
  return isContainer(value) && Object.keys(value).length === 0;
}

function names(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? value : scalarText(value, "_source").split(",");
  return list.map((each: unknown) => {
    if (typeof each === "string") return each;
    throw new AppError("parsing", `[_source] patterns must be texts, but one is ${describe(each)}`);
  });
}

/** Returns the bytes of a document that are shown; undefined if its mapping has `_source` disabled. */
export function shownSource(mapping: Mapping, source: Uint8Array): Uint8Array | undefined {
  const { enabled, includes, excludes } = mapping.settings.source;
  if (!enabled) return undefined;
  if (includes.length === 0 && excludes.length === 0) return source;
  const shown = filterSource(source, { includes, excludes });
  return shown instanceof RawJson ? source : Buffer.from(writeJson(shown));
}
