/** Walks over the terms of a dictionary: each term, its frequency, and the position of its postings. */

import { ByteReader } from "#hub/engine/bytes/byte-buffer.ts";
import { compareBytes } from "#hub/engine/bytes/bytes.ts";
import type { SegmentFile } from "#hub/engine/files/segment-file.ts";
import { decodeUtf8 } from "#hub/engine/json/text.ts";
import type { TermBytes } from "#hub/engine/kernel/search-kernel.ts";
import { BlockPostingsCursor } from "#hub/engine/postings/postings-cursor.ts";
import { SinglePostingsCursor } from "#hub/engine/postings/single-posting.ts";
import type { PostingsCursor, PostingsOptions, TermIterator } from "#hub/engine/searcher/searcher.ts";
import type { DictionaryPage, DictionaryPages } from "./dictionary-pages.ts";
import { type DictionaryEntry, MAX_TERM_BYTES, TERMS_PER_BLOCK } from "./dictionary-writer.ts";

/** What a walk is of. */
export interface WalkedTerms {
  readonly file: SegmentFile;
  readonly entry: DictionaryEntry;
  readonly pages: DictionaryPages;
  readonly docCount: number;
  readonly norms: () => Uint8Array | null;
}

/** Walks the terms of a dictionary in their order. */
export class TermWalk implements TermIterator {
  ordinal = -1;
  docFreq = 0;
  totalTermFreq = 0;
  readonly #terms: WalkedTerms;
  readonly #keeps: boolean;
  #page: DictionaryPage;
  #reader: ByteReader;
  #term = new Uint8Array(64);
  #length = 0;
  #postingsAt = 0;
  #postingsBytes = 0;
  #positionsBytes = 0;
  #inlineAt = 0;
  #end: Uint8Array | null = null;
  #endInclusive = false;
  #prefix: Uint8Array | null = null;
  /** True where the term that `next` would move to has been read already. */
  #pending = false;

  /** `keeps`: what it reads is likely to be read again. */
  constructor(terms: WalkedTerms, keeps: boolean) {
    this.#terms = terms;
    this.#keeps = keeps;
    this.#page = terms.pages.none;
    this.#reader = new ByteReader(this.#page.bytes);
  }

  bound(end: Uint8Array | null, inclusive: boolean): void {
    this.#end = end;
    this.#endInclusive = inclusive;
  }

  boundByPrefix(prefix: Uint8Array): void {
    this.#prefix = prefix;
  }

  /** Moves before the first term of a block. */
  toBlock(block: number): void {
    this.ordinal = block * TERMS_PER_BLOCK - 1;
  }

  /** Moves to the term number `ordinal`. */
  to(ordinal: number): void {
    const block = Math.floor(ordinal / TERMS_PER_BLOCK);
    // Ahead in the same block it is nearer.
    if (Math.floor(this.ordinal / TERMS_PER_BLOCK) !== block || this.ordinal >= ordinal) this.toBlock(block);
    while (this.ordinal < ordinal && this.#read());
  }

  skipTo(term: Uint8Array, exclusive: boolean): void {
    while (this.#read()) {
      const order = this.compare(term);
      if (order > 0 || (order === 0 && !exclusive)) {
        this.#pending = true;
        return;
      }
    }
  }

  approach(): boolean {
    return true;
  }

  next(): boolean {
    if (this.#pending) this.#pending = false;
    else if (!this.#read()) return false;
    return this.#isWithin();
  }

  compare(term: Uint8Array): number {
    const own = this.#term;
    const length = Math.min(this.#length, term.length);
    for (let at = 0; at < length; at++) {
      const difference = own[at]! - term[at]!;
      if (difference !== 0) return difference;
    }
    return this.#length - term.length;
  }

  term(): Uint8Array {
    return this.view().slice();
  }

  text(): string {
    return decodeUtf8(this.#term, 0, this.#length);
  }

  /** The bytes of the current term, which two documents or more have. */
  bytes(): TermBytes {
    return { docFreq: this.docFreq, postings: this.#postingsOf(), positions: this.#positionsOf() };
  }

  /** Bytes of the current term's positions; 0 if they are in the dictionary. */
  get positionsBytes(): number {
    return this.#positionsBytes;
  }

  postings(options?: PostingsOptions): PostingsCursor {
    const wantsPositions = options?.positions === true && this.#terms.entry.positions;
    if (this.docFreq === 1) return this.#inlinePostings(wantsPositions);
    return new BlockPostingsCursor({
      docFreq: this.docFreq,
      totalTermFreq: this.totalTermFreq,
      docCount: this.#terms.docCount,
      postings: this.#postingsOf(),
      positions: wantsPositions ? this.#positionsOf() : new Uint8Array(0),
    });
  }

  #postingsOf(): Uint8Array {
    const { file, entry } = this.#terms;
    return file.cached(entry.postings, this.#postingsAt, this.#postingsBytes);
  }

  #positionsOf(): Uint8Array {
    const { file, entry } = this.#terms;
    return file.cached(entry.postings, this.#postingsAt + this.#postingsBytes, this.#positionsBytes);
  }

  #inlinePostings(wantsPositions: boolean): PostingsCursor {
    const reader = new ByteReader(this.#reader.bytes, this.#inlineAt);
    const doc = reader.varint();
    const freq = reader.varint();
    const positions = new Int32Array(wantsPositions ? freq : 0);
    for (let index = 0, position = 0; index < positions.length; index++) {
      position += reader.varint();
      positions[index] = position;
    }
    const { norms, docCount } = this.#terms;
    return new SinglePostingsCursor({ doc, freq, norm: norms()?.[doc] ?? 1, positions, docCount });
  }

  #isWithin(): boolean {
    if (this.#end !== null) {
      const order = this.compare(this.#end);
      if (order > 0 || (order === 0 && !this.#endInclusive)) return false;
    }
    const prefix = this.#prefix;
    return prefix === null || compareBytes(this.view().subarray(0, prefix.length), prefix) === 0;
  }

  /** Bytes of the current term; valid until the next move. */
  view(): Uint8Array {
    return this.#term.subarray(0, this.#length);
  }

  /** Reads the next entry; false after the last. */
  #read(): boolean {
    const { entry } = this.#terms;
    if (this.ordinal + 1 >= entry.size) return false;
    this.ordinal++;
    let shared = 0;
    if (this.ordinal % TERMS_PER_BLOCK === 0) this.#toStart(this.ordinal / TERMS_PER_BLOCK);
    const reader = this.#reader;
    if (this.ordinal % TERMS_PER_BLOCK === 0) {
      this.#postingsAt = reader.varint();
    } else {
      this.#postingsAt += this.#postingsBytes + this.#positionsBytes;
      shared = reader.varint();
    }
    const added = Math.min(reader.varint(), MAX_TERM_BYTES);
    this.#setTerm(shared, reader.take(added));
    this.docFreq = reader.varint();
    this.#postingsBytes = 0;
    this.#positionsBytes = 0;
    if (this.docFreq === 0) this.totalTermFreq = 0;
    else if (this.docFreq === 1) this.#readInline();
    else {
      this.totalTermFreq = this.docFreq + reader.varint();
      this.#postingsBytes = reader.varint();
      if (entry.positions) this.#positionsBytes = reader.varint();
    }
    return true;
  }

  /** Puts the reader at the start of a block. */
  #toStart(block: number): void {
    const { pages } = this.#terms;
    if (block < this.#page.from || block >= this.#page.to) {
      this.#page = pages.of(block, this.#keeps);
      this.#reader = new ByteReader(this.#page.bytes);
    }
    this.#reader.at = pages.placeOf(block, this.#page);
  }

  #readInline(): void {
    const reader = this.#reader;
    this.#inlineAt = reader.at;
    reader.varint();
    this.totalTermFreq = reader.varint();
    if (this.#terms.entry.positions) for (let left = this.totalTermFreq; left > 0; left--) reader.varint();
  }

  #setTerm(shared: number, suffix: Uint8Array): void {
    const kept = Math.min(shared, this.#length);
    if (kept + suffix.length > this.#term.length) {
      const larger = new Uint8Array(2 * (kept + suffix.length));
      larger.set(this.#term.subarray(0, kept));
      this.#term = larger;
    }
    this.#term.set(suffix, kept);
    this.#length = kept + suffix.length;
  }
}

/** Walks the terms whose ordinals are given; undefined among these: a part of the search was done without one. */
export class ScanWalk implements TermIterator {
  readonly #walk: TermWalk;
  readonly #ordinals: Iterator<number | undefined, void>;
  /** What the search came to and `next` hasn't taken. */
  #found: IteratorResult<number | undefined, void> | undefined;

  constructor(walk: TermWalk, ordinals: Iterator<number | undefined, void>) {
    this.#walk = walk;
    this.#ordinals = ordinals;
  }

  approach(): boolean {
    this.#found ??= this.#ordinals.next();
    if (this.#found.done === true || this.#found.value !== undefined) return true;
    this.#found = undefined;
    return false;
  }

  next(): boolean {
    while (!this.approach());
    const ordinal = this.#found!.value;
    if (ordinal === undefined) return false;
    this.#found = undefined;
    this.#walk.to(ordinal);
    return true;
  }

  term(): Uint8Array {
    return this.#walk.term();
  }

  text(): string {
    return this.#walk.text();
  }

  get ordinal(): number {
    return this.#walk.ordinal;
  }

  get docFreq(): number {
    return this.#walk.docFreq;
  }

  get totalTermFreq(): number {
    return this.#walk.totalTermFreq;
  }

  postings(options?: PostingsOptions): PostingsCursor {
    return this.#walk.postings(options);
  }
}
