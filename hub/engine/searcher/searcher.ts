/**
 * The view of a shard for searches: an immutable snapshot of segments. Doc ids are numbers from 0 within a segment.
 * Nothing here depends on queries, which are built on its cursors, columns and dictionaries.
 */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { ChosenDocuments } from "#hub/engine/kernel/column-kernel.ts";
import type { Mapping } from "#hub/engine/mapping/mapping.ts";

/** What `doc`, `next` and `advance` return after the last document. */
export const NO_MORE_DOCS = 0x7fff_ffff;

/** Documents per block of a column; block b covers docs [b * 1024, b * 1024 + 1024). */
export const COLUMN_BLOCK = 1024;

/** Postings per block of a cursor. */
export const POSTINGS_BLOCK = 128;

/** A snapshot. Its segments' files stay readable until `close`, which may be called once only. */
export interface Searcher {
  readonly segments: readonly SegmentReader[];
  /** Mapping at the time of the snapshot; fields that a segment's documents don't have read as absent. */
  readonly mapping: Mapping;
  /** Documents that are live, over all segments. */
  readonly totalDocs: number;
  /** The snapshots that it joins: the segments are those of all. */
  readonly parts?: readonly Searcher[];
  close(): void;
}

/** One immutable segment as of a snapshot. All reads are synchronous; a damaged file throws data_corrupt. */
export interface SegmentReader {
  /** Unique within the shard; never used again for other content. */
  readonly name: string;
  /** Documents, deleted ones included; doc ids are 0..docCount - 1. */
  readonly docCount: number;
  readonly liveCount: number;
  /** Null where no document is deleted. Must not be changed. */
  readonly liveDocs: Bitset | null;
  /** The segment that this one is a view of. */
  readonly whole?: SegmentReader;
  isLive(doc: number): boolean;

  /** Terms of an indexed text, keyword, ip or `_`-field, or of a keyword column; null if no document has the field. */
  terms(field: string): TermDictionary | null;
  /** Documents with a term, deleted ones included. Null where there is none. `term`: text or its UTF-8 (16 bytes for ip). */
  postings(field: string, term: string | Uint8Array, options?: PostingsOptions): PostingsCursor | null;
  /**
   * Documents, deleted ones included, in which a term of a text field occurs `distance` positions (from 1) after
   * another one; null for none, undefined if they have to be found by cursors.
   */
  near(field: string, first: string, second: string, distance: number): Bitset | null | undefined;
  /** What BM25 needs of an indexed field; null if no document has it. */
  fieldStats(field: string): FieldStats | null;
  /** One norm byte per document (see `normToLength`), 0 if the field is absent; null for fields without norms. */
  norms(field: string): Uint8Array | null;

  /** Column of a number, date or boolean field; null if no document has it or it is of another kind. */
  numericColumn(field: string): NumericColumn | null;
  /** Column of a keyword or ip field. */
  keywordColumn(field: string): KeywordColumn | null;
  /**
   * The terms of a text field by document, made in memory and kept for a while; null if none has it. Throws
   * memory_limit.
   */
  uninverted(field: string): KeywordColumn | null;
  geoColumn(field: string): GeoColumn | null;
  /**
   * Opens the columns of keys of `flattened` fields in steps, as that reads values of all keys; other paths are passed over.
   * Returns what keeps them open, to be held as long as they are read.
   */
  openKeys(paths: Iterable<string>): Generator<void, unknown>;
  /** Documents with a value of the leaf field; null for none. Must not be changed. */
  exists(field: string): Bitset | null;
  /**
   * Returns what `find` finds, or what it found for `key` before: documents by a condition that depends on the
   * segment alone, deleted ones included. A result that is requested again is cached; undefined isn't. Must not
   * be changed.
   */
  remembered<T extends Bitset | null | undefined>(key: string, find: () => T): T | Bitset | null;
  /** Paths of the leaf fields that some document has. */
  fieldNames(): string[];

  /** The document as it was sent: UTF-8 JSON. */
  source(doc: number): Uint8Array;
  id(doc: number): string;
  version(doc: number): number;
  seqNo(doc: number): number;
  routing(doc: number): string | undefined;
  /** Fields whose values didn't fit the mapping and were left out of the index. */
  ignored(doc: number): readonly string[];
  /** Doc id of the live document with `id`, or -1. */
  docOf(id: string): number;
}

export interface PostingsOptions {
  /** True where `positions()` will be called; text fields only. */
  readonly positions?: boolean;
}

export interface FieldStats {
  /** Documents with the field and at least one term, deleted ones included. */
  readonly docCount: number;
  /** Terms over all documents, with repetitions. */
  readonly sumTotalTermFreq: number;
  /** Sum of the document frequencies of all terms. */
  readonly sumDocFreq: number;
}

/** Walks the documents of a term in ascending order. */
export interface PostingsCursor {
  /** Documents of the term in this segment, deleted ones included. */
  readonly docFreq: number;
  /** Occurrences over all documents. */
  readonly totalTermFreq: number;
  /** Current document; -1 before the first, NO_MORE_DOCS after the last. */
  readonly doc: number;
  /** Occurrences in the current document, from 1. */
  readonly freq: number;
  /** Moves to the following document and returns it. */
  next(): number;
  /** Moves to the first document at or after `target`, which must not be below `doc`, and returns it. */
  advance(target: number): number;
  /**
   * Positions of the term in the current document, ascending, in the first `freq` entries; valid until the next move.
   */
  positions(): Int32Array;
  /** Adds all documents of the term to `set`, which has a bit for each document of the segment. Moves nothing. */
  addTo(set: Bitset): void;
  /** Returns all documents of the term as a new set, which has a bit for each document of the segment. Moves nothing. */
  toSet(): Bitset;
  /**
   * Copies the next documents (and frequencies) that `next` would give, at most 128, and returns how many;
   * 0 at the end. Not to be mixed with `positions`.
   */
  nextBlock(docs: Int32Array, freqs: Int32Array | null): number;
  /** Moves the impact window to the block that holds `target` without decoding it; fills the three below. */
  seekImpact(target: number): void;
  /** Like `seekImpact`, of the first block from `target` on that passes `bound`; returns the first document of use there. */
  seekUseful(target: number, bound: ImpactBound): number;
  /** Last document of the impact window. */
  readonly impactEnd: number;
  /** Largest freq in the window, an upper bound. */
  readonly impactMaxFreq: number;
  /** Smallest norm byte in the window, a lower bound; shorter documents score higher. */
  readonly impactMinNorm: number;
}

export interface TermInfo {
  /** Number of the term in its dictionary's order, from 0. */
  readonly ordinal: number;
  readonly docFreq: number;
  readonly totalTermFreq: number;
}

/** Terms of a field in the order of their bytes. */
export interface TermDictionary {
  readonly size: number;
  find(term: string | Uint8Array): TermInfo | null;
  /** Terms in [from, to); an absent bound is open. Bounds are inclusive and exclusive unless said otherwise. */
  range(from?: string | Uint8Array, to?: string | Uint8Array, options?: RangeOptions): TermIterator;
  prefix(prefix: string | Uint8Array): TermIterator;
  /** Terms that may hold the bytes `needle`, which is not empty: all that do are among them. */
  containing(needle: Uint8Array): TermIterator;
}

export interface RangeOptions {
  readonly fromExclusive?: boolean;
  readonly toInclusive?: boolean;
}

/** Walks terms; the getters speak of the current one. */
export interface TermIterator {
  /** Does a part of the search for what `next` moves to; true once that is found, and `next` is quick. */
  approach(): boolean;
  /** Moves on; false after the last term. Must be called before the first term is read. */
  next(): boolean;
  /** A copy of the term's bytes. */
  term(): Uint8Array;
  text(): string;
  readonly ordinal: number;
  readonly docFreq: number;
  readonly totalTermFreq: number;
  postings(options?: PostingsOptions): PostingsCursor;
}

/** long: all whole numbers; unsigned_long: 0..2^64-1; double: all other numbers; date: ms since 1970; boolean: 0 and 1. */
export type NumericKind = "long" | "unsigned_long" | "double" | "date" | "boolean";

/** Neighbouring column blocks [from, to) of a segment, and the documents wanted of them. */
export interface DocRun {
  readonly from: number;
  readonly to: number;
  /** One bit per document from that of block `wordsFrom` on, to the end of the run at least; null: all are wanted. */
  readonly words: Uint32Array | null;
  readonly wordsFrom: number;
}

interface Column {
  /** Documents with at least one value. */
  readonly docCount: number;
  readonly valueCount: number;
  /** True where some document has more than one value. */
  readonly multiValued: boolean;
  /** Documents with a value; null if all have one. Must not be changed. */
  readonly presence: Bitset | null;
  /** Number of blocks of COLUMN_BLOCK documents. */
  readonly blockCount: number;
}

export interface NumericColumn extends Column {
  readonly kind: NumericKind;
  readonly min: number;
  readonly max: number;
  /** True where all values are exact as numbers; else `read` rounds, and `readExact` doesn't. */
  readonly safe: boolean;
  /** Smallest and largest value of a block, exact or rounded outwards; Infinity and -Infinity for a block without values. */
  blockMin(block: number): number;
  blockMax(block: number): number;
  /** Writes the values of document `doc` to `out` from 0, ascending, and returns how many. `out` grows as needed. */
  read(doc: number, out: number[]): number;
  readExact(doc: number, out: bigint[]): number;
  /** Smallest value of a document; NaN without one. */
  first(doc: number): number;
  /**
   * Writes the smallest value of each document of the block to `out` (1024 long, by doc - block * 1024);
   * slots of documents without one hold NaN. Returns the documents of the block.
   */
  decodeBlock(block: number, out: Float64Array): number;
  /**
   * All values of the block in document order: values to `out.values`, their documents' indexes within the block to
   * `out.slots`. Returns how many; arrays grow as needed.
   */
  decodeValues(block: number, out: ValueBlock): number;
  /**
   * Writes to `mask` (COLUMN_BLOCK bits) which documents of the block have a value in [from, to]. Where the column isn't
   * `safe`, values are compared as they are rounded.
   */
  match(block: number, from: number, to: number, mask: Uint32Array): void;
  /**
   * Adds one to counts[offset + value] for each document of a run, of whole numbers from 0; `counts` is long enough for them up to
   * `max`. Returns false, and does nothing, where documents have several values.
   */
  count(run: DocRun, counts: Int32Array, offset: number): boolean;
  /**
   * Adds the values of a run's documents to `sums`, a sum (see sums.ts) for each ordinal of `by`, by the documents'
   * ordinals. Documents without a value or an ordinal are left out. `slots`: which sum each ordinal has, below 0 for none,
   * not to be changed afterwards; without it each has its own. Returns false, and does nothing if one has several, or values
   * aren't whole numbers whose sum is exact.
   */
  sumBy(run: DocRun, by: KeywordColumn, sums: Float64Array, slots?: Int32Array): boolean;
  /** Like `match`, of all blocks: writes to `set`, which has a bit for each document of the segment. */
  matchAll(from: number, to: number, set: Bitset): void;
}

/** Memory for the values of one block; reused between blocks. */
export interface ValueBlock {
  values: Float64Array;
  /** Index of the document within its block, 0..1023. */
  slots: Uint16Array;
}

export interface KeywordColumn extends Column {
  readonly kind: "keyword" | "ip";
  /** Number of different values in the segment; ordinals are 0..cardinality - 1 in the order of the terms' bytes. */
  readonly cardinality: number;
  /** Bytes of a value: UTF-8, or 16 bytes of an address (IPv4 as ::ffff:a.b.c.d). */
  lookup(ordinal: number): Uint8Array;
  /** A value as text: the keyword or the printed address. */
  text(ordinal: number): string;
  /** For many values: fast where ordinals ascend. Keeps the dictionary in memory while it is used. */
  reader(): TermReader;
  /** Ordinal of a value, or -(insertion point) - 1. */
  ordOf(term: string | Uint8Array): number;
  /** Smallest ordinal of a document, or -1. */
  first(doc: number): number;
  /** Writes the ordinals of a document to `out`, ascending and without repetition; returns how many. */
  read(doc: number, out: number[]): number;
  blockMin(block: number): number;
  blockMax(block: number): number;
  /** Smallest ordinal of each document of the block to `out` (1024 long), -1 if there is none. */
  decodeBlock(block: number, out: Int32Array): number;
  /** All ordinals of the block, as NumericColumn.decodeValues. */
  decodeValues(block: number, out: ValueBlock): number;
  /**
   * Adds one to counts[offset + ordinal] for each document of a run. Returns false, and does nothing, where documents have
   * several values.
   */
  count(run: DocRun, counts: Int32Array, offset: number): boolean;
  /**
   * Writes to `out` which documents of a run, ascending, have an ordinal with a slot, and that slot; arrays grow as needed.
   * `slots`: by ordinal, below 0 for none; not to be changed afterwards. Returns how many, or -1, having done nothing, where
   * `decodeValues` must be used instead, for example because documents have several values.
   */
  choose(run: DocRun, slots: Int32Array, out: ChosenDocuments): number;
}

/** Values of a keyword column by their ordinals. */
export interface TermReader {
  /** See KeywordColumn.lookup; valid until the next call. */
  bytes(ordinal: number): Uint8Array;
  /** See KeywordColumn.text. */
  text(ordinal: number): string;
}

export interface GeoColumn extends Column {
  /** Writes latitudes and longitudes (degrees) of a document to the arrays; returns how many points. */
  read(doc: number, latitudes: number[], longitudes: number[]): number;
  /** Bounding box of the points of a block: [south, north, west, east] degrees; null for a block without points. */
  blockBounds(block: number): readonly [south: number, north: number, west: number, east: number] | null;
  /**
   * Removes documents of blocks [from, to) from `words` (one bit per document of these) that have no point in the box
   * [south, north, west, east] (degrees, west <= east). Some that have none may stay.
   */
  matchBox(
    from: number,
    to: number,
    box: readonly [south: number, north: number, west: number, east: number],
    words: Uint32Array,
  ): void;
}

/**
 * Which impacts may give a hit: those whose largest freq reaches the smallest useful one for their smallest norm byte.
 */
export interface ImpactBound {
  /** Smallest useful freq by norm byte; 0: `find` returns it, and writes it here. */
  readonly leastFreqs: Uint16Array;
  /** Smallest useful freq of a norm byte, 1..255; a larger number where no freq is. */
  find(norm: number): number;
}
