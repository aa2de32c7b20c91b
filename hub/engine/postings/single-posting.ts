/** Postings of a term that occurs in one document; they are stored in the dictionary. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { type ImpactBound, NO_MORE_DOCS, type PostingsCursor } from "#hub/engine/searcher/searcher.ts";
import { IMPACT_FREQ_LIMIT } from "./postings-writer.ts";

/** The term's entry in a dictionary. */
interface SinglePosting {
  readonly doc: number;
  readonly freq: number;
  /** Norm byte of the document. */
  readonly norm: number;
  /** Empty where they aren't wanted. */
  readonly positions: Int32Array;
  /** Documents of the segment. */
  readonly docCount: number;
}

/** Cursor over the one document. */
export class SinglePostingsCursor implements PostingsCursor {
  readonly docFreq = 1;
  readonly totalTermFreq: number;
  readonly freq: number;
  doc = -1;
  impactEnd = -1;
  readonly impactMaxFreq: number;
  readonly impactMinNorm: number;
  readonly #posting: SinglePosting;

  constructor(posting: SinglePosting) {
    this.#posting = posting;
    this.freq = posting.freq;
    this.totalTermFreq = posting.freq;
    this.impactMaxFreq = posting.freq;
    this.impactMinNorm = posting.norm;
  }

  next(): number {
    return (this.doc = this.doc < 0 ? this.#posting.doc : NO_MORE_DOCS);
  }

  advance(target: number): number {
    if (this.doc >= target) return this.doc;
    return (this.doc = this.doc < 0 && target <= this.#posting.doc ? this.#posting.doc : NO_MORE_DOCS);
  }

  positions(): Int32Array {
    return this.#posting.positions;
  }

  addTo(set: Bitset): void {
    set.add(this.#posting.doc);
  }

  toSet(): Bitset {
    const set = new Bitset(this.#posting.docCount);
    this.addTo(set);
    return set;
  }

  nextBlock(docs: Int32Array, freqs: Int32Array | null): number {
    if (this.next() === NO_MORE_DOCS) return 0;
    docs[0] = this.#posting.doc;
    if (freqs !== null) freqs[0] = this.freq;
    return 1;
  }

  seekImpact(): void {
    this.impactEnd = NO_MORE_DOCS;
  }

  seekUseful(target: number, bound: ImpactBound): number {
    this.seekImpact();
    const { doc, freq, norm } = this.#posting;
    return target <= doc && Math.min(freq, IMPACT_FREQ_LIMIT) >= bound.find(norm) ? target : NO_MORE_DOCS;
  }
}
