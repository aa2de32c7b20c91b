/** Finds the tokens of a text that form intervals, for highlighting. */

import type { Token } from "#hub/engine/analysis/analysis.ts";
import type { HighlightSink, ShardContext } from "#hub/search/query/query.ts";
import { NO_MORE_DOCS } from "#hub/search/query/query.ts";
import type { IntervalSource, PositionCursor, PositionSource } from "./source.ts";

/** The tokens of a text as positions of the only document, 0. */
export class TextPositions implements PositionSource {
  readonly #field: string;
  readonly #positions = new Map<string, number[]>();

  constructor(field: string, tokens: readonly Token[]) {
    this.#field = field;
    for (const { text, position } of tokens) {
      const known = this.#positions.get(text);
      if (known === undefined) this.#positions.set(text, [position]);
      else known.push(position);
    }
  }

  /** Returns the terms of the text if it is of this field. */
  termsOf(field: string): string[] {
    return field === this.#field ? [...this.#positions.keys()] : [];
  }

  postings(field: string, term: string): PositionCursor | null {
    const positions = field === this.#field ? this.#positions.get(term) : undefined;
    if (positions === undefined) return null;
    const places = Int32Array.from(positions);
    const cursor = {
      doc: -1,
      freq: places.length,
      advance: (target: number): number => (cursor.doc = target <= 0 ? 0 : NO_MORE_DOCS),
      positions: () => places,
    };
    return cursor;
  }
}

/** Passes the tokens of a source's intervals to `sink`; if its words are of several fields, all of its words. */
export function markIntervals(source: IntervalSource, sink: HighlightSink, shard: ShardContext): void {
  const [first, ...others] = source.leaves;
  if (first === undefined) return;
  const { field } = first;
  if (others.some((leaf) => leaf.field !== field)) {
    source.candidates.highlight?.(sink, shard);
    return;
  }
  sink.tokens(field, (tokens) => {
    const intervals = source.open(new TextPositions(field, tokens))(0);
    const found = new Set<Token>();
    // Starts ascend, ends needn't: a token is within one of those that begin before it.
    let [at, end] = [0, -1];
    for (const token of tokens) {
      for (; at < intervals.length && intervals[at]!.start <= token.position; at++)
        end = Math.max(end, intervals[at]!.end);
      if (token.position <= end && source.leaves.some((leaf) => leaf.matches(token.text))) found.add(token);
    }
    return found;
  });
}
