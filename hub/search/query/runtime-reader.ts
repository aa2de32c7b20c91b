/**
 * A segment with an additional field, which another segment of the same documents contains, and the handling of
 * documents for which that field could not be computed.
 */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type {
  GeoColumn,
  KeywordColumn,
  NumericColumn,
  PostingsCursor,
  PostingsOptions,
  SegmentReader,
  TermDictionary,
} from "#hub/engine/searcher/searcher.ts";
import type { FailedDocuments, NestedBlock } from "#hub/engine/segment/nested-cache.ts";
import type { Weight } from "./query.ts";
import type { SearchControl } from "./search-control.ts";
import { SegmentView } from "./segment-view.ts";

/** Methods of columns that read one document, which they are given first. */
const OF_ONE: ReadonlySet<string> = new Set(["read", "readExact", "first"]);
/** What columns don't say of a document. What isn't named here depends on documents, whether they match or not. */
const OF_NONE: ReadonlySet<string> = new Set([
  "kind",
  "safe",
  "multiValued",
  "lookup",
  "text",
  "reader",
  "ordOf",
]);

/** Shows `field` of `computed` in place of one of that name in the segment, and all else of the segment. */
export class RuntimeReader extends SegmentView {
  readonly #computed: SegmentReader | null;
  readonly #field: string;
  /** The field, if it couldn't be computed for some documents. */
  readonly failing: FailingField | undefined;

  /** `key` names how the field was computed. */
  constructor(whole: SegmentReader, { objects, failed }: NestedBlock, field: string, key: string) {
    super(whole, key);
    if (objects !== null && failed !== undefined) this.failing = new FailingField(whole, objects, failed);
    this.#computed = this.failing ?? objects;
    this.#field = field;
  }

  override fieldNames(): string[] {
    const names = this.whole.fieldNames().filter((field) => field !== this.#field);
    return this.#computed?.fieldNames().includes(this.#field) === true ? [...names, this.#field] : names;
  }

  protected override of(field: string): SegmentReader | null {
    return field === this.#field ? this.#computed : this.whole;
  }
}

/** Returns the computed fields of a segment that some documents have failed for. */
export function failingFields(segment: SegmentReader): FailingField[] {
  const found: FailingField[] = [];
  for (let view: SegmentReader | undefined = segment; view !== undefined; view = view.whole)
    if (view instanceof RuntimeReader && view.failing !== undefined) found.push(view.failing);
  return found;
}

/**
 * A computed field that failed for some documents. Fields are computed before a search, not when they are read, so the
 * search fails only if it needs one of these documents.
 */
export class FailingField extends SegmentView {
  readonly #failed: FailedDocuments;
  /** Live documents that have failed. */
  readonly failed: Bitset;
  /** True while columns are requested only for documents that match. */
  isCollected = false;
  /** True once columns were read for them. */
  wasRead = false;

  /** `segment`: the documents; `computed`: the field of each. */
  constructor(segment: SegmentReader, computed: SegmentReader, failed: FailedDocuments) {
    super(computed, "failing");
    this.#failed = failed;
    this.failed = failed.docs.clone();
    if (segment.liveDocs !== null) this.failed.and(segment.liveDocs);
  }

  /** Throws what the script of a document threw. */
  refuse(): never {
    throw this.#failed.error;
  }

  override terms(field: string): TermDictionary | null {
    this.#readMany(this.isCollected);
    return super.terms(field);
  }

  override postings(
    field: string,
    term: string | Uint8Array,
    options?: PostingsOptions,
  ): PostingsCursor | null {
    this.#readMany(this.isCollected);
    return super.postings(field, term, options);
  }

  override near(field: string, first: string, second: string, distance: number): Bitset | null | undefined {
    this.#readMany(this.isCollected);
    return super.near(field, first, second, distance);
  }

  override exists(field: string): Bitset | null {
    this.#readMany(this.isCollected);
    return super.exists(field);
  }

  override numericColumn(field: string): NumericColumn | null {
    return this.#guarded(super.numericColumn(field));
  }

  override keywordColumn(field: string): KeywordColumn | null {
    return this.#guarded(super.keywordColumn(field));
  }

  override geoColumn(field: string): GeoColumn | null {
    return this.#guarded(super.geoColumn(field));
  }

  protected override of(): SegmentReader {
    return this.whole;
  }

  /** If only matching documents are read, failures are checked later, once these documents are known. */
  #readMany(isCollected: boolean): void {
    if (isCollected) this.wasRead = true;
    else if (this.failed.nextSet(0) >= 0) this.refuse();
  }

  #guarded<T extends object>(column: T | null): T | null {
    if (column === null) return null;
    const { isCollected } = this;
    // Not the column itself in disguise: others of its class would look for its private members.
    return new Proxy({} as T, {
      get: (_, name) => {
        const value: unknown = Reflect.get(column, name, column);
        const isOfOne = OF_ONE.has(String(name));
        if (!isOfOne && !OF_NONE.has(String(name))) this.#readMany(isCollected);
        if (typeof value !== "function") return value;
        return (...given: readonly unknown[]): unknown => {
          if (isOfOne && this.failed.has(given[0] as number)) this.refuse();
          return value.apply(column, given) as unknown;
        };
      },
    });
  }
}

/** Lets those who see only matching documents ask for columns; returns the fields that must be checked afterwards. */
export function bindCollectors(segment: SegmentReader, bind: () => void): readonly FailingField[] {
  const fields = failingFields(segment);
  for (const field of fields) field.isCollected = true;
  bind();
  for (const field of fields) field.isCollected = false;
  return fields;
}

/** Throws script_failed if a field was read, and a document matches for which it failed; cancelled. */
export async function checkFailed(
  fields: readonly FailingField[],
  weight: Weight,
  segment: SegmentReader,
  control: SearchControl,
): Promise<void> {
  for (const field of fields) {
    const scorer = field.wasRead && !control.timedOut ? weight.scorer(segment) : null;
    if (scorer === null) continue;
    for (let doc = field.failed.nextSet(0); doc >= 0; doc = field.failed.nextSet(doc + 1)) {
      if (scorer.has(doc)) field.refuse();
      if (control.isDue) await control.pause();
    }
  }
}
