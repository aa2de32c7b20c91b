/** Filter grok: reads fields out of text by patterns. */

import type { Static } from "typebox";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import {
  type CaptureTarget,
  compileMatches,
  type FieldMatch,
  type GrokMatcher,
} from "#hub/pipeline/plugins/filters/grok/field-matches.ts";
import { RegexpTimeout } from "#hub/pipeline/regexp/regexp-guard.ts";
import { type Event, valueText } from "#proto/event.ts";
import { anyTable, flag, list, oneOf, optional, options, table, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

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

export type GrokFilterOptions = Static<typeof OPTIONS>;

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
    if (value === undefined || value === null) return false;
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

function toInteger(value: string): number {
  return Math.trunc(Number(/^\s*[-+]?\d+/.exec(value)?.[0] ?? 0));
}

function toFloat(value: string): number {
  return Number(/^\s*[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?/i.exec(value)?.[0] ?? 0);
}
