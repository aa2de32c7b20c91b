/** What a grok filter tries on which field: expressions of its options with the fields that their captures go to. */

import { readdirSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { compileGrok, type PatternTable } from "#hub/pipeline/grok/grok-expression.ts";
import { grokPatterns } from "#hub/pipeline/grok/patterns/all.ts";
import { parsePatternFile } from "#hub/pipeline/grok/patterns/pattern-file.ts";
import type { FilterContext } from "#hub/pipeline/plugins/filter.ts";
import type { GrokFilterOptions } from "#hub/pipeline/plugins/filters/grok.ts";
import { CaptureReader } from "#hub/pipeline/regexp/capture-reader.ts";
import type { RubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";

/** Behind a text that didn't match so many are looked at first; where all match, that would cost more than it saves. */
const WARY = 32;

/** Where a capture goes. */
export interface CaptureTarget {
  readonly reference: FieldReference;
  readonly type: "int" | "float" | undefined;
  readonly overwrite: boolean;
}

/** An expression at work. */
export class GrokMatcher {
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

  /** Compiles it now. Throws RegexpFault, also where a capture's name is no field. */
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

  /** Hears whether a text matched. */
  tried(matched: boolean): void {
    if (!matched) this.#wary = WARY;
    else if (this.#wary > 0) this.#wary--;
  }

  #compiled(): RubyRegexp {
    this.#regexp ??= this.#compile();
    return this.#regexp;
  }
}

export interface FieldMatch {
  readonly field: FieldReference;
  readonly expressions: readonly GrokMatcher[];
}

/** Returns what the options say to try. Faults are told to `context`; what was checked before is compiled when needed. */
export function compileMatches(values: GrokFilterOptions, context: FilterContext): FieldMatch[] {
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

function knownPatterns(values: GrokFilterOptions, { ecs, resolvePath }: FilterContext): PatternTable {
  const own = Object.entries(values.pattern_definitions);
  if (values.patterns_dir.length === 0 && own.length === 0) return grokPatterns(ecs);
  const patterns = new Map(grokPatterns(ecs));
  for (const folder of values.patterns_dir)
    readPatternFolder(resolvePath(folder), values.patterns_files_glob, patterns);
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

function bracketed(field: string): string {
  return field.startsWith("[") ? field : `[${field}]`;
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
