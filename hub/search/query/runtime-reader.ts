/** A segment with a field more, which another segment of the same documents holds. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
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

/** Shows `field` of `computed` in place of one of that name in `base`, and all else of `base`. */
export class RuntimeReader implements SegmentReader {
  readonly docCount: number;
  readonly liveDocs: Bitset | null;
  readonly liveCount: number;
  readonly #base: SegmentReader;
  readonly #computed: SegmentReader | null;
  readonly #field: string;
  readonly #key: string;

  /** `computed`: null where there are no documents; `key` names how the field was computed. */
  constructor(base: SegmentReader, computed: SegmentReader | null, field: string, key: string) {
    this.#base = base;
    this.#computed = computed;
    this.#field = field;
    this.#key = key;
    this.docCount = base.docCount;
    this.liveDocs = base.liveDocs;
    this.liveCount = base.liveCount;
  }

  get name(): string {
    return this.#base.name;
  }

  isLive(doc: number): boolean {
    return this.#base.isLive(doc);
  }

  terms(field: string): TermDictionary | null {
    return this.#of(field)?.terms(field) ?? null;
  }

  postings(field: string, term: string | Uint8Array, options?: PostingsOptions): PostingsCursor | null {
    return this.#of(field)?.postings(field, term, options) ?? null;
  }

  near(field: string, first: string, second: string, distance: number): Bitset | null | undefined {
    return this.#base.near(field, first, second, distance);
  }

  fieldStats(field: string): FieldStats | null {
    return this.#of(field)?.fieldStats(field) ?? null;
  }

  norms(field: string): Uint8Array | null {
    return this.#of(field)?.norms(field) ?? null;
  }

  numericColumn(field: string): NumericColumn | null {
    return this.#of(field)?.numericColumn(field) ?? null;
  }

  keywordColumn(field: string): KeywordColumn | null {
    return this.#of(field)?.keywordColumn(field) ?? null;
  }

  uninverted(field: string): KeywordColumn | null {
    return this.#of(field)?.uninverted(field) ?? null;
  }

  geoColumn(field: string): GeoColumn | null {
    return this.#of(field)?.geoColumn(field) ?? null;
  }

  exists(field: string): Bitset | null {
    return this.#of(field)?.exists(field) ?? null;
  }

  remembered<T extends Bitset | null | undefined>(key: string, find: () => T): T | Bitset | null {
    // The same condition without the field may have found other documents.
    return this.#base.remembered(`${this.#key}>${key}`, find);
  }

  fieldNames(): string[] {
    const names = this.#base.fieldNames().filter((field) => field !== this.#field);
    return this.exists(this.#field) === null ? names : [...names, this.#field];
  }

  source(doc: number): Uint8Array {
    return this.#base.source(doc);
  }

  id(doc: number): string {
    return this.#base.id(doc);
  }

  version(doc: number): number {
    return this.#base.version(doc);
  }

  seqNo(doc: number): number {
    return this.#base.seqNo(doc);
  }

  routing(doc: number): string | undefined {
    return this.#base.routing(doc);
  }

  ignored(doc: number): readonly string[] {
    return this.#base.ignored(doc);
  }

  docOf(id: string): number {
    return this.#base.docOf(id);
  }

  #of(field: string): SegmentReader | null {
    return field === this.#field ? this.#computed : this.#base;
  }
}
