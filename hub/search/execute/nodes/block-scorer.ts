/** Scorers that find documents block by block: column ranges, bitsets. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { COLUMN_BLOCK } from "#hub/engine/searcher/searcher.ts";
import { NO_MORE_DOCS } from "#hub/search/query/query.ts";
import { Scorer } from "#hub/search/query/scorer.ts";

/** Content of a block. */
export type BlockMatch = "none" | "some" | "all";

const WORDS = COLUMN_BLOCK / 32;

/** All matches score the same. A subclass decides which documents of a block match. */
export abstract class BlockScorer extends Scorer {
  readonly cost: number;
  /** Matching documents of the block loaded, by doc - block * COLUMN_BLOCK; to be filled by `load`. */
  protected readonly bits = new Uint32Array(WORDS);
  readonly #docCount: number;
  readonly #score: number;
  #block = -1;
  #match: BlockMatch = "none";
  /** No document scores enough. */
  #isUseless = false;

  constructor(docCount: number, cost: number, score: number) {
    super();
    this.#docCount = docCount;
    this.cost = cost;
    this.#score = score;
  }

  /** Decides on a block; with "some" it has set `bits`, which are zero at the call. */
  protected abstract load(block: number): BlockMatch;

  next(): number {
    return this.doc === NO_MORE_DOCS ? NO_MORE_DOCS : this.advance(this.doc + 1);
  }

  advance(target: number): number {
    let from = this.#isUseless ? NO_MORE_DOCS : target;
    while (from < this.#docCount) {
      const block = Math.floor(from / COLUMN_BLOCK);
      if (block !== this.#block) this.#open(block);
      if (this.#match === "all") return (this.doc = from);
      if (this.#match === "some") {
        const found = this.#nextBit(from - block * COLUMN_BLOCK);
        if (found >= 0) return (this.doc = block * COLUMN_BLOCK + found);
      }
      from = (block + 1) * COLUMN_BLOCK;
    }
    return (this.doc = NO_MORE_DOCS);
  }

  score(): number {
    return this.#score;
  }

  override setMinScore(score: number): void {
    this.#isUseless = this.#score <= score;
  }

  override maxScoreFrom(): number {
    this.impactEnd = NO_MORE_DOCS;
    return this.#score;
  }

  override fill(docs: Int32Array, scores: Float32Array | null): number {
    let length = 0;
    let doc = this.doc;
    while (length < docs.length && doc !== NO_MORE_DOCS) {
      doc = this.advance(doc + 1);
      if (doc === NO_MORE_DOCS) break;
      length = this.#match === "all" ? this.#copyRun(doc, docs, length) : this.#copyBits(doc, docs, length);
      doc = this.doc = docs[length - 1]!;
    }
    if (scores !== null) scores.fill(this.#score, 0, length);
    return length;
  }

  /** All matching documents. */
  toSet(): Bitset {
    const set = new Bitset(this.#docCount);
    for (let block = 0; block * COLUMN_BLOCK < this.#docCount; block++) {
      this.#open(block);
      const from = block * COLUMN_BLOCK;
      if (this.#match === "all") set.addRange(from, Math.min(from + COLUMN_BLOCK, this.#docCount));
      if (this.#match === "some") {
        const words = Math.min(WORDS, set.words.length - block * WORDS);
        for (let word = 0; word < words; word++) set.words[block * WORDS + word] = this.bits[word]!;
      }
    }
    return set;
  }

  #open(block: number): void {
    this.bits.fill(0);
    this.#match = this.load(block);
    this.#block = block;
  }

  #nextBit(from: number): number {
    let index = from >>> 5;
    let word = this.bits[index]! & (0xffff_ffff << (from & 31));
    while (word === 0) {
      if (++index >= WORDS) return -1;
      word = this.bits[index]!;
    }
    return (index << 5) + (31 - Math.clz32(word & -word));
  }

  #copyRun(first: number, docs: Int32Array, at: number): number {
    const end = Math.min(this.#docCount, (this.#block + 1) * COLUMN_BLOCK, first + docs.length - at);
    let length = at;
    for (let doc = first; doc < end; doc++) docs[length++] = doc;
    return length;
  }

  #copyBits(first: number, docs: Int32Array, at: number): number {
    const base = this.#block * COLUMN_BLOCK;
    let length = at;
    let from = first - base;
    let index = from >>> 5;
    let word = this.bits[index]! & (0xffff_ffff << (from & 31));
    while (true) {
      while (word !== 0) {
        if (length === docs.length) return length;
        const low = word & -word;
        from = (index << 5) + (31 - Math.clz32(low));
        docs[length++] = base + from;
        word ^= low;
      }
      if (++index >= WORDS) return length;
      word = this.bits[index]!;
    }
  }
}

/** Walks a set of documents. */
export class BitsetScorer extends BlockScorer {
  readonly #set: Bitset;

  constructor(set: Bitset, score: number) {
    super(set.size, set.size, score);
    this.#set = set;
  }

  protected load(block: number): BlockMatch {
    const from = block * WORDS;
    let any = 0;
    const end = Math.min(WORDS, this.#set.words.length - from);
    for (let word = 0; word < end; word++) any |= this.bits[word] = this.#set.words[from + word]!;
    return any === 0 ? "none" : "some";
  }
}

/** Walks every document of a segment. */
export class AllScorer extends BlockScorer {
  constructor(docCount: number, score: number) {
    super(docCount, docCount, score);
  }

  protected load(): BlockMatch {
    return "all";
  }
}
