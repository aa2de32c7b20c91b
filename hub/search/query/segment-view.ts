/** A segment of which some fields are read from another one, or not at all. */

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

export abstract class SegmentView implements SegmentReader {
  /** The segment with the documents and all of its own fields. */
  readonly whole: SegmentReader;
  readonly docCount: number;
  readonly liveDocs: Bitset | null;
  readonly liveCount: number;
  readonly #key: string;

  /** `key` names the view among those of the segment. */
  constructor(whole: SegmentReader, key: string) {
    this.whole = whole;
    this.docCount = whole.docCount;
    this.liveDocs = whole.liveDocs;
    this.liveCount = whole.liveCount;
    this.#key = key;
  }

  /** Returns the segment that has a field, with the same documents; null: the field reads as absent. */
  protected abstract of(field: string): SegmentReader | null;

  get name(): string {
    return this.whole.name;
  }

  isLive(doc: number): boolean {
    return this.whole.isLive(doc);
  }

  terms(field: string): TermDictionary | null {
    return this.of(field)?.terms(field) ?? null;
  }

  postings(field: string, term: string | Uint8Array, options?: PostingsOptions): PostingsCursor | null {
    return this.of(field)?.postings(field, term, options) ?? null;
  }

  near(field: string, first: string, second: string, distance: number): Bitset | null | undefined {
    const segment = this.of(field);
    return segment === null ? null : segment.near(field, first, second, distance);
  }

  fieldStats(field: string): FieldStats | null {
    return this.of(field)?.fieldStats(field) ?? null;
  }

  norms(field: string): Uint8Array | null {
    return this.of(field)?.norms(field) ?? null;
  }

  numericColumn(field: string): NumericColumn | null {
    return this.of(field)?.numericColumn(field) ?? null;
  }

  keywordColumn(field: string): KeywordColumn | null {
    return this.of(field)?.keywordColumn(field) ?? null;
  }

  uninverted(field: string): KeywordColumn | null {
    return this.of(field)?.uninverted(field) ?? null;
  }

  *openKeys(paths: Iterable<string>): Generator<void, unknown> {
    const held: unknown[] = [];
    for (const path of paths) held.push(yield* this.of(path)?.openKeys([path]) ?? []);
    return held;
  }

  geoColumn(field: string): GeoColumn | null {
    return this.of(field)?.geoColumn(field) ?? null;
  }

  exists(field: string): Bitset | null {
    return this.of(field)?.exists(field) ?? null;
  }

  remembered<T extends Bitset | null | undefined>(key: string, find: () => T): T | Bitset | null {
    // The same condition over other fields may have found other documents.
    return this.whole.remembered(`${this.#key}>${key}`, find);
  }

  fieldNames(): string[] {
    return this.whole.fieldNames().filter((field) => this.of(field) !== null);
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
}
