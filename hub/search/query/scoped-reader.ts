/** A segment without the fields of nested objects: those aren't fields of the document around them, nor the reverse. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { NestedLevels } from "#hub/engine/mapping/nested-levels.ts";
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

/** Shows the fields of one level of a mapping's nested objects; the others read as absent. */
export class ScopedReader implements SegmentReader {
  /** The segment with all fields. */
  readonly whole: SegmentReader;
  readonly docCount: number;
  readonly liveDocs: Bitset | null;
  readonly liveCount: number;
  readonly #levels: NestedLevels;
  readonly #level: string;

  /** `level`: path of the nested object that the documents are, "" for whole documents. */
  constructor(whole: SegmentReader, levels: NestedLevels, level: string) {
    this.whole = whole;
    this.docCount = whole.docCount;
    this.liveDocs = whole.liveDocs;
    this.liveCount = whole.liveCount;
    this.#levels = levels;
    this.#level = level;
  }

  get name(): string {
    return this.whole.name;
  }

  isLive(doc: number): boolean {
    return this.whole.isLive(doc);
  }

  terms(field: string): TermDictionary | null {
    return this.#has(field) ? this.whole.terms(field) : null;
  }

  postings(field: string, term: string | Uint8Array, options?: PostingsOptions): PostingsCursor | null {
    return this.#has(field) ? this.whole.postings(field, term, options) : null;
  }

  near(field: string, first: string, second: string, distance: number): Bitset | null | undefined {
    return this.#has(field) ? this.whole.near(field, first, second, distance) : null;
  }

  fieldStats(field: string): FieldStats | null {
    return this.#has(field) ? this.whole.fieldStats(field) : null;
  }

  norms(field: string): Uint8Array | null {
    return this.#has(field) ? this.whole.norms(field) : null;
  }

  numericColumn(field: string): NumericColumn | null {
    return this.#has(field) ? this.whole.numericColumn(field) : null;
  }

  keywordColumn(field: string): KeywordColumn | null {
    return this.#has(field) ? this.whole.keywordColumn(field) : null;
  }

  uninverted(field: string): KeywordColumn | null {
    return this.#has(field) ? this.whole.uninverted(field) : null;
  }

  geoColumn(field: string): GeoColumn | null {
    return this.#has(field) ? this.whole.geoColumn(field) : null;
  }

  exists(field: string): Bitset | null {
    return this.#has(field) ? this.whole.exists(field) : null;
  }

  remembered<T extends Bitset | null | undefined>(key: string, find: () => T): T | Bitset | null {
    // The same condition over all fields may have found other documents.
    return this.whole.remembered(`${this.#level}>${key}`, find);
  }

  fieldNames(): string[] {
    return this.whole.fieldNames().filter((field) => this.#has(field));
  }

  source(doc: number): Uint8Array {
    return this.whole.source(doc);
  }

  id(doc: number): string {
    return this.whole.id(doc);
  }

  version(doc: number): number {
    return this.whole.version(doc);
  }

  seqNo(doc: number): number {
    return this.whole.seqNo(doc);
  }

  routing(doc: number): string | undefined {
    return this.whole.routing(doc);
  }

  ignored(doc: number): readonly string[] {
    return this.whole.ignored(doc);
  }

  docOf(id: string): number {
    return this.whole.docOf(id);
  }

  #has(field: string): boolean {
    return this.#levels.isVisible(field, this.#level);
  }
}
