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

interface Phrase {
  readonly terms: readonly (readonly string[])[];
  readonly slop: number;
}

/** What a query marks in one field. */
class FieldWords {
  readonly terms = new Set<string>();
  readonly patterns: ((text: string) => boolean)[] = [];
  readonly phrases: Phrase[] = [];
  readonly finders: ((tokens: readonly Token[]) => Iterable<Token>)[] = [];
}

/** What a query marks, by field. */
export class QueryWords implements HighlightSink {
  readonly #fields = new Map<string, FieldWords>();

  constructor(query: Query, shard: ShardContext) {
    query.highlight?.(this, shard);
  }

  term(field: string, text: string): void {
    this.#of(field).terms.add(text);
  }

  pattern(field: string, matches: (text: string) => boolean): void {
    this.#of(field).patterns.push(matches);
  }

  phrase(field: string, terms: readonly (readonly string[])[], slop: number): void {
    this.#of(field).phrases.push({ terms, slop });
  }

  tokens(field: string, find: (tokens: readonly Token[]) => Iterable<Token>): void {
    this.#of(field).finders.push(find);
  }

  /** Returns the marks in a text, ascending; `field` undefined: words of all fields count. */
  marks(tokens: readonly Token[], field: string | undefined): Mark[] {
    const fields =
      field === undefined
        ? [...this.#fields.values()]
        : [this.#fields.get(field)].filter((each) => each !== undefined);
    const found = new Set<Token>();
    for (const { terms, patterns, phrases, finders } of fields) {
      for (const token of tokens) {
        if (terms.has(token.text) || patterns.some((matches) => matches(token.text))) found.add(token);
      }
      for (const phrase of phrases) for (const token of phraseTokens(tokens, phrase)) found.add(token);
      for (const find of finders) for (const token of find(tokens)) found.add(token);
    }
    const marks = [...found].map((token) => ({
      start: token.startOffset,
      end: token.endOffset,
      term: token.text,
    }));
    return withoutOverlaps(marks.sort((a, b) => a.start - b.start || b.end - a.end));
  }

  #of(field: string): FieldWords {
    let words = this.#fields.get(field);
    if (words === undefined) this.#fields.set(field, (words = new FieldWords()));
    return words;
  }
}

/** Tokens within the phrase. */
function phraseTokens(tokens: readonly Token[], { terms, slop }: Phrase): Token[] {
  const found: Token[] = [];
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
    if (run.length === terms.length) found.push(...run);
  }
  return found;
}

function withoutOverlaps(marks: readonly Mark[]): Mark[] {
  const kept: Mark[] = [];
  for (const mark of marks) if (kept.length === 0 || mark.start >= kept.at(-1)!.end) kept.push(mark);
  return kept;
}
