/** Matches documents with a term, scored by BM25. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { POSTINGS_BLOCK, type PostingsCursor, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { explainBm25, noMatch } from "#hub/search/explain/explanation.ts";
import {
  type DocumentLocation,
  type Explanation,
  type HighlightSink,
  NO_MORE_DOCS,
  type Query,
  type QueryDescription,
  type ScoreMode,
  type ShardContext,
  type Weight,
} from "#hub/search/query/query.ts";
import { Scorer } from "#hub/search/query/scorer.ts";
import { Bm25, inverseDocumentFrequency } from "#hub/search/scoring/bm25.ts";
import { countLive, isSparse } from "./set-algebra.ts";

/** One term of an indexed field (the dictionary's term, analysed already). */
export class TermNode implements Query {
  readonly field: string;
  readonly term: string | Uint8Array;

  /** Returns the document frequency that scores use instead of the term's own, if terms are scored alike. */
  readonly docFreq: (() => number) | undefined;

  constructor(field: string, term: string | Uint8Array, docFreq?: () => number) {
    this.field = field;
    this.term = term;
    this.docFreq = docFreq;
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    return new TermWeight(this, shard, mode);
  }

  highlight(sink: HighlightSink): void {
    if (typeof this.term === "string") sink.term(this.field, this.term);
  }

  describe(): QueryDescription {
    const term = typeof this.term === "string" ? this.term : Buffer.from(this.term).toString("hex");
    return { type: "TermQuery", text: `${this.field}:${term}` };
  }

  explain(place: DocumentLocation): Explanation {
    const { field, term } = this;
    const cursor = place.segment.postings(field, term);
    if (cursor === null || cursor.advance(place.doc) !== place.doc) return noMatch("no matching term");
    const { text } = this.describe();
    const docFreq = this.docFreq?.();
    return explainBm25(
      { field, terms: [term], text, freq: cursor.freq, counted: "termFreq", docFreq },
      place,
    );
  }
}

/** Returns BM25 of terms of `field` that are to be found together. */
export function similarityOf(
  shard: ShardContext,
  field: string,
  terms: readonly (string | Uint8Array)[],
  boost: number,
  docFreq?: number,
): Bm25 {
  const stats = shard.fieldStats(field);
  let idf = 0;
  for (const term of terms)
    idf += inverseDocumentFrequency(docFreq ?? shard.docFreq(field, term), stats.docCount);
  const hasNorms = shard.mapping.field(field)?.norms ?? false;
  return new Bm25(idf, hasNorms && stats.docCount > 0 ? stats.sumTotalTermFreq / stats.docCount : 0, boost);
}

class TermWeight implements Weight {
  readonly key: string;
  readonly #node: TermNode;
  readonly #similarity: Bm25 | null;

  constructor(node: TermNode, shard: ShardContext, mode: ScoreMode) {
    this.#node = node;
    this.key = `term ${JSON.stringify([node.field, keyText(node.term)])}`;
    this.#similarity = mode.scores
      ? similarityOf(shard, node.field, [node.term], mode.boost, node.docFreq?.())
      : null;
  }

  scorer(segment: SegmentReader): Scorer | null {
    const postings = segment.postings(this.#node.field, this.#node.term);
    return postings === null
      ? null
      : new TermScorer(postings, this.#similarity, segment.norms(this.#node.field));
  }

  count(segment: SegmentReader): number {
    if (segment.liveDocs === null) return this.cost(segment);
    // Walking few documents is faster than building a set; with many a set saves walking past the best ones.
    const set = this.set(segment);
    return set === undefined ? -1 : countLive(set, segment);
  }

  cost(segment: SegmentReader): number {
    return segment.terms(this.#node.field)?.find(this.#node.term)?.docFreq ?? 0;
  }

  set(segment: SegmentReader): Bitset | null | undefined {
    const postings = segment.postings(this.#node.field, this.#node.term);
    if (postings === null) return null;
    if (isSparse(postings.docFreq, segment)) return undefined;
    return segment.remembered(this.key, () => postings.toSet());
  }
}

/** Returns a term as part of a key; bytes that aren't text are distinguished from text. */
function keyText(term: string | Uint8Array): unknown {
  return typeof term === "string" ? term : [...term];
}

const NOTHING = new Int32Array(0);

/** Reads postings a block at a time; blocks that can't reach the smallest useful score are skipped unread. */
export class TermScorer extends Scorer {
  readonly cost: number;
  readonly #cursor: PostingsCursor;
  readonly #similarity: Bm25 | null;
  override readonly norms: Uint8Array | null;
  /** Made for the first block: if no document scores enough none is read. */
  #docs = NOTHING;
  #freqs = NOTHING;
  #length = 0;
  #at = -1;
  #minScore = 0;

  /** `similarity` null: scores aren't needed. */
  constructor(cursor: PostingsCursor, similarity: Bm25 | null, norms: Uint8Array | null) {
    super();
    this.#cursor = cursor;
    this.cost = cursor.docFreq;
    this.#similarity = similarity;
    this.norms = norms;
  }

  next(): number {
    if (++this.#at >= this.#length && !this.#load()) return (this.doc = NO_MORE_DOCS);
    return (this.doc = this.#docs[this.#at]!);
  }

  advance(target: number): number {
    if (this.#length > 0 && this.#docs[this.#length - 1]! >= target) {
      while (this.#docs[++this.#at]! < target);
      return (this.doc = this.#docs[this.#at]!);
    }
    return (this.doc = this.#jump(target) ? this.#docs[0]! : NO_MORE_DOCS);
  }

  score(): number {
    return this.#scoreAt(this.#at);
  }

  override fill(docs: Int32Array, scores: Float32Array | null): number {
    let length = 0;
    while (length < docs.length) {
      if (++this.#at >= this.#length && !this.#load()) {
        this.doc = NO_MORE_DOCS;
        break;
      }
      const take = Math.min(this.#length - this.#at, docs.length - length);
      for (let each = 0; each < take; each++) {
        docs[length + each] = this.#docs[this.#at + each]!;
        if (scores !== null) scores[length + each] = this.#scoreAt(this.#at + each);
      }
      this.#at += take - 1;
      length += take;
      this.doc = this.#docs[this.#at]!;
    }
    return length;
  }

  override setMinScore(score: number): void {
    this.#minScore = score;
  }

  override maxScoreFrom(target: number, norm = 0): number {
    if (target >= NO_MORE_DOCS || this.#similarity === null) {
      this.impactEnd = NO_MORE_DOCS;
      return 0;
    }
    this.#cursor.seekImpact(target);
    this.impactEnd = this.#cursor.impactEnd;
    this.impactNorm = this.#cursor.impactMinNorm;
    return this.#similarity.score(this.#cursor.impactMaxFreq, Math.max(norm, this.impactNorm));
  }

  #scoreAt(at: number): number {
    const norm = this.norms === null ? 0 : this.norms[this.#docs[at]!]!;
    return this.#similarity?.score(this.#freqs[at]!, norm) ?? 0;
  }

  /** Reads the next block worth reading. */
  #load(): boolean {
    if (this.doc === NO_MORE_DOCS) return false;
    if (this.#minScore > 0 && this.#similarity !== null) {
      const from = this.#length === 0 ? 0 : this.#docs[this.#length - 1]! + 1;
      const target = this.#cursor.seekUseful(from, this.#similarity.above(this.#minScore));
      if (target !== from) return this.#jump(target);
    }
    this.#grow();
    this.#length = this.#cursor.nextBlock(this.#docs, this.#similarity === null ? null : this.#freqs);
    this.#at = 0;
    return this.#length > 0;
  }

  #jump(target: number): boolean {
    this.#at = 0;
    this.#length = 0;
    if (target >= NO_MORE_DOCS) return false;
    const doc = this.#cursor.advance(target);
    if (doc === NO_MORE_DOCS) return false;
    this.#grow();
    this.#docs[0] = doc;
    this.#freqs[0] = this.#similarity === null ? 1 : this.#cursor.freq;
    this.#length = 1;
    return true;
  }

  #grow(): void {
    if (this.#docs.length > 0) return;
    this.#docs = new Int32Array(POSTINGS_BLOCK);
    this.#freqs = new Int32Array(POSTINGS_BLOCK);
  }
}
