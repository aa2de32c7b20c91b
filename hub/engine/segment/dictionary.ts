/** Reads a dictionary: look-up, ordinals, ranges, substrings. Its index and blocks are read through the cache. */

import { compareBytes, toBytes } from "../bytes.ts";
import { decodeUtf8 } from "../json/scanner.ts";
import { SCAN_TERMS, searchKernel, type TermBytes } from "../kernel/search-kernel.ts";
import type {
  PostingsCursor,
  PostingsOptions,
  RangeOptions,
  TermDictionary,
  TermInfo,
  TermIterator,
} from "../searcher.ts";
import { Bitset } from "./bitset.ts";
import { ByteReader, readU32 } from "./byte-buffer.ts";
import { type DictionaryEntry, MAX_TERM_BYTES, TERMS_PER_BLOCK } from "./dictionary-writer.ts";
import { BlockPostingsCursor, SinglePostingsCursor } from "./postings-cursor.ts";
import type { SegmentFile } from "./segment-file.ts";

/** Documents of the rarer term of a pair from which on the kernel looks for both; fewer are walked sooner. */
const NEAR_DOCS = 256;

/** The terms of one field of one segment. */
export class Dictionary implements TermDictionary {
  readonly size: number;
  readonly #file: SegmentFile;
  readonly #entry: DictionaryEntry;
  readonly #docCount: number;
  readonly #norms: () => Uint8Array | null;

  constructor(file: SegmentFile, entry: DictionaryEntry, docCount: number, norms: () => Uint8Array | null) {
    this.size = entry.size;
    this.#file = file;
    this.#entry = entry;
    this.#docCount = docCount;
    this.#norms = norms;
  }

  find(term: string | Uint8Array): TermInfo | null {
    const walk = this.#seek(toBytes(term));
    if (walk === null) return null;
    return { ordinal: walk.ordinal, docFreq: walk.docFreq, totalTermFreq: walk.totalTermFreq };
  }

  /** Documents with `term`, or null. */
  postings(term: string | Uint8Array, options?: PostingsOptions): PostingsCursor | null {
    const walk = this.#seek(toBytes(term));
    return walk === null || walk.docFreq === 0 ? null : walk.postings(options);
  }

  range(from?: string | Uint8Array, to?: string | Uint8Array, options: RangeOptions = {}): TermIterator {
    const walk = this.#walk();
    walk.bound(to === undefined ? null : toBytes(to), options.toInclusive ?? false);
    if (from !== undefined) this.#position(walk, toBytes(from), options.fromExclusive ?? false);
    return walk;
  }

  prefix(prefix: string | Uint8Array): TermIterator {
    const bytes = toBytes(prefix);
    const walk = this.#walk();
    walk.boundByPrefix(bytes);
    this.#position(walk, bytes, false);
    return walk;
  }

  containing(needle: Uint8Array): TermIterator {
    return new ScanWalk(this.#walk(), this.#scan(needle));
  }

  /**
   * Documents in which `second` stands `distance` places behind `first`; null for none, undefined where they have to be
   * found by cursors.
   */
  near(first: string, second: string, distance: number): Bitset | null | undefined {
    const kernel = searchKernel();
    const [a, b] = [this.#seek(toBytes(first)), this.#seek(toBytes(second))];
    if (a === null || b === null || a.docFreq === 0 || b.docFreq === 0) return null;
    if (kernel === null || !this.#entry.positions || Math.min(a.docFreq, b.docFreq) < NEAR_DOCS)
      return undefined;
    const words = kernel.near(a.bytes(), b.bytes(), distance, this.#docCount);
    return words === null ? undefined : new Bitset(this.#docCount, words);
  }

  /** A copy of the bytes of term number `ordinal`, 0..size - 1. */
  lookup(ordinal: number): Uint8Array {
    if (ordinal < 0 || ordinal >= this.size) throw new RangeError(`ordinal ${ordinal} of ${this.size} terms`);
    const walk = this.#walk();
    walk.toBlock(Math.floor(ordinal / TERMS_PER_BLOCK));
    for (let step = ordinal % TERMS_PER_BLOCK; step >= 0; step--) walk.next();
    return walk.term();
  }

  /** Like `lookup`, for many terms: fast where ordinals ascend. What it returns is good until the next call. */
  reader(): (ordinal: number) => Uint8Array {
    const walk = this.#walk();
    return (ordinal) => {
      if (ordinal < 0 || ordinal >= this.size)
        throw new RangeError(`ordinal ${ordinal} of ${this.size} terms`);
      walk.to(ordinal);
      return walk.view();
    };
  }

  /** Ordinal of a term, or -(insertion point) - 1. */
  ordOf(term: string | Uint8Array): number {
    const bytes = toBytes(term);
    const walk = this.#walk();
    walk.toBlock(this.#blockOf(bytes));
    while (walk.next()) {
      const order = walk.compare(bytes);
      if (order === 0) return walk.ordinal;
      if (order > 0) return -walk.ordinal - 1;
    }
    return -this.size - 1;
  }

  get #index(): Uint8Array {
    return this.#file.cached(this.#entry.index);
  }

  get #blocks(): Uint8Array {
    return this.#file.cached(this.#entry.blocks);
  }

  #walk(): TermWalk {
    return new TermWalk(this.#file, this.#entry, this.#index, this.#blocks, this.#docCount, this.#norms);
  }

  /** Ordinals of the terms that hold `needle`, ascending. */
  *#scan(needle: Uint8Array): Generator<number, void> {
    const kernel = searchKernel();
    const index = this.#index;
    const blocks = this.#blocks;
    if (kernel === null || needle.length === 0) return yield* this.#scanHere(needle);
    for (let first = 0; first < this.size; first += SCAN_TERMS) {
      const terms = Math.min(SCAN_TERMS, this.size - first);
      const from = readU32(index, (4 * first) / TERMS_PER_BLOCK);
      const isLast = first + terms === this.size;
      const to = isLast ? blocks.length : readU32(index, (4 * (first + terms)) / TERMS_PER_BLOCK);
      const found = kernel.scan(blocks.subarray(from, to), terms, this.#entry.positions, needle);
      if (found === null) throw this.#file.corrupt("a term of its dictionary leads outside");
      for (const term of found.slice()) yield first + term;
    }
  }

  /** The kernel's twin. */
  *#scanHere(needle: Uint8Array): Generator<number, void> {
    const walk = this.#walk();
    const wanted = Buffer.from(needle);
    while (walk.next()) {
      const term = walk.view();
      if (Buffer.from(term.buffer, term.byteOffset, term.length).includes(wanted)) yield walk.ordinal;
    }
  }

  #seek(term: Uint8Array): TermWalk | null {
    const walk = this.#walk();
    walk.toBlock(this.#blockOf(term));
    for (let step = 0; step < TERMS_PER_BLOCK && walk.next(); step++) {
      const order = walk.compare(term);
      if (order === 0) return walk;
      if (order > 0) return null;
    }
    return null;
  }

  /** Puts `walk` before the first term at or behind `term`. */
  #position(walk: TermWalk, term: Uint8Array, exclusive: boolean): void {
    walk.toBlock(this.#blockOf(term));
    walk.skipTo(term, exclusive);
  }

  /** Last block whose first term isn't behind `term`. */
  #blockOf(term: Uint8Array): number {
    let low = 0;
    let high = Math.ceil(this.size / TERMS_PER_BLOCK);
    const index = this.#index;
    const blocks = this.#blocks;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      const reader = new ByteReader(blocks, readU32(index, 4 * middle));
      reader.varint();
      const length = reader.varint();
      if (compareBytes(reader.take(length), term) <= 0) low = middle;
      else high = middle;
    }
    return low;
  }
}

class TermWalk implements TermIterator {
  ordinal = -1;
  docFreq = 0;
  totalTermFreq = 0;
  readonly #file: SegmentFile;
  readonly #entry: DictionaryEntry;
  readonly #index: Uint8Array;
  readonly #docCount: number;
  readonly #norms: () => Uint8Array | null;
  readonly #reader: ByteReader;
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

  constructor(
    file: SegmentFile,
    entry: DictionaryEntry,
    index: Uint8Array,
    blocks: Uint8Array,
    docCount: number,
    norms: () => Uint8Array | null,
  ) {
    this.#file = file;
    this.#entry = entry;
    this.#index = index;
    this.#docCount = docCount;
    this.#norms = norms;
    this.#reader = new ByteReader(blocks);
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

  next(): boolean {
    if (this.#pending) this.#pending = false;
    else if (!this.#read()) return false;
    return this.#isWithin();
  }

  compare(term: Uint8Array): number {
    return compareBytes(this.view(), term);
  }

  term(): Uint8Array {
    return this.view().slice();
  }

  text(): string {
    return decodeUtf8(this.#term, 0, this.#length);
  }

  /** The bytes of the current term, which two documents or more have. */
  bytes(): TermBytes {
    const { postings } = this.#entry;
    return {
      docFreq: this.docFreq,
      postings: this.#file.cached(postings, this.#postingsAt, this.#postingsBytes),
      positions: this.#file.cached(postings, this.#postingsAt + this.#postingsBytes, this.#positionsBytes),
    };
  }

  postings(options?: PostingsOptions): PostingsCursor {
    const wantsPositions = options?.positions === true && this.#entry.positions;
    if (this.docFreq === 1) return this.#inlinePostings(wantsPositions);
    const { postings } = this.#entry;
    return new BlockPostingsCursor({
      docFreq: this.docFreq,
      totalTermFreq: this.totalTermFreq,
      docCount: this.#docCount,
      postings: this.#file.cached(postings, this.#postingsAt, this.#postingsBytes),
      positions: wantsPositions
        ? this.#file.cached(postings, this.#postingsAt + this.#postingsBytes, this.#positionsBytes)
        : new Uint8Array(0),
    });
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
    return new SinglePostingsCursor(doc, freq, this.#norms()?.[doc] ?? 1, positions);
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

  /** Reads the following entry; false behind the last. */
  #read(): boolean {
    if (this.ordinal + 1 >= this.#entry.size) return false;
    const reader = this.#reader;
    this.ordinal++;
    let shared = 0;
    if (this.ordinal % TERMS_PER_BLOCK === 0) {
      reader.at = readU32(this.#index, 4 * (this.ordinal / TERMS_PER_BLOCK));
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
      if (this.#entry.positions) this.#positionsBytes = reader.varint();
    }
    return true;
  }

  #readInline(): void {
    const reader = this.#reader;
    this.#inlineAt = reader.at;
    reader.varint();
    this.totalTermFreq = reader.varint();
    if (this.#entry.positions) for (let left = this.totalTermFreq; left > 0; left--) reader.varint();
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

/** Walks the terms whose ordinals are given. */
class ScanWalk implements TermIterator {
  readonly #walk: TermWalk;
  readonly #ordinals: Iterator<number, void>;

  constructor(walk: TermWalk, ordinals: Iterator<number, void>) {
    this.#walk = walk;
    this.#ordinals = ordinals;
  }

  next(): boolean {
    const { done, value } = this.#ordinals.next();
    if (done === true) return false;
    this.#walk.to(value);
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
