/** A segment as one snapshot sees it: the segment and the documents that were live then. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { parseIp } from "#hub/engine/bytes/ip.ts";
import { decodeUtf8 } from "#hub/engine/json/text.ts";
import { isKeyedPath } from "#hub/engine/mapping/field.ts";
import type {
  FieldStats,
  GeoColumn,
  KeywordColumn,
  NumericColumn,
  PostingsCursor,
  PostingsOptions,
  SegmentReader,
  TermDictionary,
} from "#hub/engine/searcher/searcher.ts";
import { filterCache } from "./filter-cache.ts";
import { atOnce } from "./keyed-field.ts";
import type { Segment } from "./segment.ts";
import { fieldDataCache, UninvertedColumn } from "./uninverted-column.ts";

/** Field in which a document's left-out fields are indexed. */
export const IGNORED_FIELD = "_ignored";

/** Field that keeps a document's routing. */
export const ROUTING_FIELD = "_routing";

/** Holds the paths of the binary fields that a document has. */
export const FIELD_NAMES_FIELD = "_field_names";

const ordinals: number[] = [];

/** Keys whose documents a search holds: a bit for each document of the segment. */
const MAX_HELD_KEYS = 64;

/** Reads a segment under unchanging live docs. */
export class SnapshotReader implements SegmentReader {
  readonly segment: Segment;
  readonly liveDocs: Bitset | null;
  readonly liveCount: number;

  /** `liveDocs` must not change any more. The segment must be retained by the caller. */
  constructor(segment: Segment, liveDocs: Bitset | null) {
    this.segment = segment;
    this.liveDocs = liveDocs;
    this.liveCount = liveDocs === null ? segment.docCount : liveDocs.count();
  }

  get name(): string {
    return this.segment.name;
  }

  get docCount(): number {
    return this.segment.docCount;
  }

  isLive(doc: number): boolean {
    return this.liveDocs === null || this.liveDocs.has(doc);
  }

  terms(field: string): TermDictionary | null {
    return this.segment.dictionary(field) ?? this.segment.keyedDictionary(field);
  }

  postings(field: string, term: string | Uint8Array, options?: PostingsOptions): PostingsCursor | null {
    const dictionary = this.segment.dictionary(field);
    if (dictionary === null) return this.segment.keyedDictionary(field)?.postings(term, options) ?? null;
    return dictionary.postings(this.#termOf(field, term), options);
  }

  near(field: string, first: string, second: string, distance: number): Bitset | null | undefined {
    const dictionary = this.segment.dictionary(field);
    return dictionary === null ? null : dictionary.near(first, second, distance);
  }

  fieldStats(field: string): FieldStats | null {
    const entry = this.segment.fieldEntry(this.segment.keyedField(field) ?? field);
    if (entry?.terms === undefined || entry.terms.sumDocFreq === 0) return null;
    const { sumTotalTermFreq, sumDocFreq } = entry.terms;
    return { docCount: entry.presence.count, sumTotalTermFreq, sumDocFreq };
  }

  norms(field: string): Uint8Array | null {
    return this.segment.norms(field);
  }

  numericColumn(field: string): NumericColumn | null {
    const column = this.segment.column(field);
    return column !== null && "safe" in column ? column : null;
  }

  keywordColumn(field: string): KeywordColumn | null {
    const column = this.segment.column(field);
    if (column === null) return this.segment.keyedColumn(field);
    return "ordOf" in column ? column : null;
  }

  uninverted(field: string): KeywordColumn | null {
    const dictionary = this.segment.dictionary(field);
    const sumDocFreq = this.segment.fieldEntry(field)?.terms?.sumDocFreq ?? 0;
    if (dictionary === null || sumDocFreq === 0) return null;
    const { segment } = this;
    return fieldDataCache().open(segment, field, () => {
      const presence = segment.presence(field) ?? null;
      return new UninvertedColumn({ field, docCount: segment.docCount, sumDocFreq, dictionary, presence });
    });
  }

  geoColumn(field: string): GeoColumn | null {
    const column = this.segment.column(field);
    return column !== null && "blockBounds" in column ? column : null;
  }

  exists(field: string): Bitset | null {
    const dictionary = this.segment.keyedDictionary(field);
    if (dictionary === null) return this.segment.exists(field);
    if (dictionary.size === 0) return null;
    const column = this.segment.keyedColumn(field);
    if (column !== null) return column.presence ?? Bitset.full(this.docCount);
    return this.remembered(`key ${field}`, () => atOnce(dictionary.documents(this.docCount)).presence);
  }

  *openKeys(paths: Iterable<string>): Generator<void, readonly Bitset[]> {
    const held: Bitset[] = [];
    for (const path of paths) {
      const presence = yield* this.segment.openKey(path);
      if (presence !== null && held.length < MAX_HELD_KEYS) held.push(presence);
      yield;
    }
    return held;
  }

  remembered<T extends Bitset | null | undefined>(key: string, find: () => T): T | Bitset | null {
    return filterCache().get(this.segment, key, find);
  }

  fieldNames(): string[] {
    return this.segment.fieldNames().filter((field) => !isKeyedPath(field));
  }

  source(doc: number): Uint8Array {
    return this.segment.source(doc);
  }

  id(doc: number): string {
    return this.segment.id(doc);
  }

  version(doc: number): number {
    return this.segment.version(doc);
  }

  seqNo(doc: number): number {
    return this.segment.seqNo(doc);
  }

  routing(doc: number): string | undefined {
    return this.#keywords(ROUTING_FIELD, doc)[0];
  }

  ignored(doc: number): readonly string[] {
    return this.#keywords(IGNORED_FIELD, doc);
  }

  docOf(id: string): number {
    return this.segment.find(id, (doc) => this.isLive(doc));
  }

  #keywords(field: string, doc: number): string[] {
    const column = this.keywordColumn(field);
    if (column === null) return [];
    const count = column.read(doc, ordinals);
    return ordinals.slice(0, count).map((ordinal) => {
      const bytes = column.lookup(ordinal);
      return decodeUtf8(bytes, 0, bytes.length);
    });
  }

  /** Addresses may be given as text. */
  #termOf(field: string, term: string | Uint8Array): string | Uint8Array {
    if (typeof term !== "string" || this.segment.fieldEntry(field)?.column?.kind !== "ip") return term;
    return parseIp(term) ?? term;
  }
}
