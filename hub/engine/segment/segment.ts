/** A sealed segment, whose parts are opened on demand. Its readers have the set of live documents. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";
import { BlockColumn } from "#hub/engine/columns/block-column.ts";
import { Dictionary } from "#hub/engine/dictionary/dictionary.ts";
import type { SegmentFile } from "#hub/engine/files/segment-file.ts";
import { isKeyedPath, KEY_END, keyedPath } from "#hub/engine/mapping/field.ts";
import type { GeoColumn, KeywordColumn, NumericColumn } from "#hub/engine/searcher/searcher.ts";
import { isLasting, StoredReader } from "#hub/engine/stored/stored.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import { decodeUtf8 } from "../json/text.ts";
import { GeoColumnView, KeywordColumnView, NumericColumnView } from "./columns.ts";
import type { FieldEntry, SegmentDirectory } from "./directory.ts";
import { filterCache } from "./filter-cache.ts";
import { IdIndex } from "./id-index.ts";
import { atOnce, KeyedColumn, KeyedDictionary } from "./keyed-field.ts";
import { nestedCache } from "./nested-cache.ts";
import { readPresence } from "./presence.ts";
import { fieldDataCache } from "./uninverted-column.ts";

/** Parts that have been opened; dropped as a whole to give memory back. */
interface OpenParts {
  readonly dictionaries: Map<string, Dictionary>;
  readonly presence: Map<string, Bitset | null>;
  readonly columns: Map<string, NumericColumn | KeywordColumn | GeoColumn>;
  /** Keys of flattened fields that were asked for last, MAX_KEYS at most. */
  readonly keys: Map<string, FlattenedKey>;
  source?: StoredReader;
  ids?: StoredReader;
  idIndex?: IdIndex;
  version?: BlockColumn;
  seqNo?: BlockColumn;
}

/** What distinguishes the forms of a block. */
const MAGIC_BYTES = 4;

/** Keys of flattened fields that stay open: each has a bit for each document. */
const MAX_KEYS = 64;

/** A key of a flattened field. */
interface FlattenedKey {
  /** The field of all keys. */
  readonly field: string;
  readonly dictionary: KeyedDictionary;
  /** Undefined: not opened yet, null: the field has none. */
  column: KeyedColumn | null | undefined;
}

/** Immutable documents with their index. Counted references keep its file open until the last reader is gone. */
export class Segment {
  readonly name: string;
  readonly docCount: number;
  #file: SegmentFile;
  readonly #directory: SegmentDirectory;
  /** Whether there are flattened fields. */
  readonly #hasKeys: boolean;
  #parts: OpenParts = emptyParts();
  #isFresh: boolean | undefined;
  #references = 1;

  /** Takes `file` over. */
  constructor(file: SegmentFile) {
    this.name = file.name;
    this.#file = file;
    this.#directory = file.directory as SegmentDirectory;
    this.docCount = this.#directory.docs;
    this.#hasKeys = this.fieldNames().some(isKeyedPath);
  }

  /** Size of the segment, bytes. */
  get checksum(): number {
    return this.#file.checksum;
  }

  get sizeBytes(): number {
    return this.#file.sizeBytes;
  }

  /** Whether documents are packed as they arrived: a merge makes them about half as big. Undefined until `readIsFresh`. */
  get isFresh(): boolean | undefined {
    return this.#isFresh;
  }

  /** Finds out by the first block of documents whether the segment is fresh. Throws data_corrupt, once. */
  readIsFresh(): void {
    this.#isFresh = false;
    const { data } = this.#directory.source;
    this.#isFresh = data[1] > 0 && !isLasting(this.#file.read(data, 0, MAGIC_BYTES));
  }

  /** Continues with the same bytes from another source, a file instead of memory. */
  replaceFile(file: SegmentFile): void {
    this.#closeParts();
    this.#file.close();
    this.#file = file;
  }

  /** Checks every byte. Throws data_corrupt. */
  verify(): void {
    this.#file.verify();
  }

  /** Keeps the segment readable until `release`. */
  retain(): this {
    this.#references++;
    return this;
  }

  release(): void {
    if (--this.#references > 0) return;
    filterCache().drop(this);
    fieldDataCache().drop(this);
    nestedCache().drop(this);
    this.#closeParts();
    this.#file.close();
  }

  #closeParts(): void {
    this.#parts.source?.close();
    this.#parts.ids?.close();
    this.#parts = emptyParts();
  }

  fieldEntry(field: string): FieldEntry | undefined {
    return Object.hasOwn(this.#directory.fields, field) ? this.#directory.fields[field] : undefined;
  }

  fieldNames(): string[] {
    return Object.keys(this.#directory.fields);
  }

  dictionary(field: string): Dictionary | null {
    const open = this.#parts.dictionaries.get(field);
    if (open !== undefined) return open;
    const entry = this.fieldEntry(field);
    if (entry?.terms === undefined) return null;
    const made = new Dictionary(this.#file, entry.terms, this.docCount, () => this.norms(field));
    this.#parts.dictionaries.set(field, made);
    return made;
  }

  /** The terms of a key of a flattened field by its path; null for other paths. */
  keyedDictionary(path: string): KeyedDictionary | null {
    return this.#key(path)?.dictionary ?? null;
  }

  /** The field that has the terms of a path's key; undefined for other paths. */
  keyedField(path: string): string | undefined {
    return this.#key(path)?.field;
  }

  /** The values of a key by document. */
  keyedColumn(path: string): KeyedColumn | null {
    const key = this.#key(path);
    if (key === null) return null;
    if (key.column === undefined) atOnce(this.openKey(path));
    return key.column ?? null;
  }

  /** Opens the values of a key in steps, and returns its documents, which are to be held as long as they are needed. */
  *openKey(path: string): Generator<void, Bitset | null> {
    const key = this.#key(path);
    if (key === null || key.column === null) return null;
    if (key.column !== undefined) return key.column.presence;
    const all = this.column(key.field);
    const isThere = key.dictionary.size > 0 && all !== null && "ordOf" in all;
    if (!isThere) {
      key.column = null;
      return null;
    }
    const { column, presence } = yield* KeyedColumn.open(all, key.dictionary, this.docCount);
    key.column = column;
    return presence;
  }

  #key(path: string): FlattenedKey | null {
    if (!this.#hasKeys || path.includes(KEY_END) || this.fieldEntry(path) !== undefined) return null;
    const { keys } = this.#parts;
    const open = keys.get(path);
    if (open !== undefined) return open;
    for (let dot = path.indexOf("."); dot > 0; dot = path.indexOf(".", dot + 1)) {
      const field = keyedPath(path.slice(0, dot));
      const all = this.dictionary(field);
      if (all === null) continue;
      const dictionary = new KeyedDictionary(all, path.slice(dot + 1));
      const made: FlattenedKey = { field, dictionary, column: undefined };
      setNewest(keys, path, made, MAX_KEYS);
      return made;
    }
    return null;
  }

  norms(field: string): Uint8Array | null {
    const extent = this.fieldEntry(field)?.norms;
    if (extent === undefined) return null;
    return this.#file.cached(extent);
  }

  /** Documents with a field: null for all, undefined for none. */
  presence(field: string): Bitset | null | undefined {
    const open = this.#parts.presence.get(field);
    if (open !== undefined) return open;
    const entry = this.fieldEntry(field);
    if (entry === undefined) return undefined;
    const presence = readPresence(this.#file, entry.presence, this.docCount);
    this.#parts.presence.set(field, presence);
    return presence;
  }

  /** Documents with a field as a set; null for none. */
  exists(field: string): Bitset | null {
    const presence = this.presence(field);
    return presence === null ? Bitset.full(this.docCount) : (presence ?? null);
  }

  column(field: string): NumericColumn | KeywordColumn | GeoColumn | null {
    const open = this.#parts.columns.get(field);
    if (open !== undefined) return open;
    const made = this.#openColumn(field);
    if (made !== null) this.#parts.columns.set(field, made);
    return made;
  }

  /** Numbers of a column as they are kept (terms as ordinals, degrees as steps), for merges. */
  rawColumn(field: string, part: "values" | "longitudes" = "values"): BlockColumn | null {
    const entry = this.fieldEntry(field)?.column?.[part];
    if (entry === undefined) return null;
    return new BlockColumn(this.#file, entry, this.docCount, this.presence(field) ?? null);
  }

  /** What is kept of each document whatever its fields are, for merges. */
  documentColumn(part: "version" | "seqNo"): BlockColumn {
    return new BlockColumn(this.#file, this.#directory[part], this.docCount, null);
  }

  /** All stored bytes, block by block, for merges. */
  stored(part: "source" | "ids"): StoredReader {
    return new StoredReader(this.#file, this.#directory[part]);
  }

  source(doc: number): Uint8Array {
    this.#parts.source ??= this.stored("source");
    return this.#parts.source.get(doc);
  }

  idBytes(doc: number): Uint8Array {
    this.#parts.ids ??= this.stored("ids");
    return this.#parts.ids.get(doc);
  }

  id(doc: number): string {
    const bytes = this.idBytes(doc);
    return decodeUtf8(bytes, 0, bytes.length);
  }

  version(doc: number): number {
    this.#parts.version ??= this.documentColumn("version");
    return this.#parts.version.first(doc);
  }

  seqNo(doc: number): number {
    this.#parts.seqNo ??= this.documentColumn("seqNo");
    return this.#parts.seqNo.first(doc);
  }

  /** Document with the id that `accept` accepts, or -1. */
  find(id: string | Uint8Array, accept: (doc: number) => boolean): number {
    const bytes = toBytes(id);
    this.#parts.idIndex ??= new IdIndex(this.#file, this.#directory.idIndex);
    return this.#parts.idIndex.find(
      bytes,
      (doc) => doc < this.docCount && accept(doc) && equal(this.idBytes(doc), bytes),
    );
  }

  #openColumn(field: string): NumericColumn | KeywordColumn | GeoColumn | null {
    const entry = this.fieldEntry(field);
    if (entry?.column === undefined) return null;
    const presence = this.presence(field) ?? null;
    const docs = entry.presence.count;
    const { kind, values, longitudes } = entry.column;
    const blocks = new BlockColumn(this.#file, values, this.docCount, presence);
    if (kind === "geo") {
      return new GeoColumnView(
        blocks,
        new BlockColumn(this.#file, longitudes!, this.docCount, presence),
        docs,
      );
    }
    if (kind !== "keyword" && kind !== "ip") return new NumericColumnView(kind, blocks, docs);
    return new KeywordColumnView(kind, blocks, docs, this.dictionary(field)!);
  }
}

function emptyParts(): OpenParts {
  return { dictionaries: new Map(), presence: new Map(), columns: new Map(), keys: new Map() };
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
