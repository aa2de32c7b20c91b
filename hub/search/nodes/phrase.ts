/** Documents in which terms follow one another. */

import type { PostingsCursor, SegmentReader } from "#hub/engine/searcher.ts";
import { Bitset } from "#hub/engine/segment/bitset.ts";
import type { Bm25 } from "../bm25.ts";
import { noMatch } from "../explain/explanation.ts";
import { explainBm25 } from "../explain/term-explanation.ts";
import {
  type DocumentPlace,
  type Explanation,
  type HighlightSink,
  NO_MORE_DOCS,
  type Query,
  type QueryDescription,
  type ScoreMode,
  Scorer,
  type ShardContext,
  type Weight,
} from "../query.ts";
import { exactFrequency, type PhrasePlace, sloppyFrequency } from "./phrase-frequency.ts";
import { countLive, walkedSet } from "./set-algebra.ts";
import { similarityOf } from "./term.ts";

/** Terms that may stand at a place of the phrase. */
export interface PhrasePart {
  /** Alternatives; the last part of a phrase prefix has many. */
  readonly terms: readonly string[];
  /** Distance from the first part, in tokens. */
  readonly offset: number;
}

/** Documents of the rarest part up to which a phrase whose positions are compared one by one is looked for at once: some ms. */
const MAX_AT_ONCE = 16_384;

/** Documents without the phrase between two pauses. */
const MAX_LOOKED = 8192;

/** A phrase of at least two parts, in a text field with positions. */
export class PhraseNode implements Query {
  readonly #field: string;
  readonly #parts: readonly PhrasePart[];
  readonly #slop: number;

  /** `slop`: how many places terms may be moved. */
  constructor(field: string, parts: readonly PhrasePart[], slop: number) {
    this.#field = field;
    this.#parts = parts;
    this.#slop = slop;
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    const terms = this.#parts.flatMap((part) => part.terms);
    const similarity = mode.scores ? similarityOf(shard, this.#field, terms, mode.boost) : null;
    const key = `phrase ${JSON.stringify([this.#field, this.#slop, this.#parts])}`;
    const set = (segment: SegmentReader): Bitset | null | undefined =>
      this.#isLong(segment) ? undefined : segment.remembered(key, () => this.#find(segment));
    return {
      scorer: (segment) => this.#scorer(segment, similarity),
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

  explain(place: DocumentPlace): Explanation {
    const scorer = this.#scorer(place.segment, null);
    if (scorer === null || scorer.advance(place.doc) !== place.doc) return noMatch("no matching phrase");
    const terms = this.#parts.flatMap((part) => part.terms);
    const found = { field: this.#field, terms, text: this.describe().text };
    return explainBm25({ ...found, freq: scorer.freq, counted: "phraseFreq" }, place);
  }

  /** Whether so many documents have to be looked at that it can't be done at once. */
  #isLong(segment: SegmentReader): boolean {
    if (this.#slop === 0 && this.#parts.every(({ terms }) => terms.length === 1)) return false;
    const dictionary = segment.terms(this.#field);
    const docsOf = (term: string): number => dictionary?.find(term)?.docFreq ?? 0;
    const places = this.#parts.map(({ terms }) => terms.reduce((total, term) => total + docsOf(term), 0));
    return Math.min(...places) > MAX_AT_ONCE;
  }

  /** Fast path: of exact phrases of single terms the neighbours are found in pairs, and more than two are looked at then. */
  #find(segment: SegmentReader): Bitset | null {
    const terms = this.#parts.map((part) => part.terms);
    if (this.#slop > 0 || terms.some(({ length }) => length !== 1))
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

  /** Removes the documents that haven't all parts in one place. */
  #kept(segment: SegmentReader, candidates: Bitset): Bitset {
    const scorer = this.#scorer(segment, null);
    const kept = new Bitset(segment.docCount);
    for (let doc = candidates.nextSet(0); scorer !== null && doc >= 0; doc = candidates.nextSet(doc + 1)) {
      if ((scorer.doc < doc ? scorer.advance(doc) : scorer.doc) === doc) kept.add(doc);
    }
    return kept;
  }

  #scorer(segment: SegmentReader, similarity: Bm25 | null): PhraseScorer | null {
    const places: Place[] = [];
    for (const part of this.#parts) {
      const cursors = part.terms
        .map((term) => segment.postings(this.#field, term, { positions: true }))
        .filter((cursor) => cursor !== null);
      if (cursors.length === 0) return null;
      places.push(new Place(cursors, part.offset));
    }
    return new PhraseScorer(places, this.#slop, similarity, segment.norms(this.#field));
  }
}

/** The cursors of one part as one. */
class Place implements PhrasePlace {
  readonly offset: number;
  readonly cost: number;
  doc = -1;
  positions: Int32Array = new Int32Array(16);
  length = 0;
  impactEnd = -1;
  impactMaxFreq = NO_MORE_DOCS;
  impactMinNorm = 0;
  readonly #cursors: readonly PostingsCursor[];

  constructor(cursors: readonly PostingsCursor[], offset: number) {
    this.#cursors = cursors;
    this.offset = offset;
    this.cost = cursors.reduce((total, cursor) => total + cursor.docFreq, 0);
  }

  advance(target: number): number {
    let doc = NO_MORE_DOCS;
    for (const cursor of this.#cursors) {
      const found = cursor.doc < target ? cursor.advance(target) : cursor.doc;
      if (found < doc) doc = found;
    }
    return (this.doc = doc);
  }

  /** Bounds of the documents from `target` to `impactEnd`; of several terms nothing is known. */
  seekImpact(target: number): void {
    const [cursor] = this.#cursors;
    if (this.#cursors.length !== 1 || cursor === undefined || target >= NO_MORE_DOCS) {
      this.impactEnd = NO_MORE_DOCS;
      this.impactMaxFreq = NO_MORE_DOCS;
      this.impactMinNorm = 0;
      return;
    }
    cursor.seekImpact(target);
    this.impactEnd = cursor.impactEnd;
    this.impactMaxFreq = cursor.impactMaxFreq;
    this.impactMinNorm = cursor.impactMinNorm;
  }

  /** Reads the positions in the current document. */
  load(): void {
    if (this.#cursors.length === 1) {
      const cursor = this.#cursors[0]!;
      this.positions = cursor.positions();
      this.length = cursor.freq;
      return;
    }
    const all: number[] = [];
    for (const cursor of this.#cursors) {
      if (cursor.doc !== this.doc) continue;
      const positions = cursor.positions();
      for (let at = 0; at < cursor.freq; at++) all.push(positions[at]!);
    }
    this.positions = Int32Array.from(all).sort();
    this.length = all.length;
  }
}

class PhraseScorer extends Scorer {
  readonly cost: number;
  readonly #places: readonly Place[];
  /** By rarity. */
  readonly #order: readonly Place[];
  readonly #slop: number;
  readonly #similarity: Bm25 | null;
  readonly #norms: Uint8Array | null;
  #frequency = 0;
  /** Documents without the phrase that were looked at. */
  #looked = 0;
  #minScore = 0;
  /** Documents up to it may score above #minScore. */
  #usefulUntil = -1;

  constructor(places: readonly Place[], slop: number, similarity: Bm25 | null, norms: Uint8Array | null) {
    super();
    this.#places = places;
    this.#order = [...places].sort((a, b) => a.cost - b.cost);
    this.#slop = slop;
    this.#similarity = similarity;
    this.#norms = norms;
    this.cost = this.#order[0]!.cost;
  }

  /** Occurrences in the current document, moved ones as a part of 1. */
  get freq(): number {
    return this.#frequency;
  }

  next(): number {
    return this.doc === NO_MORE_DOCS ? NO_MORE_DOCS : this.advance(this.doc + 1);
  }

  advance(target: number): number {
    return this.#search(target, Number.POSITIVE_INFINITY);
  }

  /** Moves to the next document with the phrase, or, where `last` documents have been looked at by then, to one without it. */
  #search(target: number, last: number): number {
    let doc = target;
    this.#frequency = 0;
    while ((doc = this.#align(this.#minScore > 0 ? this.#firstUseful(doc) : doc)) !== NO_MORE_DOCS) {
      if (this.#minScore > 0 && doc > this.#usefulUntil) continue;
      for (const place of this.#places) place.load();
      this.#frequency =
        this.#slop === 0 ? exactFrequency(this.#places) : sloppyFrequency(this.#places, this.#slop);
      if (this.#frequency > 0 || ++this.#looked >= last) return (this.doc = doc);
      doc++;
    }
    return (this.doc = NO_MORE_DOCS);
  }

  score(): number {
    return this.#similarity?.score(this.#frequency, this.#norms?.[this.doc] ?? 0) ?? 0;
  }

  override fill(docs: Int32Array, scores: Float32Array | null): number {
    const last = this.#looked + MAX_LOOKED;
    let length = 0;
    while (length < docs.length && this.#looked < last && this.doc !== NO_MORE_DOCS) {
      const doc = this.#search(this.doc + 1, last);
      if (doc === NO_MORE_DOCS) break;
      if (this.#frequency === 0) continue;
      if (scores !== null) scores[length] = this.score();
      docs[length++] = doc;
    }
    return length;
  }

  override setMinScore(score: number): void {
    this.#minScore = score;
  }

  /** A phrase isn't more frequent than the rarest of its terms. */
  override maxScoreFrom(target: number): number {
    let end = NO_MORE_DOCS;
    let freq = NO_MORE_DOCS;
    let norm = 0;
    for (const place of this.#places) {
      place.seekImpact(target);
      end = Math.min(end, place.impactEnd);
      freq = Math.min(freq, place.impactMaxFreq);
      norm = Math.max(norm, place.impactMinNorm);
    }
    this.impactEnd = end;
    return this.#similarity?.score(freq, norm) ?? 0;
  }

  #firstUseful(from: number): number {
    let target = from;
    while (target > this.#usefulUntil && target < NO_MORE_DOCS) {
      if (this.maxScoreFrom(target) > this.#minScore) {
        this.#usefulUntil = this.impactEnd;
        return target;
      }
      target = this.impactEnd >= NO_MORE_DOCS - 1 ? NO_MORE_DOCS : this.impactEnd + 1;
    }
    return target;
  }

  /** Returns the first document at or behind `target` that has all places. */
  #align(target: number): number {
    let doc = target;
    search: while (doc !== NO_MORE_DOCS) {
      for (const place of this.#order) {
        const found = place.doc < doc ? place.advance(doc) : place.doc;
        if (found !== doc) {
          doc = found;
          continue search;
        }
      }
      return doc;
    }
    return NO_MORE_DOCS;
  }
}
