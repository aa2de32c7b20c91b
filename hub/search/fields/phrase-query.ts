/** Turns text into a phrase of a field: its words one after the other, or an exact value for fields without words. */

import type { Field } from "#hub/engine/mapping/field.ts";
import { bestOf } from "#hub/search/execute/nodes/best-of.ts";
import { anyOf } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { PhraseNode } from "#hub/search/execute/nodes/phrase.ts";
import { TermNode } from "#hub/search/execute/nodes/term.ts";
import { scalarText } from "#hub/search/options/json.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { checkSearchable, exactQuery, fieldOf } from "./field-terms.ts";
import { analyze, textParts, tokenPositions, unlessLenient } from "./text-query.ts";
import { type Way, wholeWays } from "./token-graph.ts";

export interface PhraseOptions {
  readonly slop: number;
  readonly analyzer?: string | undefined;
  readonly lenient: boolean;
  /** Maximum number of terms that the last word may be completed to; undefined: it isn't completed. */
  readonly maxExpansions?: number;
  readonly zeroTerms?: Query;
}

/** Returns the documents in which the text's terms follow one another. */
export function phraseQuery(
  shard: ShardContext,
  name: string,
  value: unknown,
  options: PhraseOptions,
): Query {
  return unlessLenient(options.lenient, () => {
    const field = fieldOf(shard, name);
    const text = scalarText(value, name);
    if (field === undefined || field.type !== "text") {
      return field === undefined ? exactQuery(shard, name, value) : exactQuery(shard, field.path, value);
    }
    checkSearchable(field, shard);
    const { maxExpansions } = options;
    const tokens = analyze(shard, field, text, options.analyzer ?? field.quoteAnalyzer);
    if (tokens.length === 0) return options.zeroTerms ?? new NoneNode();
    // With too many synonyms of several words, tokens at one position are alternatives, whatever they span.
    let ways = wholeWays(textParts(tokens)) ?? [tokenPositions(tokens)];
    if (maxExpansions !== undefined) {
      shard.requireOne(); // the first terms of each shard
      const known = new Map<string, readonly string[]>();
      const completions = (term: string): readonly string[] => {
        const found = known.get(term) ?? expand(shard, field.path, term, maxExpansions);
        known.set(term, found);
        return found;
      };
      ways = ways.map((way) => completed(way, completions)).filter((way) => way.at(-1)!.terms.length > 0);
      if (ways.length === 0) return new NoneNode();
    }
    return wayQuery(field, ways, options);
  });
}

/** Returns a way whose last word is any of those that begin with it. */
function completed(way: Way, completions: (term: string) => readonly string[]): Way {
  const last = way.at(-1)!;
  return [...way.slice(0, -1), { ...last, terms: last.terms.flatMap(completions) }];
}

/** Returns the documents with the words of a way. Throws query_shard for a field without positions. */
function wayQuery(field: Field, ways: readonly Way[], options: PhraseOptions): Query {
  const isPrefix = options.maxExpansions !== undefined;
  if (ways.length === 1 && ways[0]!.length === 1) {
    const terms = ways[0]![0]!.terms.map((term) => new TermNode(field.path, term));
    // A single word is a query of the words that begin with it, whose scores are added.
    return isPrefix ? anyOf(terms) : bestOf(terms);
  }
  if (!field.positions) {
    throw new AppError(
      "query_shard",
      `field:[${field.path}] was indexed without position data; cannot run PhraseQuery`,
    );
  }
  if (ways.length === 1) return new PhraseNode(field.path, ways[0]!, options.slop, { isPrefix });
  // As spans in Lucene: an occurrence counts the same, whichever way it is of.
  const scoredTerms = [...new Set(ways.flatMap((way) => way.flatMap(({ terms }) => terms)))];
  return bestOf(ways.map((way) => new PhraseNode(field.path, way, options.slop, { scoredTerms })));
}

/** Returns the first terms of the shard that begin with `prefix`. */
function expand(shard: ShardContext, path: string, prefix: string, limit: number): string[] {
  const found = new Set<string>();
  for (const segment of shard.searcher.segments) {
    const terms = segment.terms(path)?.prefix(prefix);
    for (let count = 0; terms !== undefined && count < limit && terms.next(); count++)
      found.add(terms.text());
  }
  return [...found].sort().slice(0, limit);
}
