/**
 * One key of a `flattened` field as a separate keyword field: the terms and ordinals of the combined field that begin
 * with the key.
 */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";
import type { Dictionary } from "#hub/engine/dictionary/dictionary.ts";
import { KEY_END } from "#hub/engine/mapping/field.ts";
import {
  COLUMN_BLOCK,
  type DocRun,
  type KeywordColumn,
  type PostingsCursor,
  type PostingsOptions,
  type RangeOptions,
  type TermDictionary,
  type TermInfo,
  type TermIterator,
  type TermReader,
  type ValueBlock,
} from "#hub/engine/searcher/searcher.ts";

/** How many values of a column are read while one term's documents are opened. */
const TERM_COST = 64;
/** Postings, or values, that are read between two pauses: below a millisecond. */
const PAUSE_POSTINGS = 65_536;

/** What a key has in a segment. */
interface FoundValues {
  readonly presence: Bitset;
  readonly values: number;
}

/** Runs steps to their end. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The terms of a key: those of all keys that begin with it and the mark after it. */
export class KeyedDictionary implements TermDictionary {
  readonly #all: Dictionary;
  readonly #prefix: Uint8Array;
  /** Follows all terms of the key. */
  readonly #end: Uint8Array;
  #bounds: readonly [from: number, to: number] | undefined;

  constructor(all: Dictionary, key: string) {
    this.#all = all;
    this.#prefix = toBytes(key + KEY_END);
    this.#end = this.#prefix.slice();
    this.#end[this.#end.length - 1]!++;
  }

  /** Ordinals of all keys' terms that are the key's: from one up to, but without, another. */
  get bounds(): readonly [from: number, to: number] {
    this.#bounds ??= [this.#place(this.#prefix), this.#place(this.#end)];
    return this.#bounds;
  }

  get size(): number {
    const [from, to] = this.bounds;
    return to - from;
  }

  find(term: string | Uint8Array): TermInfo | null {
    const found = this.#all.find(this.whole(term));
    return found && { ...found, ordinal: found.ordinal - this.bounds[0] };
  }

  postings(term: string | Uint8Array, options?: PostingsOptions): PostingsCursor | null {
    return this.#all.postings(this.whole(term), options);
  }

  range(from?: string | Uint8Array, to?: string | Uint8Array, options: RangeOptions = {}): TermIterator {
    const first = from === undefined ? this.#prefix : this.whole(from);
    const last = to === undefined ? this.#end : this.whole(to);
    return this.#shown(
      this.#all.range(first, last, {
        fromExclusive: from !== undefined && options.fromExclusive === true,
        toInclusive: to !== undefined && options.toInclusive === true,
      }),
    );
  }

  prefix(prefix: string | Uint8Array): TermIterator {
    return this.#shown(this.#all.prefix(this.whole(prefix)));
  }

  /** All terms of the key: the caller tests them. */
  containing(): TermIterator {
    return this.prefix("");
  }

  /** Returns the documents of a segment of `docs` ones that have the key, and how many values they have of it; in steps. */
  *documents(docs: number): Generator<void, FoundValues> {
    const presence = new Bitset(docs);
    let values = 0;
    let untilPause = PAUSE_POSTINGS;
    for (const terms = this.prefix(""); terms.next(); ) {
      terms.postings().addTo(presence);
      values += terms.docFreq;
      untilPause -= terms.docFreq + TERM_COST;
      if (untilPause > 0) continue;
      yield;
      untilPause = PAUSE_POSTINGS;
    }
    return { presence, values };
  }

  /** Returns a term of the key as one of all keys. */
  whole(term: string | Uint8Array): Uint8Array {
    return Buffer.concat([this.#prefix, toBytes(term)]);
  }

  /** Returns a term of all keys as one of the key. */
  own(term: Uint8Array): Uint8Array {
    return term.subarray(this.#prefix.length);
  }

  #place(term: Uint8Array): number {
    const ordinal = this.#all.ordOf(term);
    return ordinal < 0 ? -ordinal - 1 : ordinal;
  }

  #shown(terms: TermIterator): TermIterator {
    return new KeyedIterator(terms, this);
  }
}

class KeyedIterator implements TermIterator {
  readonly #terms: TermIterator;
  readonly #dictionary: KeyedDictionary;

  constructor(terms: TermIterator, dictionary: KeyedDictionary) {
    this.#terms = terms;
    this.#dictionary = dictionary;
  }

  approach(): boolean {
    return this.#terms.approach();
  }

  next(): boolean {
    return this.#terms.next();
  }

  term(): Uint8Array {
    return this.#dictionary.own(this.#terms.term());
  }

  text(): string {
    const text = this.#terms.text();
    return text.slice(text.indexOf(KEY_END) + 1);
  }

  get ordinal(): number {
    return this.#terms.ordinal - this.#dictionary.bounds[0];
  }

  get docFreq(): number {
    return this.#terms.docFreq;
  }

  get totalTermFreq(): number {
    return this.#terms.totalTermFreq;
  }

  postings(options?: PostingsOptions): PostingsCursor {
    return this.#terms.postings(options);
  }
}

/** Memory for one block, of whichever column is read. */
const decoded: ValueBlock = {
  values: new Float64Array(COLUMN_BLOCK),
  slots: new Uint16Array(COLUMN_BLOCK),
};
const firsts = new Int32Array(COLUMN_BLOCK);

/** The values of a key by document. */
export class KeyedColumn implements KeywordColumn {
  readonly kind = "keyword";
  readonly cardinality: number;
  readonly docCount: number;
  readonly valueCount: number;
  readonly multiValued: boolean;
  readonly blockCount: number;
  readonly #all: KeywordColumn;
  readonly #dictionary: KeyedDictionary;
  readonly #docs: number;
  /** A bit for each document of the segment: of many keys they would take more memory than they save time. */
  #presence: WeakRef<Bitset>;
  readonly #from: number;
  readonly #to: number;

  /** Opens a key in steps. `all`: the column of all keys, of a segment of `docs` documents. */
  static *open(
    all: KeywordColumn,
    dictionary: KeyedDictionary,
    docs: number,
  ): Generator<void, { readonly column: KeyedColumn; readonly presence: Bitset }> {
    const found = yield* findValues(all, dictionary, docs);
    return { column: new KeyedColumn(all, dictionary, docs, found), presence: found.presence };
  }

  private constructor(
    all: KeywordColumn,
    dictionary: KeyedDictionary,
    docs: number,
    { presence, values }: FoundValues,
  ) {
    this.#all = all;
    this.#dictionary = dictionary;
    [this.#from, this.#to] = dictionary.bounds;
    this.cardinality = this.#to - this.#from;
    this.blockCount = all.blockCount;
    this.#docs = docs;
    this.#presence = new WeakRef(presence);
    this.docCount = presence.count();
    this.valueCount = values;
    this.multiValued = values > this.docCount;
  }

  get presence(): Bitset | null {
    return this.docCount === this.#docs ? null : (this.#presence.deref() ?? this.#found());
  }

  /** Documents with a value, found again; a search that opened the key holds them. */
  #found(): Bitset {
    const { presence } = atOnce(findValues(this.#all, this.#dictionary, this.#docs));
    this.#presence = new WeakRef(presence);
    return presence;
  }

  lookup(ordinal: number): Uint8Array {
    return this.#dictionary.own(this.#all.lookup(ordinal + this.#from));
  }

  text(ordinal: number): string {
    const text = this.#all.text(ordinal + this.#from);
    return text.slice(text.indexOf(KEY_END) + 1);
  }

  reader(): TermReader {
    const all = this.#all.reader();
    return {
      bytes: (ordinal) => this.#dictionary.own(all.bytes(ordinal + this.#from)),
      text: (ordinal) => {
        const text = all.text(ordinal + this.#from);
        return text.slice(text.indexOf(KEY_END) + 1);
      },
    };
  }

  ordOf(term: string | Uint8Array): number {
    const ordinal = this.#all.ordOf(this.#dictionary.whole(term));
    return ordinal < 0 ? ordinal + this.#from : ordinal - this.#from;
  }

  first(doc: number): number {
    const found: number[] = [];
    return this.read(doc, found) === 0 ? -1 : found[0]!;
  }

  read(doc: number, out: number[]): number {
    const count = this.#all.read(doc, out);
    let kept = 0;
    for (let at = 0; at < count; at++) if (this.#has(out[at]!)) out[kept++] = out[at]! - this.#from;
    return kept;
  }

  blockMin(block: number): number {
    return Math.max(this.#all.blockMin(block) - this.#from, 0);
  }

  blockMax(block: number): number {
    return Math.min(this.#all.blockMax(block), this.#to - 1) - this.#from;
  }

  decodeBlock(block: number, out: Int32Array): number {
    const docs = this.#all.decodeBlock(block, out);
    out.fill(-1, 0, docs);
    // Values of a document ascend: the last one that is written is the smallest.
    for (let at = this.decodeValues(block, decoded) - 1; at >= 0; at--)
      out[decoded.slots[at]!] = decoded.values[at]!;
    return docs;
  }

  decodeValues(block: number, out: ValueBlock): number {
    const count = this.#all.decodeValues(block, out);
    let kept = 0;
    for (let at = 0; at < count; at++) {
      const ordinal = out.values[at]!;
      if (!this.#has(ordinal)) continue;
      out.slots[kept] = out.slots[at]!;
      out.values[kept++] = ordinal - this.#from;
    }
    return kept;
  }

  count({ from, to, words, wordsFrom }: DocRun, counts: Int32Array, offset: number): boolean {
    if (this.multiValued) return false;
    for (let block = from; block < to; block++) {
      const docs = this.decodeBlock(block, firsts);
      const base = (block - wordsFrom) * COLUMN_BLOCK;
      for (let slot = 0; slot < docs; slot++) {
        const ordinal = firsts[slot]!;
        const isWanted = words === null || ((words[(base + slot) >>> 5]! >>> (slot & 31)) & 1) === 1;
        if (ordinal >= 0 && isWanted) counts[offset + ordinal]!++;
      }
    }
    return true;
  }

  choose(): number {
    return -1;
  }

  #has(ordinal: number): boolean {
    return ordinal >= this.#from && ordinal < this.#to;
  }
}

/** Finds the documents with a value of a key, and counts the values: by the key's terms, or all values where these are few. */
function* findValues(
  all: KeywordColumn,
  dictionary: KeyedDictionary,
  docs: number,
): Generator<void, FoundValues> {
  const [from, to] = dictionary.bounds;
  if ((to - from) * TERM_COST < all.valueCount) return yield* dictionary.documents(docs);
  const presence = new Bitset(docs);
  let values = 0;
  let untilPause = PAUSE_POSTINGS;
  for (let block = 0; block < all.blockCount; block++) {
    const count = all.decodeValues(block, decoded);
    for (let at = 0; at < count; at++) {
      const ordinal = decoded.values[at]!;
      if (ordinal < from || ordinal >= to) continue;
      presence.add(block * COLUMN_BLOCK + decoded.slots[at]!);
      values++;
    }
    untilPause -= count;
    if (untilPause > 0) continue;
    yield;
    untilPause = PAUSE_POSTINGS;
  }
  return { presence, values };
}
