/** Matches documents in which terms follow one another. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { explainBm25, noMatch } from "#hub/search/explain/explanation.ts";
import type {
  DocumentLocation,
  Explanation,
  HighlightSink,
  Query,
  QueryDescription,
  ScoreMode,
  ShardContext,
  Weight,
} from "#hub/search/query/query.ts";
import type { Bm25 } from "#hub/search/scoring/bm25.ts";
import { PhraseScorer, Place } from "./phrase-scorer.ts";
import { countLive, walkedSet } from "./set-algebra.ts";
import { similarityOf } from "./term.ts";

/** Terms that may be at a position of the phrase. */
export interface PhrasePart {
  /** Alternatives; the last part of a phrase prefix has many. */
  readonly terms: readonly string[];
  /** Distance from the first part, in tokens. */
  readonly offset: number;
}

/** Documents of the rarest part up to which a phrase whose positions are compared one by one is looked for at once: some ms. */
const MAX_AT_ONCE = 16_384;

interface PhraseScoring {
  /** Whether the last part has what a prefix was completed to. */
  readonly isPrefix?: boolean;
  /** Terms whose rarity counts; those of the phrase by default. */
  readonly scoredTerms?: readonly string[];
}

/** A phrase in a text field with positions. */
export class PhraseNode implements Query {
  readonly #field: string;
  readonly #parts: readonly PhrasePart[];
  readonly #slop: number;
  readonly #scoring: PhraseScoring;

  /** `slop`: by how many positions terms may be moved. */
  constructor(field: string, parts: readonly PhrasePart[], slop: number, scoring: PhraseScoring = {}) {
    this.#field = field;
    this.#parts = parts;
    this.#slop = slop;
    this.#scoring = scoring;
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    const terms = this.#scoredTerms();
    const similarity = mode.scores ? similarityOf(shard, this.#field, terms, mode.boost) : null;
    const key = `phrase ${JSON.stringify([this.#field, this.#slop, this.#parts])}`;
    const set = (segment: SegmentReader): Bitset | null | undefined =>
      this.#isLong(segment) ? undefined : segment.remembered(key, () => this.#find(segment));
    return {
      scorer: (segment) => this.#scorer(segment, similarity, () => set(segment)),
      count(segment) {
        const found = set(segment);
        return found === undefined ? -1 : countLive(found, segment);
      },
      set,
      key,
    };
  }

  highlight(sink: HighlightSink): void {
    sink.phrase(
      this.#field,
      this.#parts.map((part) => part.terms),
      this.#slop,
    );
  }

  describe(): QueryDescription {
    const words = this.#parts.map(({ terms }) => (terms.length === 1 ? terms[0]! : `(${terms.join(" ")})`));
    const slop = this.#slop > 0 ? `~${this.#slop}` : "";
    return { type: "PhraseQuery", text: `${this.#field}:"${words.join(" ")}"${slop}` };
  }

  explain(place: DocumentLocation): Explanation {
    const scorer = this.#scorer(place.segment, null);
    if (scorer === null || scorer.advance(place.doc) !== place.doc) return noMatch("no matching phrase");
    const terms = this.#scoredTerms();
    const found = { field: this.#field, terms, text: this.describe().text };
    return explainBm25({ ...found, freq: scorer.freq, counted: "phraseFreq" }, place);
  }

  /** Returns the terms whose idf is added up: as Lucene 7.5 does it, each twice if there are alternatives. */
  #scoredTerms(): readonly string[] {
    const { isPrefix = false, scoredTerms } = this.#scoring;
    if (scoredTerms !== undefined) return scoredTerms;
    const terms = this.#parts.flatMap((part) => part.terms);
    const hasAlternatives = isPrefix || terms.length > this.#parts.length;
    return hasAlternatives ? terms.flatMap((term) => [term, term]) : terms;
  }

  /** Returns true if too many documents have to be examined to do it in one step. */
  #isLong(segment: SegmentReader): boolean {
    if (this.#slop === 0 && this.#parts.every(({ terms }) => terms.length === 1)) return false;
    const dictionary = segment.terms(this.#field);
    const docsOf = (term: string): number => dictionary?.find(term)?.docFreq ?? 0;
    const places = this.#parts.map(({ terms }) => terms.reduce((total, term) => total + docsOf(term), 0));
    return Math.min(...places) > MAX_AT_ONCE;
  }

  /**
   * Fast path: for exact phrases of single terms, adjacent terms are found in pairs; with more than two terms the documents
   * are then examined.
   */
  #find(segment: SegmentReader): Bitset | null {
    const terms = this.#parts.map((part) => part.terms);
    if (this.#slop > 0 || terms.length === 1 || terms.some(({ length }) => length !== 1))
      return walkedSet(this.#scorer(segment, null), segment);
    let candidates: Bitset | undefined;
    for (let at = 1; at < terms.length; at++) {
      const distance = this.#parts[at]!.offset - this.#parts[at - 1]!.offset;
      const pair =
        distance < 1 ? undefined : segment.near(this.#field, terms[at - 1]![0]!, terms[at]![0]!, distance);
      if (pair === null) return null;
      if (pair === undefined) return walkedSet(this.#scorer(segment, null), segment);
      candidates = candidates === undefined ? pair : candidates.and(pair);
    }
    return terms.length === 2 ? candidates! : this.#kept(segment, candidates!);
  }

  /** Removes the documents that don't have all parts next to one another. */
  #kept(segment: SegmentReader, candidates: Bitset): Bitset {
    const scorer = this.#scorer(segment, null);
    const kept = new Bitset(segment.docCount);
    for (let doc = candidates.nextSet(0); scorer !== null && doc >= 0; doc = candidates.nextSet(doc + 1)) {
      if ((scorer.doc < doc ? scorer.advance(doc) : scorer.doc) === doc) kept.add(doc);
    }
    return kept;
  }

  #scorer(
    segment: SegmentReader,
    similarity: Bm25 | null,
    members: () => Bitset | null | undefined = () => undefined,
  ): PhraseScorer | null {
    const places: Place[] = [];
    for (const part of this.#parts) {
      const cursors = part.terms
        .map((term) => segment.postings(this.#field, term, { positions: true }))
        .filter((cursor) => cursor !== null);
      if (cursors.length === 0) return null;
      places.push(new Place(cursors, part.offset));
    }
    const norms = segment.norms(this.#field);
    return new PhraseScorer(places, { slop: this.#slop, similarity, norms, members });
  }
}
