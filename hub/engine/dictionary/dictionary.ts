/** Reads a dictionary: look-up, ordinals, ranges, substrings. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { ByteReader } from "#hub/engine/bytes/byte-buffer.ts";
import { compareBytes, toBytes } from "#hub/engine/bytes/bytes.ts";
import type { SegmentFile } from "#hub/engine/files/segment-file.ts";
import { SCAN_TERMS, searchKernel } from "#hub/engine/kernel/search-kernel.ts";
import type {
  PostingsCursor,
  PostingsOptions,
  RangeOptions,
  TermDictionary,
  TermInfo,
  TermIterator,
} from "#hub/engine/searcher/searcher.ts";
import { DictionaryPages } from "./dictionary-pages.ts";
import { DictionaryWindows } from "./dictionary-windows.ts";
import { type DictionaryEntry, TERMS_PER_BLOCK } from "./dictionary-writer.ts";
import { ScanWalk, TermWalk, type WalkedTerms } from "./term-walk.ts";

/** Documents of the rarer term of a pair from which on the kernel looks for both; fewer are walked sooner. */
const NEAR_DOCS = 256;

/** Terms whose blocks are remembered: those of some searches. */
const KNOWN_TERMS = 64;

/** Longest term of these, units of UTF-16. */
const MAX_KNOWN_LENGTH = 64;

/** The terms of one field of one segment. */
export class Dictionary implements TermDictionary {
  readonly size: number;
  readonly #file: SegmentFile;
  readonly #entry: DictionaryEntry;
  readonly #docCount: number;
  readonly #pages: DictionaryPages;
  readonly #terms: WalkedTerms;
  /** Blocks of the terms looked up last, found or not: a search looks a term up several times, and searches repeat. */
  readonly #known = new Map<string, number>();

  constructor(file: SegmentFile, entry: DictionaryEntry, docCount: number, norms: () => Uint8Array | null) {
    this.size = entry.size;
    this.#file = file;
    this.#entry = entry;
    this.#docCount = docCount;
    this.#pages = new DictionaryPages(file, entry);
    this.#terms = { file, entry, pages: this.#pages, docCount, norms };
  }

  find(term: string | Uint8Array): TermInfo | null {
    const walk = this.#seek(term);
    if (walk === null) return null;
    return { ordinal: walk.ordinal, docFreq: walk.docFreq, totalTermFreq: walk.totalTermFreq };
  }

  /** Documents with `term`, or null. */
  postings(term: string | Uint8Array, options?: PostingsOptions): PostingsCursor | null {
    const walk = this.#seek(term);
    return walk === null || walk.docFreq === 0 ? null : walk.postings(options);
  }

  range(from?: string | Uint8Array, to?: string | Uint8Array, options: RangeOptions = {}): TermIterator {
    // A caller that walks all terms, as merges do, doesn't return to a block.
    const walk = this.#walk(from !== undefined || to !== undefined);
    walk.bound(to === undefined ? null : toBytes(to), options.toInclusive ?? false);
    if (from !== undefined) this.#position(walk, toBytes(from), options.fromExclusive ?? false);
    return walk;
  }

  /** All of it from the start, for merges. `postingsBytes`: of a window at most, unless one block has more. */
  windows(postingsBytes: number): DictionaryWindows {
    return new DictionaryWindows(this.#file, this.#entry, this.#pages, postingsBytes);
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
   * Documents in which `second` occurs `distance` positions after `first`; null for none, undefined if they have to be
   * found by cursors.
   */
  near(first: string, second: string, distance: number): Bitset | null | undefined {
    const [a, b] = [this.#seek(first), this.#seek(second)];
    if (a === null || b === null || a.docFreq === 0 || b.docFreq === 0) return null;
    if (!this.#entry.positions || Math.min(a.docFreq, b.docFreq) < NEAR_DOCS) return undefined;
    const words = searchKernel().near(a.bytes(), b.bytes(), distance, this.#docCount);
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

  /** Like `lookup`, for many terms: fast where ordinals ascend. What it returns is valid until the next call. */
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

  #walk(keeps = true): TermWalk {
    return new TermWalk(this.#terms, keeps);
  }

  /** Ordinals of the terms that hold `needle`, ascending, and undefined after each run of terms. */
  *#scan(needle: Uint8Array): Generator<number | undefined, void> {
    if (needle.length === 0) {
      for (let term = 0; term < this.size; term++) yield term;
      return;
    }
    for (let first = 0; first < this.size; first += SCAN_TERMS) {
      const terms = Math.min(SCAN_TERMS, this.size - first);
      const from = first / TERMS_PER_BLOCK;
      const blocks = this.#pages.run(from, from + Math.ceil(terms / TERMS_PER_BLOCK));
      const found = searchKernel().scan(blocks, terms, this.#entry.positions, needle);
      if (found === null) throw this.#file.corrupt("a term of its dictionary leads outside");
      for (const term of found.slice()) yield first + term;
      yield undefined;
    }
  }

  #seek(term: string | Uint8Array): TermWalk | null {
    const bytes = toBytes(term);
    const walk = this.#walk();
    walk.toBlock(this.#remembered(term, bytes));
    for (let step = 0; step < TERMS_PER_BLOCK && walk.next(); step++) {
      const order = walk.compare(bytes);
      if (order === 0) return walk;
      if (order > 0) return null;
    }
    return null;
  }

  /** The block in which a term would be. */
  #remembered(term: string | Uint8Array, bytes: Uint8Array): number {
    if (typeof term !== "string" || term.length > MAX_KNOWN_LENGTH) return this.#blockOf(bytes);
    const known = this.#known.get(term);
    if (known !== undefined) return known;
    // The oldest one goes, used or not: this must cost next to nothing.
    if (this.#known.size >= KNOWN_TERMS) this.#known.delete(this.#known.keys().next().value!);
    const block = this.#blockOf(bytes);
    this.#known.set(term, block);
    return block;
  }

  /** Puts `walk` before the first term at or after `term`. */
  #position(walk: TermWalk, term: Uint8Array, exclusive: boolean): void {
    walk.toBlock(this.#blockOf(term));
    walk.skipTo(term, exclusive);
  }

  /** Last block whose first term isn't after `term`. */
  #blockOf(term: Uint8Array): number {
    const pages = this.#pages;
    let low = 0;
    let high = pages.blockCount;
    let page = pages.none;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (middle < page.from || middle >= page.to) page = pages.of(middle, true);
      const reader = new ByteReader(page.bytes, pages.placeOf(middle, page));
      reader.varint();
      const length = reader.varint();
      if (compareBytes(reader.take(length), term) <= 0) low = middle;
      else high = middle;
    }
    return low;
  }
}
