/** Stages that make labels of a line: json, logfmt, regexp, pattern, unpack. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import type { Entry } from "./entry.ts";
import { extractLabel, LABELS_LEFT_OUT, type Work } from "./entry.ts";
import { chargeWork } from "./expressions.ts";
import { sanitized } from "./label-fields.ts";
import { compileCapturePattern } from "./line-pattern.ts";
import { logfmtPairs } from "./logfmt.ts";
import type { LabelPaths, Stage } from "./syntax.ts";

/** Maximum depth of JSON values that become labels. */
const MAX_DEPTH = 10;
/** Member of packed lines that has the original line. */
const PACKED_LINE = "_entry";

/** Labels of an object's members; with `only` those of its paths. */
export function json(only: LabelPaths): Work {
  return (entry) => {
    if (entry.line === "" && only.length > 0) return true;
    const value = objectOf(entry.line);
    if (value === undefined) entry.labels.set("__error__", "JSONParserErr");
    else if (only.length === 0) flatten(entry, "", value, 0);
    else for (const [label, path] of only) extractLabel(entry, label, textOf(at(value, path)));
    return true;
  };
}

function objectOf(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function flatten(entry: Entry, prefix: string, value: object, depth: number): void {
  for (const [key, each] of Object.entries(value) as [string, unknown][]) {
    // Keys of white space leave no trace in the label.
    const label = [prefix, sanitized(key.trim())].filter((part) => part !== "").join("_");
    if (isObject(each) && depth < MAX_DEPTH) flatten(entry, label, each, depth + 1);
    else if (isObject(each)) entry.labels.set("__error__", LABELS_LEFT_OUT);
    else if (each !== null && !Array.isArray(each)) extractLabel(entry, label, textOf(each));
  }
}

/** Returns the value at a path such as `a.b[0]["c d"]`. */
function at(value: unknown, path: string): unknown {
  let found = value;
  for (const [, name, index, quoted] of path.matchAll(/([^.[\]]+)|\[(\d+)\]|\["([^"]*)"\]/g))
    found = memberOf(found, (name ?? index ?? quoted)!);
  return found;
}

function memberOf(value: unknown, name: string): unknown {
  const isHolder = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return isHolder ? (value as Record<string, unknown>)[name] : undefined;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function logfmt({ only, isStrict, keepsEmpty }: Extract<Stage, { kind: "logfmt" }>): Work {
  const wanted = new Map(only.map(([label, key]) => [key, label]));
  return (entry) => {
    for (const [label] of only) if (!entry.labels.has(label)) entry.labels.set(label, "");
    for (const pair of logfmtPairs(entry.line)) {
      if (pair === undefined) {
        if (!isStrict) continue;
        entry.labels.set("__error__", "LogfmtParserErr");
        break;
      }
      const [key, value] = pair;
      const label = only.length === 0 ? sanitized(key) : (wanted.get(key) ?? wanted.get(sanitized(key)));
      if (label !== undefined && (value !== "" || keepsEmpty || only.length > 0))
        extractLabel(entry, label, value);
    }
    return true;
  };
}

/** Labels of an expression's named groups. */
export function regexp(expression: RegExp, source: string): Work {
  if (!/\(\?P?<\w/.test(source))
    throw new AppError("request_invalid", "stage '| regexp' : at least one named capture must be supplied");
  return (entry) => {
    chargeWork(entry, expression, entry.line);
    expression.lastIndex = 0;
    const groups = expression.exec(entry.line)?.groups ?? {};
    for (const [name, text] of Object.entries(groups) as [string, string | undefined][])
      if (text !== undefined) extractLabel(entry, name, text);
    return true;
  };
}

export function pattern(source: string): Work {
  const captures = compileCapturePattern(source);
  return (entry) => {
    for (const [name, text] of captures(entry.line)) extractLabel(entry, name, text);
    return true;
  };
}

/** Undoes the packing of shippers: the texts of an object become labels, its `_entry` the line. */
export const unpack: Work = (entry) => {
  if (entry.line === "") return true;
  const value = objectOf(entry.line);
  if (value === undefined) {
    entry.labels.set("__error__", "JSONParserErr");
    return true;
  }
  const members = Object.entries(value) as [string, unknown][];
  const packed = members.find(([key]) => key === PACKED_LINE)?.[1];
  if (typeof packed !== "string") return true;
  for (const [key, each] of members)
    if (key !== PACKED_LINE && typeof each === "string") extractLabel(entry, sanitized(key), each);
  entry.line = packed;
  return true;
};
