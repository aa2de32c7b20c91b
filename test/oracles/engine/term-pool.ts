/**
 * The inverted index of a buffer: terms of all fields in one open-addressing hash table, the documents and positions
 * of each in slices of one growing byte pool (as Lucene's ByteSlicePool). No objects per term or posting. A term that
 * one document has costs no slice, which most log terms are. The twin of the kernel's terms.ts and occurrences.ts.
 */

import { HASH_PRIME, mixHash } from "#hub/engine/analysis/tokenizers/ascii-tokenizer.ts";
import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import type { PostingsList } from "#hub/engine/postings/postings-writer.ts";
import { NO_SLICE, SlicePool } from "./slice-pool.ts";
import { sortTerms } from "./term-order.ts";

/** Terms per slot of the hash table, at most. */
const MAX_LOAD = 0.5;

const INITIAL_TERMS = 1024;

/** No term. */
const NONE = -1;

/** Numbers kept per term; a struct of arrays so that a look-up touches few cache lines. */
interface TermColumns {
  hash: Uint32Array;
  field: Uint16Array;
  textAt: Uint32Array;
  textLength: Uint16Array;
  docFreq: Int32Array;
  /** Current document, its distance to the one before, its occurrences, its last position. */
  lastDoc: Int32Array;
  lastDelta: Int32Array;
  lastFreq: Int32Array;
  lastPosition: Int32Array;
  /** First and current write places of the slices; level of the current one. */
  docHead: Int32Array;
  docAt: Int32Array;
  docEnd: Int32Array;
  positionHead: Int32Array;
  positionAt: Int32Array;
  positionEnd: Int32Array;
  /** Position of the very first occurrence while there is no slice. */
  firstPosition: Int32Array;
}

/** Bytes that one term takes in the columns. */
const COLUMN_BYTES = 16 * 4;

/** Terms and postings of up to 65,536 fields. */
export class TermPool {
  /** Number of terms; ids are 0..size - 1 in the order of their first occurrence. */
  size = 0;
  #table = new Int32Array(INITIAL_TERMS * 4).fill(NONE);
  #text = new Uint8Array(16 * 1024);
  #textLength = 0;
  readonly #slices = new SlicePool();
  #terms = makeColumns(INITIAL_TERMS);

  /** Bytes in use. */
  get sizeBytes(): number {
    return this.#textLength + this.#slices.sizeBytes + this.size * COLUMN_BYTES + this.#table.byteLength;
  }

  /**
   * Records an occurrence of `bytes[0..length)` in `doc` (not below earlier ones) and returns the term's id. `hash`
   * must belong to field and bytes; `position` < 0: only the document counts, once.
   */
  add(
    field: number,
    bytes: Uint8Array,
    from: number,
    length: number,
    hash: number,
    doc: number,
    position: number,
  ): number {
    const id = this.#intern(field, bytes, from, length, hash);
    const terms = this.#terms;
    if (terms.docFreq[id] === 0) {
      terms.docFreq[id] = 1;
      terms.lastDoc[id] = doc;
      terms.lastDelta[id] = doc;
      terms.lastFreq[id] = 1;
      terms.firstPosition[id] = position;
      terms.lastPosition[id] = position;
      return id;
    }
    if (terms.lastDoc[id] !== doc) this.#nextDocument(id, doc);
    else if (position < 0) return id;
    else terms.lastFreq[id]!++;
    if (position >= 0) this.#writePosition(id, position);
    return id;
  }

  /** Puts a term in without a document, for columns of fields that aren't indexed. */
  intern(field: number, bytes: Uint8Array, from: number, length: number, hash: number): number {
    return this.#intern(field, bytes, from, length, hash);
  }

  /** Returns the ids of each field's terms in the order of their bytes, by field number. */
  sorted(fieldCount: number): Uint32Array[] {
    const { field } = this.#terms;
    const counts = new Uint32Array(fieldCount);
    for (let id = 0; id < this.size; id++) counts[field[id]!]!++;
    const lists = Array.from(counts, (count) => new Uint32Array(count));
    counts.fill(0);
    for (let id = 0; id < this.size; id++) lists[field[id]!]![counts[field[id]!]!++] = id;
    const { textAt: starts, textLength: lengths } = this.#terms;
    for (const list of lists) sortTerms(list, { bytes: this.#text, starts, lengths });
    return lists;
  }

  /** Bytes of a term; valid until the next `add`. */
  term(id: number): Uint8Array {
    const at = this.#terms.textAt[id]!;
    return this.#text.subarray(at, at + this.#terms.textLength[id]!);
  }

  /** Writes the documents of a term to `list`, which is cleared first; `withPositions` as it was added. */
  postings(id: number, withPositions: boolean, list: PostingsList): void {
    const terms = this.#terms;
    list.clear();
    const count = terms.docFreq[id]!;
    if (count === 0) return;
    const docs = this.#slices.reader(terms.docHead[id]!);
    let doc = 0;
    for (let index = 0; index < count - 1; index++) {
      const code = docs.varint();
      doc += code >>> 1;
      list.add(doc, code & 1 ? 1 : docs.varint());
    }
    list.add(terms.lastDoc[id]!, terms.lastFreq[id]!);
    if (withPositions) this.#positions(id, list);
  }

  #positions(id: number, list: PostingsList): void {
    const positions = this.#slices.reader(this.#terms.positionHead[id]!);
    let isFirst = true;
    for (let index = 0; index < list.count; index++) {
      let position = 0;
      for (let left = list.freqs[index]!; left > 0; left--) {
        position = isFirst ? this.#terms.firstPosition[id]! : position + positions.varint();
        isFirst = false;
        list.addPosition(position);
      }
    }
  }

  #nextDocument(id: number, doc: number): void {
    const terms = this.#terms;
    const freq = terms.lastFreq[id]!;
    const code = terms.lastDelta[id]! * 2 + (freq === 1 ? 1 : 0);
    if (terms.docHead[id] === NO_SLICE)
      terms.docHead[id] = terms.docAt[id] = this.#slices.start(terms.docEnd, id);
    this.#slices.varint(terms.docAt, terms.docEnd, id, code);
    if (freq !== 1) this.#slices.varint(terms.docAt, terms.docEnd, id, freq);
    terms.docFreq[id]!++;
    terms.lastDelta[id] = doc - terms.lastDoc[id]!;
    terms.lastDoc[id] = doc;
    terms.lastFreq[id] = 1;
    terms.lastPosition[id] = 0;
  }

  #writePosition(id: number, position: number): void {
    const terms = this.#terms;
    if (terms.positionHead[id] === NO_SLICE) {
      terms.positionHead[id] = terms.positionAt[id] = this.#slices.start(terms.positionEnd, id);
    }
    this.#slices.varint(terms.positionAt, terms.positionEnd, id, position - terms.lastPosition[id]!);
    terms.lastPosition[id] = position;
  }

  #intern(field: number, bytes: Uint8Array, from: number, length: number, hash: number): number {
    const terms = this.#terms;
    const mask = this.#table.length - 1;
    let slot = hash & mask;
    for (let id = this.#table[slot]!; id !== NONE; id = this.#table[slot]!) {
      if (terms.hash[id] === hash && terms.field[id] === field && this.#equals(id, bytes, from, length))
        return id;
      slot = (slot + 1) & mask;
    }
    return this.#insert(field, bytes, from, length, hash, slot);
  }

  #equals(id: number, bytes: Uint8Array, from: number, length: number): boolean {
    if (this.#terms.textLength[id] !== length) return false;
    const text = this.#text;
    const at = this.#terms.textAt[id]!;
    for (let index = 0; index < length; index++) if (text[at + index] !== bytes[from + index]) return false;
    return true;
  }

  #insert(
    field: number,
    bytes: Uint8Array,
    from: number,
    length: number,
    hash: number,
    slot: number,
  ): number {
    const id = this.size++;
    if (id === this.#terms.hash.length) this.#terms = growColumns(this.#terms, 2 * id);
    const terms = this.#terms;
    this.#text = grown(this.#text, this.#textLength + length);
    const text = this.#text;
    const at = this.#textLength;
    for (let index = 0; index < length; index++) text[at + index] = bytes[from + index]!;
    terms.hash[id] = hash;
    terms.field[id] = field;
    terms.textAt[id] = at;
    terms.textLength[id] = length;
    terms.docFreq[id] = 0;
    terms.docHead[id] = NO_SLICE;
    terms.positionHead[id] = NO_SLICE;
    this.#textLength = at + length;
    this.#table[slot] = id;
    if (this.size > this.#table.length * MAX_LOAD) this.#rehash();
    return id;
  }

  #rehash(): void {
    const table = new Int32Array(this.#table.length * 2).fill(NONE);
    const mask = table.length - 1;
    for (let id = 0; id < this.size; id++) {
      let slot = this.#terms.hash[id]! & mask;
      while (table[slot] !== NONE) slot = (slot + 1) & mask;
      table[slot] = id;
    }
    this.#table = table;
  }
}

function makeColumns(length: number): TermColumns {
  return {
    hash: new Uint32Array(length),
    field: new Uint16Array(length),
    textAt: new Uint32Array(length),
    textLength: new Uint16Array(length),
    docFreq: new Int32Array(length),
    lastDoc: new Int32Array(length),
    lastDelta: new Int32Array(length),
    lastFreq: new Int32Array(length),
    lastPosition: new Int32Array(length),
    docHead: new Int32Array(length),
    docAt: new Int32Array(length),
    docEnd: new Int32Array(length),
    positionHead: new Int32Array(length),
    positionAt: new Int32Array(length),
    positionEnd: new Int32Array(length),
    firstPosition: new Int32Array(length),
  };
}

function growColumns(old: TermColumns, length: number): TermColumns {
  const larger = makeColumns(length);
  for (const key of Object.keys(old) as (keyof TermColumns)[]) larger[key].set(old[key] as never);
  return larger;
}

/** Seed of a field's term hashes: fields don't share slots, and a start's own `seed` keeps chosen terms from colliding. */
export function fieldSeed(seed: number, field: number): number {
  return mixHash(Math.imul(seed ^ field, HASH_PRIME)) | 0;
}
