/** Filter grok: reads fields out of text by patterns. */

import { readdirSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import type { Static } from "typebox";
import { Type } from "#hub/pipeline/language/option-schema.ts";
import { RegexpTimeout } from "#hub/pipeline/program/regexp-guard.ts";
import { CaptureReader } from "#hub/pipeline/regexp/capture-reader.ts";
import type { RubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { type Event, valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { defineFilter, type FilterContext } from "../filter.ts";
import { anyTable, flag, list, oneOf, optional, options, table, text } from "../option-types.ts";
import { compileGrok } from "./grok-expression.ts";
import { parsePatternFile } from "./pattern-file.ts";
import { grokPatterns } from "./patterns/all.ts";

const OPTIONS = options({
  match: anyTable("expressions by field, one or a list each; the first that matches ends the search"),
  patterns_dir: list("folders of pattern files; a later pattern of a name replaces an earlier one"),
  pattern_definitions: table("further patterns by name"),
  patterns_files_glob: text("which files of the folders", "*"),
  break_on_match: flag("false: all expressions are tried and add their fields", true),
  named_captures_only: flag("false: references without a field capture under their pattern's name", true),
  keep_empty_captures: flag("true: captures without text become empty fields", false),
  target: optional(text("field under which all captures are put")),
  tag_on_failure: list("tags of events that nothing matches", ["_grokparsefailure"]),
  timeout_millis: Type.Integer({
    minimum: 0,
    default: 30_000,
    description: "an expression that takes longer is given up, ms; 0: never",
  }),
  timeout_scope: oneOf(
    ["pattern", "event"],
    "what timeout_millis is for: each expression, or all of an event",
    "pattern",
  ),
  tag_on_timeout: text("tag of events where an expression was given up", "_groktimeout"),
  overwrite: list("fields whose value is replaced instead of being made a list"),
});

type Options = Static<typeof OPTIONS>;

/** Behind a text that didn't match so many are looked at first; where all match, that would cost more than it saves. */
const WARY = 32;

/** Where a capture goes. */
interface CaptureTarget {
  readonly reference: FieldReference;
  readonly type: "int" | "float" | undefined;
  readonly overwrite: boolean;
}

interface Expression {
  readonly regexp: RubyRegexp;
  /** Texts that are still looked at for what every match holds before it is tried. */
  wary: number;
  readonly captures: CaptureReader<CaptureTarget>;
}

interface FieldMatch {
  readonly field: FieldReference;
  readonly expressions: readonly Expression[];
}

export const grokFilter = defineFilter({
  name: "grok",
  description: "reads fields out of text by patterns",
  options: OPTIONS,
  create(values, context) {
    const matches = compileMatches(values, context);
    context.guard.expect(values.timeout_millis);
    return { apply: (event) => new Attempt(event, values, context).run(matches) };
  },
});

/** One event's way through the expressions. */
class Attempt {
  readonly #event: Event;
  readonly #values: Options;
  readonly #context: FilterContext;
  #budgetMs: number;

  constructor(event: Event, values: Options, context: FilterContext) {
    this.#event = event;
    this.#values = values;
    this.#context = context;
    this.#budgetMs = values.timeout_millis;
  }

  run(matches: readonly FieldMatch[]): boolean {
    const { break_on_match, tag_on_failure, tag_on_timeout } = this.#values;
    let matched = false;
    try {
      for (const match of matches) {
        if (!this.#matchField(match)) continue;
        matched = true;
        if (break_on_match) break;
      }
    } catch (error) {
      if (!(error instanceof RegexpTimeout)) throw error;
      this.#event.tag(tag_on_timeout);
      return false;
    }
    if (!matched) for (const tag of tag_on_failure) this.#event.tag(tag);
    return matched;
  }

  #matchField({ field, expressions }: FieldMatch): boolean {
    const value = this.#event.get(field);
    if (value === undefined || value === null) return false;
    if (!Array.isArray(value)) return this.#matchText(valueText(value), expressions);
    let matched = false;
    for (const item of value) matched = this.#matchText(valueText(item), expressions) || matched;
    return matched;
  }

  #matchText(subject: string, expressions: readonly Expression[]): boolean {
    let matched = false;
    for (const expression of expressions) {
      const { regexp, captures } = expression;
      if (expression.wary > 0 && !regexp.mayMatch(subject)) continue;
      const match = this.#exec(regexp.expression(subject), subject);
      expression.wary = match === null ? WARY : Math.max(0, expression.wary - 1);
      if (match === null) continue;
      matched = true;
      captures.visit(match, (target, text) => this.#capture(target, text));
      if (this.#values.break_on_match) break;
    }
    return matched;
  }

  #exec(expression: RegExp, subject: string): RegExpExecArray | null {
    const { guard, clock } = this.#context;
    if (this.#values.timeout_scope === "pattern") return guard.exec(expression, subject, this.#budgetMs);
    const startMs = clock.monotonic();
    const match = guard.exec(expression, subject, this.#budgetMs);
    if (this.#budgetMs > 0) this.#budgetMs = Math.max(1, this.#budgetMs - (clock.monotonic() - startMs));
    return match;
  }

  #capture({ reference, type, overwrite }: CaptureTarget, text: string): void {
    if (text === "" && !this.#values.keep_empty_captures) return;
    const value = type === "int" ? toInteger(text) : type === "float" ? toFloat(text) : text;
    const before = overwrite ? undefined : this.#event.get(reference);
    if (before === undefined || before === null) this.#event.set(reference, value);
    else if (Array.isArray(before)) this.#event.set(reference, [...before, value]);
    else if (typeof before === "string") this.#event.set(reference, [before, value]);
  }
}

function compileMatches(values: Options, context: FilterContext): FieldMatch[] {
  const patterns = new Map(grokPatterns(context.ecs));
  for (const folder of values.patterns_dir) {
    readPatternFolder(context.resolvePath(folder), values.patterns_files_glob, patterns);
  }
  for (const [name, pattern] of Object.entries(values.pattern_definitions)) patterns.set(name, pattern);
  const compile = (expression: string): Expression => {
    const regexp = compileGrok(expression, { patterns, namedCapturesOnly: values.named_captures_only });
    return { regexp, wary: WARY, captures: new CaptureReader(regexp, captureTargets(values)) };
  };
  const matches: FieldMatch[] = [];
  for (const [field, expressions] of Object.entries(values.match)) {
    warnOfOpenReferences(expressions, context);
    try {
      const list = (Array.isArray(expressions) ? expressions : [expressions]).map((each) =>
        compile(valueText(each)),
      );
      matches.push({ field: fieldReference(field), expressions: list });
    } catch (error) {
      context.report("error", "match", (error as Error).message);
    }
  }
  return matches;
}

/** A reference that is never closed stands for its own characters, which no log holds. */
function warnOfOpenReferences(expressions: unknown, context: FilterContext): void {
  for (const each of [expressions].flat()) {
    const open = /%\{[A-Z][\w:[\]@.-]*(?=[^\w:[\]@.}=-]|$)/.exec(valueText(each))?.[0];
    if (open === undefined) continue;
    context.report("warning", "match", `"${open}" is never closed`, `write: ${open}}`);
  }
}

/** Returns what makes one target of each name. */
function captureTargets(values: Options): (name: string) => CaptureTarget {
  const targets = new Map<string, CaptureTarget>();
  return (name) => {
    const target = targets.get(name) ?? captureTarget(name, values);
    targets.set(name, target);
    return target;
  };
}

/** `name` is "field" or "field:type". */
function captureTarget(name: string, { target, overwrite }: Options): CaptureTarget {
  const [, field = name, type] = /^(.*):([a-z]+)$/.exec(name) ?? [];
  const path = target === undefined || target === "" ? field : `${bracketed(target)}${bracketed(field)}`;
  return {
    reference: fieldReference(path),
    type: type === "int" || type === "float" ? type : undefined,
    overwrite: overwrite.includes(field),
  };
}

function bracketed(field: string): string {
  return field.startsWith("[") ? field : `[${field}]`;
}

function toInteger(value: string): number {
  return Math.trunc(Number(/^\s*[-+]?\d+/.exec(value)?.[0] ?? 0));
}

function toFloat(value: string): number {
  return Number(/^\s*[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?/i.exec(value)?.[0] ?? 0);
}

/** Adds the patterns of a folder's files, in the order of their names. */
function readPatternFolder(folder: string, glob: string, patterns: Map<string, string>): void {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && matchesGlob(entry.name, glob))
    .map(({ name }) => name)
    .sort((a, b) => (a < b ? -1 : 1));
  for (const name of names) {
    for (const [key, pattern] of parsePatternFile(readFileSync(join(folder, name), "utf8")))
      patterns.set(key, pattern);
  }
}
