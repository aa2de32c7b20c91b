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
  /** The words that each position may have. */
  readonly places: readonly ReadonlySet<string>[];
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
    const places = terms.map((each) => new Set(each));
    this.#of(field).phrases.push({ places, slop, part: this.#parts++ });
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
      for (const phrase of phrases) for (const match of phraseMatches(tokens, phrase)) found.push(match);
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
function phraseMatches(tokens: readonly Token[], { places, slop, part }: Phrase): Match[] {
  const found: Match[] = [];
  // Looked up by position: a text may have a phrase's words many thousand times.
  const candidates = places.map((words) =>
    tokens.filter(({ text }) => words.has(text)).sort((a, b) => a.position - b.position),
  );
  for (const first of candidates[0]!) {
    const run = [first];
    for (let at = 1; at < candidates.length; at++) {
      const near = nearest(candidates[at]!, first.position + at);
      if (near === undefined || Math.abs(near.position - first.position - at) > slop) break;
      run.push(near);
    }
    if (run.length === candidates.length)
      found.push({ tokens: run.sort((a, b) => a.startOffset - b.startOffset), part });
  }
  return found;
}

/** Returns the token nearest to a position; of two the first one. `tokens` ascend by their positions. */
function nearest(tokens: readonly Token[], position: number): Token | undefined {
  const above = tokens[firstFrom(tokens, position)];
  const below = tokens[firstFrom(tokens, position) - 1];
  if (below === undefined) return above;
  if (above !== undefined && above.position - position < position - below.position) return above;
  return tokens[firstFrom(tokens, below.position)];
}

/** Returns the index of the first token at `position` or after it. */
function firstFrom(tokens: readonly Token[], position: number): number {
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tokens[middle]!.position < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
