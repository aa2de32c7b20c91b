/** Finds the tokens of a text that a query matches. */

import type { Token } from "#hub/engine/analysis/analysis.ts";
import type { HighlightSink, Query, ShardContext } from "#hub/search/query/query.ts";

/** A stretch of a text to mark, in UTF-16 units. */
export interface Mark {
  readonly start: number;
  readonly end: number;
  /** The token, for scoring. */
  readonly term: string;
}

/** Tokens that a part of the query matches together: one, or those of a phrase. */
export interface Match {
  /** In the order of the text. */
  readonly tokens: readonly Token[];
  /** Number of the part of the query, from 0 on. */
  readonly part: number;
}

interface Phrase {
  readonly terms: readonly (readonly string[])[];
  readonly slop: number;
  readonly part: number;
}

/** What a query marks in one field. */
class FieldWords {
  /** Numbers of the parts by term. */
  readonly terms = new Map<string, number>();
  readonly patterns: { readonly matches: (text: string) => boolean; readonly part: number }[] = [];
  readonly phrases: Phrase[] = [];
  readonly finders: { find: (tokens: readonly Token[]) => Iterable<Token>; readonly part: number }[] = [];
}

/** What a query marks, by field. */
export class QueryWords implements HighlightSink {
  readonly #fields = new Map<string, FieldWords>();
  #parts = 0;

  constructor(query: Query, shard: ShardContext) {
    query.highlight?.(this, shard);
  }

  term(field: string, text: string): void {
    const { terms } = this.#of(field);
    if (!terms.has(text)) terms.set(text, this.#parts++);
  }

  pattern(field: string, matches: (text: string) => boolean): void {
    this.#of(field).patterns.push({ matches, part: this.#parts++ });
  }

  phrase(field: string, terms: readonly (readonly string[])[], slop: number): void {
    this.#of(field).phrases.push({ terms, slop, part: this.#parts++ });
  }

  tokens(field: string, find: (tokens: readonly Token[]) => Iterable<Token>): void {
    this.#of(field).finders.push({ find, part: this.#parts++ });
  }

  /** Returns the matches in a text; `field` undefined: words of all fields count. */
  matches(tokens: readonly Token[], field: string | undefined): Match[] {
    const found: Match[] = [];
    for (const { terms, patterns, phrases, finders } of this.#chosen(field)) {
      for (const token of tokens) {
        const part = terms.get(token.text) ?? patterns.find(({ matches }) => matches(token.text))?.part;
        if (part !== undefined) found.push({ tokens: [token], part });
      }
      for (const phrase of phrases) found.push(...phraseMatches(tokens, phrase));
      for (const { find, part } of finders)
        for (const token of find(tokens)) found.push({ tokens: [token], part });
    }
    return found;
  }

  #chosen(field: string | undefined): FieldWords[] {
    if (field === undefined) return [...this.#fields.values()];
    return [this.#fields.get(field)].filter((each) => each !== undefined);
  }

  #of(field: string): FieldWords {
    let words = this.#fields.get(field);
    if (words === undefined) this.#fields.set(field, (words = new FieldWords()));
    return words;
  }
}

/** Returns the tokens of matches as marks, ascending; they may overlap. */
export function marksOf(matches: readonly Match[]): Mark[] {
  const found = new Set(matches.flatMap(({ tokens }) => tokens));
  const marks = Array.from(found, ({ startOffset: start, endOffset: end, text: term }) => ({
    start,
    end,
    term,
  }));
  return marks.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Returns where a text has a phrase. */
function phraseMatches(tokens: readonly Token[], { terms, slop, part }: Phrase): Match[] {
  const found: Match[] = [];
  for (const first of tokens) {
    if (!terms[0]!.includes(first.text)) continue;
    const run = [first];
    for (let at = 1; at < terms.length; at++) {
      const wanted = first.position + at;
      const near = tokens
        .filter((token) => terms[at]!.includes(token.text) && Math.abs(token.position - wanted) <= slop)
        .sort((a, b) => Math.abs(a.position - wanted) - Math.abs(b.position - wanted));
      if (near[0] === undefined) break;
      run.push(near[0]);
    }
    if (run.length === terms.length)
      found.push({ tokens: run.sort((a, b) => a.startOffset - b.startOffset), part });
  }
  return found;
}
