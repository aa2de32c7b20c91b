/** Finds the terms of a shard that are spelt like a word. */

import { editsFrom } from "#hub/search/patterns/edit-distance.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";

/** Terms of a shard that are compared with a word. */
const MAX_INSPECTED = 200_000;

/** A term with its statistics over the segments of a shard. */
export interface SimilarTerm {
  readonly text: string;
  /** Edits from the word, from 1. */
  readonly distance: number;
  docFreq: number;
  totalTermFreq: number;
}

/** What a term may differ in. */
interface EditLimits {
  /** Insertions, deletions, replacements and swaps. */
  readonly maxEdits: number;
  /** Characters at the beginning that must be the same. */
  readonly prefixLength: number;
}

/** Returns the terms of a field of a shard that differ from `word` by a few edits, with pauses. Throws cancelled. */
export async function similarTerms(
  { searcher }: Pick<ShardContext, "searcher">,
  path: string,
  word: string,
  { maxEdits, prefixLength }: EditLimits,
  control: SearchControl,
): Promise<SimilarTerm[]> {
  const edits = editsFrom(word, maxEdits);
  const prefix = Array.from(word).slice(0, prefixLength).join("");
  const found = new Map<string, SimilarTerm>();
  let inspected = 0;
  for (const segment of searcher.segments) {
    const terms = segment.terms(path)?.prefix(prefix);
    while (terms?.next() === true && inspected++ < MAX_INSPECTED && !control.timedOut) {
      if (control.isDue) await control.pause();
      const text = terms.text();
      const distance = edits(text);
      if (text === word || distance > maxEdits) continue;
      const { docFreq, totalTermFreq } = terms;
      const known = found.get(text);
      if (known === undefined) found.set(text, { text, distance, docFreq, totalTermFreq });
      else {
        known.docFreq += docFreq;
        known.totalTermFreq += totalTermFreq;
      }
    }
  }
  return [...found.values()];
}
