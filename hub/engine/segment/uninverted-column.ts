/**
 * The terms of a text field by document (`fielddata`): built in memory from the field's postings, because text has no
 * column. A search sorts by the first or last term of a document.
 */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { BoundedCache } from "#hub/engine/bytes/bounded-cache.ts";
import type { Dictionary } from "#hub/engine/dictionary/dictionary.ts";
import {
  COLUMN_BLOCK,
  type DocRun,
  type KeywordColumn,
  NO_MORE_DOCS,
  type TermReader,
  type ValueBlock,
} from "#hub/engine/searcher/searcher.ts";
import { AppError } from "#proto/kit/errors.ts";
import { decodeUtf8 } from "../json/text.ts";

/** Largest column of one segment, bytes: about eight million terms of documents. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Bytes of all columns. */
const LIMIT_BYTES = 128 * 1024 * 1024;

/** What a column is made of. */
interface Uninvertible {
  /** Path of the field, for messages. */
  readonly field: string;
  readonly docCount: number;
  /** Sum of the document frequencies of all terms. */
  readonly sumDocFreq: number;
  readonly dictionary: Dictionary;
  /** Documents with a value; null for all. */
  readonly presence: Bitset | null;
}

/** See the file's comment. Immutable. */
export class UninvertedColumn implements KeywordColumn {
  readonly kind = "keyword";
  readonly docCount: number;
  readonly valueCount: number;
  readonly multiValued: boolean;
  readonly presence: Bitset | null;
  readonly blockCount: number;
  readonly #docs: number;
  readonly #dictionary: Dictionary;
  /** Ordinals of document d are #ordinals[#starts[d]..#starts[d + 1]), ascending. */
  readonly #starts: Int32Array;
  readonly #ordinals: Int32Array;

  /** Throws memory_limit if it would take more than 32 MiB. */
  constructor({ field, docCount, sumDocFreq, dictionary, presence }: Uninvertible) {
    const needed = 4 * (docCount + 1 + sumDocFreq);
    if (needed > MAX_BYTES) {
      throw new AppError(
        "memory_limit",
        `[fielddata] Data too large: [${field}] would take ${needed} bytes of a segment, more than the limit of ${MAX_BYTES}; use a keyword field`,
      );
    }
    this.#docs = docCount;
    this.#dictionary = dictionary;
    this.presence = presence;
    this.#starts = startsOf(dictionary, docCount);
    this.#ordinals = new Int32Array(this.#starts[docCount]!);
    this.#fill();
    this.valueCount = this.#ordinals.length;
    this.docCount = presence?.count() ?? docCount;
    this.multiValued = this.valueCount > this.docCount;
    this.blockCount = Math.ceil(docCount / COLUMN_BLOCK);
  }

  get sizeBytes(): number {
    return this.#starts.byteLength + this.#ordinals.byteLength;
  }

  get cardinality(): number {
    return this.#dictionary.size;
  }

  lookup(ordinal: number): Uint8Array {
    return this.#dictionary.lookup(ordinal);
  }

  text(ordinal: number): string {
    return textOf(this.lookup(ordinal));
  }

  reader(): TermReader {
    const bytes = this.#dictionary.reader();
    return { bytes, text: (ordinal) => textOf(bytes(ordinal)) };
  }

  ordOf(term: string | Uint8Array): number {
    return this.#dictionary.ordOf(term);
  }

  first(doc: number): number {
    const start = this.#starts[doc]!;
    return start < this.#starts[doc + 1]! ? this.#ordinals[start]! : -1;
  }

  read(doc: number, out: number[]): number {
    const start = this.#starts[doc]!;
    const count = this.#starts[doc + 1]! - start;
    for (let at = 0; at < count; at++) out[at] = this.#ordinals[start + at]!;
    return count;
  }

  blockMin(block: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (let at = this.#blockStart(block); at < this.#blockStart(block + 1); at++)
      least = Math.min(least, this.#ordinals[at]!);
    return least;
  }

  blockMax(block: number): number {
    let most = Number.NEGATIVE_INFINITY;
    for (let at = this.#blockStart(block); at < this.#blockStart(block + 1); at++)
      most = Math.max(most, this.#ordinals[at]!);
    return most;
  }

  decodeBlock(block: number, out: Int32Array): number {
    const from = block * COLUMN_BLOCK;
    const count = Math.min(COLUMN_BLOCK, this.#docs - from);
    for (let slot = 0; slot < count; slot++) out[slot] = this.first(from + slot);
    return count;
  }

  decodeValues(block: number, out: ValueBlock): number {
    const from = block * COLUMN_BLOCK;
    const start = this.#blockStart(block);
    const count = this.#blockStart(block + 1) - start;
    if (out.values.length < count) {
      out.values = new Float64Array(count);
      out.slots = new Uint16Array(count);
    }
    for (let at = 0, doc = from; at < count; at++) {
      while (this.#starts[doc + 1]! <= start + at) doc++;
      out.values[at] = this.#ordinals[start + at]!;
      out.slots[at] = doc - from;
    }
    return count;
  }

  count(_run: DocRun, _counts: Int32Array, _offset: number): boolean {
    return false;
  }

  choose(): number {
    return -1;
  }

  #blockStart(block: number): number {
    return this.#starts[Math.min(block * COLUMN_BLOCK, this.#docs)]!;
  }

  /** Terms come in the order of their ordinals, and so do those of each document. */
  #fill(): void {
    const next = this.#starts.slice(0, this.#docs);
    const terms = this.#dictionary.range();
    for (let ordinal = 0; terms.next(); ordinal++) {
      const postings = terms.postings();
      for (let doc = postings.next(); doc !== NO_MORE_DOCS; doc = postings.next())
        this.#ordinals[next[doc]!++] = ordinal;
    }
  }
}

/** Counts each document's terms, and adds up. */
function startsOf(dictionary: Dictionary, docCount: number): Int32Array {
  const starts = new Int32Array(docCount + 1);
  const terms = dictionary.range();
  while (terms.next()) {
    const postings = terms.postings();
    for (let doc = postings.next(); doc !== NO_MORE_DOCS; doc = postings.next()) starts[doc + 1]!++;
  }
  for (let doc = 0; doc < docCount; doc++) starts[doc + 1]! += starts[doc]!;
  return starts;
}

function textOf(bytes: Uint8Array): string {
  return decodeUtf8(bytes, 0, bytes.length);
}

/**
 * Uninverted text fields of the segments of a thread, those used last; what is evicted is made again when it is needed.
 */
export class FieldDataCache extends BoundedCache<string, UninvertedColumn> {
  constructor(limitBytes = LIMIT_BYTES) {
    super(limitBytes);
  }

  /** Returns the column of a field of a segment; `make` makes it where it isn't here. */
  open(segment: object, field: string, make: () => UninvertedColumn): UninvertedColumn {
    const known = this.get(segment, field);
    if (known !== undefined) return known;
    const made = make();
    this.put(segment, field, made);
    return made;
  }
}

let ofThread: FieldDataCache | undefined;

/** Returns the cache of this thread. */
export function fieldDataCache(): FieldDataCache {
  return (ofThread ??= new FieldDataCache());
}
