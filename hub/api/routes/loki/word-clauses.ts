/** Line filters as queries of the index, which leave out most of the lines that don't fit before they are read. */

import type { Stage } from "#hub/api/logql/syntax.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Words that are looked for in the index; each costs a walk over its terms. */
const MAX_WORDS = 4;
/** Longest word that can be one term. */
const MAX_WORD = 255;
/**
 * Words of a line that are longer than 255 UTF-16 units are cut, so that a part of them may be in no term. Their terms have
 * at least so many characters, of which each has one or two units.
 */
const LONG_TERM = `${"?".repeat(127)}*`;

/**
 * Queries that every line with the texts of the first filters fits: a word of the text may be part of one of the line, and
 * lines of documents without a message are made of other fields.
 */
export function wordClauses(stages: readonly Stage[]): JsonObject[] {
  const words: string[] = [];
  for (const stage of stages) {
    if (stage.kind !== "line") break;
    const [text, other] = stage.values;
    if (stage.operator === "|=" && other === undefined)
      words.push(...(text!.match(/[A-Za-z0-9]{2,}/g) ?? []).filter(({ length }) => length <= MAX_WORD));
  }
  if (words.length === 0) return [];
  const clauses = words
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS)
    .map((word) => ({ wildcard: { message: `*${word.toLowerCase()}*` } }));
  const should = [
    { bool: { filter: clauses } },
    { wildcard: { message: LONG_TERM } },
    { bool: { must_not: [{ exists: { field: "message" } }] } },
  ];
  return [{ bool: { should, minimum_should_match: 1 } }];
}
