/** Values of `completion` fields: a text, or an object with texts, their weight and contexts. */

import type { Analysis, Analyzer, Token } from "#hub/engine/analysis/analysis.ts";
import * as json from "#hub/engine/json/scanner.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { ValueError } from "./values.ts";

/** Maximum number of terms of an input whose analyzer gives alternatives, such as synonyms and n-grams. */
const MAX_TERMS = 256;
/** Why a text has no terms. */
export const TOO_MANY_TERMS = `the analyzer of a completion gives more than ${MAX_TERMS} readings of a text`;
/** The analyzer of fields without one. Their terms keep digits and punctuation, so that these can be searched for. */
const USUAL = "simple";

/** Returns the term of an input without an analyzer of its own: lower case, single spaces. */
export function usualTerm(input: string): string {
  return input.trim().replace(/\s+/g, " ").toLowerCase();
}

/**
 * Returns the analyzer that makes the terms of a completion field; null if these are `usualTerm`s. `name`: that of the field for
 * inputs or for searched texts, or of a request. Throws request_invalid if there is none of the name.
 */
export function completionAnalyzer(field: Field, name: string, analysis: Analysis): Analyzer | null {
  const isUsual = name === USUAL && field.given["preserve_separators"] !== false;
  return isUsual ? null : analysis.analyzer(name);
}

/** Returns the terms of an input, of which at most `maxLength` UTF-16 units count; undefined for more than MAX_TERMS. */
export function completionTerms(
  input: string,
  field: Field,
  analyzer: Analyzer | null,
  maxLength: number,
): readonly string[] | undefined {
  const text = input.slice(0, maxLength);
  return analyzer === null ? [usualTerm(text)] : joined(analyzer.tokens(text), field);
}

/** Joins tokens to the terms of all ways through them: those at one position are alternatives. */
function joined(tokens: readonly Token[], { given }: Field): readonly string[] | undefined {
  const separator = given["preserve_separators"] === false ? "" : " ";
  const keepsGaps = given["preserve_position_increments"] !== false;
  const byPosition = Map.groupBy(tokens, ({ position }) => position);
  let terms: string[] = tokens.length === 0 ? [] : [""];
  let last: number | undefined;
  for (const [position, alternatives] of byPosition) {
    const gap = keepsGaps ? position - (last ?? 0) : Number(last !== undefined);
    const texts = new Set(alternatives.map(({ text }) => separator.repeat(gap) + text));
    if (terms.length * texts.size > MAX_TERMS) return undefined;
    terms = terms.flatMap((term) => [...texts].map((text) => term + text));
    last = position;
  }
  return [...new Set(terms)];
}

/**
 * Reads the object that `scanner` has begun, to its end; `take` is called with the kind of each input while that is the
 * scanner's value. Throws ValueError, once all is read.
 */
export function readCompletion(scanner: json.JsonScanner, take: (kind: number) => void): void {
  let problem: ValueError | undefined;
  const input = (kind: number): void => {
    if (kind === json.STRING || kind === json.NUMBER) {
      take(kind);
      return;
    }
    scanner.skip(kind);
    problem ??= new ValueError("[input] of a completion must be text or an array of texts");
  };
  for (let first = true; scanner.key(first); first = false) {
    const name = scanner.text();
    const kind = scanner.value();
    if (name === "input" && kind === json.ARRAY) {
      for (let start = true; scanner.element(start); start = false) input(scanner.value());
    } else if (name === "input") {
      input(kind);
    } else if (name === "weight" && (kind === json.NUMBER || kind === json.STRING)) {
      if (!/^\d{1,10}$/.test(scanner.text()))
        problem ??= new ValueError(
          `[weight] of a completion must be a whole number from 0, but is [${scanner.text()}]`,
        );
    } else {
      scanner.skip(kind);
      // Contexts are read from _source when a search needs them.
      if (name !== "contexts")
        problem ??= new ValueError(`unknown field name [${name}], must be one of [input, weight, contexts]`);
    }
  }
  if (problem !== undefined) throw problem;
}
