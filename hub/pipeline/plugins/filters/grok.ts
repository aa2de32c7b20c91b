/** Filter grok: reads fields out of text by patterns. */

import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Static } from "typebox";
import { toDecimal, toInteger } from "#hub/pipeline/formats/value-conversion.ts";
import { grokPatterns, parsePatternFile } from "#hub/pipeline/grok/all.ts";
import { compileGrok, type PatternTable } from "#hub/pipeline/grok/grok-expression.ts";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { CaptureReader } from "#hub/pipeline/regexp/capture-reader.ts";
import { RegexpTimeout } from "#hub/pipeline/regexp/regexp-guard.ts";
import type { RubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { type Event, valueText } from "#proto/event.ts";
import { bracketed, type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { anyTable, flag, list, oneOf, optional, options, table, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  match: anyTable("expressions by field, one or a list each; the search ends with the first match"),
  patterns_dir: list(
    "folders of pattern files, or files, with wildcards; a later pattern of a name replaces an earlier one",
  ),
  pattern_definitions: table("further patterns by name"),
  patterns_files_glob: text("pattern of the file names in the folders", "*"),
  break_on_match: flag("false: all expressions are tried and add their fields", true),
  named_captures_only: flag("false: references without a field capture under their pattern's name", true),
  keep_empty_captures: flag(
    "true: captures without text become empty fields, those that took no part in the match null",
    false,
  ),
  target: optional(text("field under which all captures are put")),
  tag_on_failure: list("tags of events without a match", ["_grokparsefailure"]),
  timeout_millis: Type.Integer({
    minimum: 0,
    default: 30_000,
    description: "time after which matching an expression is abandoned, ms; 0: never",
  }),
  timeout_scope: oneOf(
    ["pattern", "event"],
    "scope of timeout_millis: each expression, or all expressions of an event",
    "pattern",
  ),
  tag_on_timeout: text("tag of events for which an expression timed out", "_groktimeout"),
  overwrite: list("fields whose value is replaced instead of becoming a list"),
});

export type GrokFilterOptions = Static<typeof OPTIONS>;

export const grokFilter = defineFilter({
  name: "grok",
  description: "extracts fields from text with patterns",
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
  readonly #values: GrokFilterOptions;
  readonly #context: FilterContext;
  #budgetMs: number;

  constructor(event: Event, values: GrokFilterOptions, context: FilterContext) {
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
    if (!Array.isArray(value)) return this.#matchText(valueText(value), expressions);
    let matched = false;
    for (const item of value) matched = this.#matchText(valueText(item), expressions) || matched;
    return matched;
  }

  #matchText(subject: string, expressions: readonly GrokMatcher[]): boolean {
    let matched = false;
    for (const matcher of expressions) {
      if (!matcher.mayMatch(subject)) continue;
      const match = this.#exec(matcher.expression(subject), subject);
      matcher.tried(match !== null);
      if (match === null) continue;
      matched = true;
      matcher.captures.visit(match, (target, text) => this.#capture(target, text));
      if (this.#values.keep_empty_captures) this.#keepAbsent(matcher.captures.targets);
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

  /** A capture that didn't take part in the match is a field without a value; it doesn't fail on a value in its way. */
  #keepAbsent(targets: readonly CaptureTarget[]): void {
    for (const { reference } of targets) if (!this.#event.has(reference)) this.#event.trySet(reference, null);
  }

  #capture({ reference, type, overwrite }: CaptureTarget, text: string): void {
    if (text === "" && !this.#values.keep_empty_captures) return;
    const value = type === undefined ? text : CONVERSIONS[type](text);
    const before = overwrite ? undefined : this.#event.get(reference);
    if (before === undefined || before === null) this.#event.set(reference, value);
    else if (Array.isArray(before)) this.#event.set(reference, [...before, value]);
    else if (typeof before === "string") this.#event.set(reference, [before, value]);
  }
}

/** An int is the digits at the start, as Ruby's to_i reads them: 1e3 is 1. */
const CONVERSIONS = {
  int: (text: string) => toInteger(/^\s*[-+]?\d+/.exec(text)?.[0] ?? ""),
  float: toDecimal,
};

/**
 * After a text that didn't match this many are examined first; where all match, that would cost more than it saves.
 */
const WARY = 32;

/** Where a capture goes. */
interface CaptureTarget {
  readonly reference: FieldReference;
  readonly type: "int" | "float" | undefined;
  readonly overwrite: boolean;
}

/** A running expression. */
class GrokMatcher {
  readonly #compile: () => RubyRegexp;
  readonly #targetOf: (name: string) => CaptureTarget;
  #regexp: RubyRegexp | undefined;
  #captures: CaptureReader<CaptureTarget> | undefined;
  #wary = WARY;

  /** `compile` is called when it is needed first. */
  constructor(compile: () => RubyRegexp, targetOf: (name: string) => CaptureTarget) {
    this.#compile = compile;
    this.#targetOf = targetOf;
  }

  /** Compiles it now. Throws RegexpFault, also if a capture's name isn't a field. */
  prepare(): void {
    this.#captures ??= new CaptureReader(this.#compiled(), this.#targetOf);
  }

  get captures(): CaptureReader<CaptureTarget> {
    this.prepare();
    return this.#captures!;
  }

  /** False where `subject` can't match. */
  mayMatch(subject: string): boolean {
    return this.#wary === 0 || this.#compiled().mayMatch(subject);
  }

  /** The expression that fits `subject`. */
  expression(subject: string): RegExp {
    return this.#compiled().expression(subject);
  }

  /** Called with whether a text matched. */
  tried(matched: boolean): void {
    if (!matched) this.#wary = WARY;
    else if (this.#wary > 0) this.#wary--;
  }

  #compiled(): RubyRegexp {
    this.#regexp ??= this.#compile();
    return this.#regexp;
  }
}

interface FieldMatch {
  readonly field: FieldReference;
  readonly expressions: readonly GrokMatcher[];
}

/** Returns the patterns of the options. Faults go to `context`; patterns checked before are compiled when used. */
function compileMatches(values: GrokFilterOptions, context: FilterContext): FieldMatch[] {
  const patterns = knownPatterns(values, context);
  const compile = (expression: string): GrokMatcher => {
    const options = { patterns, namedCapturesOnly: values.named_captures_only };
    const matcher = new GrokMatcher(() => compileGrok(expression, options), captureTargets(values));
    if (!context.isChecked) matcher.prepare();
    return matcher;
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

function knownPatterns(values: GrokFilterOptions, { ecs, resolvePath, report }: FilterContext): PatternTable {
  const own = Object.entries(values.pattern_definitions);
  if (values.patterns_dir.length === 0 && own.length === 0) return grokPatterns(ecs);
  const patterns = new Map(grokPatterns(ecs));
  for (const given of values.patterns_dir) {
    const files = patternFiles(resolvePath(given), values.patterns_files_glob);
    if (files.length === 0)
      report(
        "warning",
        "patterns_dir",
        `there are no files of patterns at ${given}`,
        "their patterns are missing",
      );
    for (const file of files)
      for (const [name, pattern] of parsePatternFile(readFileSync(file, "utf8"))) patterns.set(name, pattern);
  }
  for (const [name, pattern] of own) patterns.set(name, pattern);
  return patterns;
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
function captureTargets(values: GrokFilterOptions): (name: string) => CaptureTarget {
  const targets = new Map<string, CaptureTarget>();
  return (name) => {
    const target = targets.get(name) ?? captureTarget(name, values);
    targets.set(name, target);
    return target;
  };
}

/** `name` is "field" or "field:type". */
function captureTarget(name: string, { target, overwrite }: GrokFilterOptions): CaptureTarget {
  const [, field = name, type] = /^(.*):([a-z]+)$/.exec(name) ?? [];
  const path = target === undefined || target === "" ? field : `${bracketed(target)}${bracketed(field)}`;
  return {
    reference: fieldReference(path),
    type: type === "int" || type === "float" ? type : undefined,
    overwrite: overwrite.includes(field),
  };
}

/** Returns the files that a path names: those of a folder that `glob` names, or the path's own; in the order of their names. */
function patternFiles(path: string, glob: string): string[] {
  const kind = statSync(path, { throwIfNoEntry: false });
  if (kind?.isFile() === true) return [path];
  // The characters of a folder's name stand for themselves.
  const found =
    kind === undefined ? globSync(path) : globSync(glob, { cwd: path }).map((name) => join(path, name));
  return found
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)
    .sort((a, b) => (a < b ? -1 : 1));
}
