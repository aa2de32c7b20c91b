/** Runs the stages of a LogQL pipeline: each keeps an entry, possibly with another line and more labels, or drops it. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import { type Entry, labelOf, type Work } from "./entry.ts";
import { chargeWork, finds, partExpression } from "./expressions.ts";
import { sanitized } from "./label-fields.ts";
import { compileFilter, numberIn } from "./label-filter.ts";
import { compileLineFormat } from "./line-format.ts";
import type { Pace } from "./pace.ts";
import type { Stage } from "./syntax.ts";

/** Colour sequences of terminals: escape, "[", numbers, "m". */
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** Maximum number of labels of one line. */
const MAX_LABELS = 200;
/** Maximum depth of JSON values that become labels. */
const MAX_DEPTH = 10;
/** `__error__` of a line with more labels, so that filters for Loki's errors also match it. */
const LABELS_LEFT_OUT = "LabelsLimitErr";

/** Returns whether the entry is kept. */
type StagesWork = (entry: Entry, pace: Pace) => Promise<boolean>;

/** Compiles stages; their work throws what `pace` throws. Throws request_invalid. */
export function compileStages(stages: readonly Stage[]): StagesWork {
  const works = stages.map(compileStage);
  return async (entry, pace) => {
    for (const work of works) {
      if (pace.isDue) await pace.pause();
      entry.work = 0;
      if (!work(entry)) return false;
    }
    return true;
  };
}

function compileStage(stage: Stage): Work {
  switch (stage.kind) {
    case "line":
      return lineFilter(stage);
    case "json":
      return json(stage.only);
    case "logfmt":
      return logfmt(stage.only);
    case "regexp":
      return captures(partExpression(stage.text), stage.text);
    case "pattern":
      return captures(partExpression(patternExpression(stage.text)), stage.text);
    case "line_format": {
      const format = compileLineFormat(stage.text);
      return (entry) => {
        entry.line = format(entry);
        return true;
      };
    }
    case "label_format":
      return labelFormat(stage.renames);
    case "filter":
      return compileFilter(stage.filter);
    case "drop":
      return (entry) => {
        for (const label of stage.labels) entry.labels.delete(label);
        return true;
      };
    case "keep":
      return (entry) => {
        for (const label of entry.labels.keys())
          if (!stage.labels.includes(label)) entry.labels.delete(label);
        return true;
      };
    case "decolorize":
      return (entry) => {
        entry.line = entry.line.replace(COLOURS, "");
        return true;
      };
    case "unwrap":
      return unwrap(stage.label, stage.conversion);
  }
}

function lineFilter({ operator, values }: Extract<Stage, { kind: "line" }>): Work {
  const expressions = operator === "|~" || operator === "!~" ? values.map(partExpression) : undefined;
  const has = (entry: Entry): boolean =>
    expressions === undefined
      ? values.some((value) => entry.line.includes(value))
      : expressions.some((expression) => {
          chargeWork(entry, expression, entry.line);
          return finds(expression, entry.line);
        });
  const wanted = operator === "|=" || operator === "|~";
  return (entry) => has(entry) === wanted;
}

function put(entry: Entry, name: string, value: string): void {
  if (entry.labels.size >= MAX_LABELS) {
    entry.labels.set("__error__", LABELS_LEFT_OUT);
    return;
  }
  const label = sanitized(name);
  // An existing label keeps its value.
  entry.labels.set(entry.labels.has(label) ? `${label}_extracted` : label, value);
}

function json(only: readonly (readonly [string, string])[]): Work {
  return (entry) => {
    let value: unknown;
    try {
      value = JSON.parse(entry.line);
    } catch {
      value = undefined;
    }
    if (!isObject(value)) {
      entry.labels.set("__error__", "JSONParserErr");
      return true;
    }
    if (only.length === 0) flatten(entry, "", value, 0);
    else for (const [label, path] of only) put(entry, label, textOf(at(value, path)));
    return true;
  };
}

function flatten(entry: Entry, prefix: string, value: object, depth: number): void {
  for (const [key, each] of Object.entries(value) as [string, unknown][]) {
    if (isObject(each) && depth < MAX_DEPTH) flatten(entry, `${prefix}${key}_`, each, depth + 1);
    else if (isObject(each)) entry.labels.set("__error__", LABELS_LEFT_OUT);
    else if (each !== null && !Array.isArray(each)) put(entry, prefix + key, textOf(each));
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

function logfmt(only: readonly (readonly [string, string])[]): Work {
  const wanted = new Map(only.map(([label, key]) => [key, label]));
  return (entry) => {
    for (const [, key, quoted, plain] of entry.line.matchAll(
      /([^\s="]+)(?:=(?:"((?:[^"\\]|\\.)*)"|(\S*)))?/g,
    )) {
      const label = only.length === 0 ? key! : wanted.get(key!);
      if (label !== undefined) put(entry, label, quoted?.replace(/\\(["\\])/g, "$1") ?? plain ?? "");
    }
    return true;
  };
}

function captures(expression: RegExp, source: string): Work {
  if (!/\(\?P?<\w/.test(source) && !/<[A-Za-z_]/.test(source))
    throw new AppError("request_invalid", "stage '| regexp' : at least one named capture must be supplied");
  return (entry) => {
    chargeWork(entry, expression, entry.line);
    expression.lastIndex = 0;
    const groups = expression.exec(entry.line)?.groups ?? {};
    for (const [name, text] of Object.entries(groups) as [string, string | undefined][])
      if (text !== undefined) put(entry, name, text);
    return true;
  };
}

/** Returns a pattern such as `<ip> - <_> "<method> ` as a regular expression. */
function patternExpression(pattern: string): string {
  const parts = pattern.split(/<([A-Za-z_]\w*)>/);
  const text = parts
    .map((part, index) => {
      if (index % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
      const isLast = index === parts.length - 2 && parts.at(-1) === "";
      const any = isLast ? "[^\\n]*" : "[^\\n]*?";
      return part === "_" ? any : `(?<${part}>${any})`;
    })
    .join("");
  return `^${text}`;
}

function labelFormat(renames: Extract<Stage, { kind: "label_format" }>["renames"]): Work {
  const works = renames.map(({ label, from, isText }): Work => {
    if (isText) {
      const format = compileLineFormat(from);
      return (entry) => {
        entry.labels.set(label, format(entry));
        return true;
      };
    }
    return (entry) => {
      const value = labelOf(entry, from);
      entry.labels.delete(from);
      entry.labels.set(label, value);
      return true;
    };
  });
  return (entry) => works.every((work) => work(entry));
}

function unwrap(label: string, conversion: string | undefined): Work {
  return (entry) => {
    const value = unwrapped(labelOf(entry, label), conversion);
    if (Number.isNaN(value)) return false;
    entry.value = value;
    entry.labels.delete(label);
    return true;
  };
}

function unwrapped(text: string, conversion: string | undefined): number {
  if (text === "") return Number.NaN;
  return conversion === undefined
    ? Number(text)
    : numberIn(text, conversion === "bytes" ? "bytes" : "duration");
}
