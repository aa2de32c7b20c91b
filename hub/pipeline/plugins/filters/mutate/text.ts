/** Parts of mutate that rewrite texts; a list has each of its texts rewritten. */

import type { FilterContext } from "#hub/pipeline/plugins/filter.ts";
import type { Mutation } from "#hub/pipeline/plugins/filters/mutate.ts";
import { translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { FieldConflict } from "#proto/event-members.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";

/** A replacement takes at most so long, ms; text comes from anywhere. */
const GSUB_LIMIT_MS = 30_000;

/** Rewrites a field's text or a list's texts; other values stay. */
function rewriteText(name: string, rewrite: (text: string) => string): Mutation {
  const reference = fieldReference(name);
  return (event) => {
    const value = event.get(reference);
    if (typeof value === "string") event.set(reference, rewrite(value));
    else if (Array.isArray(value)) {
      event.set(
        reference,
        value.map((item: unknown) => (typeof item === "string" ? rewrite(item) : item)),
      );
    }
  };
}

const each = (rewrite: (text: string) => string) => (names: readonly string[]) =>
  names.map((name) => rewriteText(name, rewrite));

export const textParts = {
  uppercase: each((value) => value.toUpperCase()),
  lowercase: each((value) => value.toLowerCase()),
  capitalize: each((value) => value.charAt(0).toUpperCase() + value.slice(1).toLowerCase()),
  strip: each((value) => value.replace(/^[\s\0]+|[\s\0]+$/g, "")),

  /** `[ field, expression, replacement, … ]` */
  gsub(triples: readonly string[], { report, guard }: FilterContext): Mutation[] {
    if (triples.length % 3 !== 0) {
      report(
        "error",
        "gsub",
        "Invalid gsub configuration: its values come in threes",
        'write: gsub => [ "field", "expression", "replacement" ]',
      );
      return [];
    }
    const mutations: Mutation[] = [];
    for (let at = 0; at < triples.length; at += 3) {
      const [name = "", expression = "", replacement = ""] = triples.slice(at, at + 3);
      const pattern = patternOf(expression);
      const format = compileFormat(replacement);
      const reference = fieldReference(name);
      mutations.push((event) => {
        const replaced = rubyReplacement(format(event));
        const expressionNow = pattern(event);
        const rewrite = (value: string): string => value.replace(expressionNow, replaced);
        const value = event.get(reference);
        const done = (): unknown =>
          typeof value === "string"
            ? rewrite(value)
            : Array.isArray(value)
              ? value.map((item: unknown) => (typeof item === "string" ? rewrite(item) : item))
              : undefined;
        const subject = typeof value === "string" ? value : Array.isArray(value) ? value.join("\n") : "";
        const result = guard.run(expressionNow, subject, GSUB_LIMIT_MS, done);
        if (result !== undefined) event.set(reference, result);
        else if (value !== undefined && value !== null) throw new FieldConflict(`gsub: ${name} is no text`);
      });
    }
    return mutations;
  },
};

/** An expression may hold fields of the event; one without is compiled once. */
function patternOf(expression: string): (event: Parameters<Mutation>[0]) => RegExp {
  const format = compileFormat(expression);
  if (format.isConstant) {
    const pattern = globalPattern(expression);
    return () => pattern;
  }
  let last = "";
  let compiled = globalPattern("");
  return (event) => {
    const text = format(event);
    if (text !== last) {
      compiled = globalPattern(text);
      last = text;
    }
    return compiled;
  };
}

function globalPattern(expression: string): RegExp {
  return new RegExp(translateRubyRegexp(expression).source, "gu");
}

/** Ruby's `\1` and `\0` as a replacement function's text: `$1`, `$&`; a dollar stands for itself. */
function rubyReplacement(text: string): string {
  return text
    .replaceAll("$", "$$$$")
    .replace(/\\([0-9\\])/g, (_, digit: string) =>
      digit === "\\" ? "\\" : digit === "0" ? "$&" : `$${digit}`,
    );
}
