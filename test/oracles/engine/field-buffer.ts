/** What a buffer holds of one field beside its terms: documents, norms, column values. */

import type { Token } from "#hub/engine/analysis/parts/token.ts";
import { hashTerm, type TermSink, tokenizeAscii } from "#hub/engine/analysis/tokenizers/ascii-tokenizer.ts";
import { type BufferedField, MAX_TEXT_TERM_BYTES } from "#hub/engine/buffer/buffered-fields.ts";
import { FloatList, grown, IntList } from "#hub/engine/bytes/byte-buffer.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";
import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { lengthToNorm } from "#hub/engine/searcher/similarity.ts";
import { LATITUDE_STEP, LONGITUDE_STEP } from "#hub/engine/segment/columns.ts";
import type { FieldEntry } from "#hub/engine/segment/directory.ts";
import { writeFieldColumn } from "#hub/engine/segment/field-column.ts";
import type { TermPool } from "./term-pool.ts";

/** Values of one field in one buffer. */
export class FieldBuffer implements BufferedField, TermSink {
  readonly field: Field;
  /** Number within the buffer. */
  readonly number: number;
  /** Documents with the field, ascending, each once. */
  readonly docs = new IntList();
  readonly #pool: TermPool;
  /** Seed of its terms' hashes. */
  readonly #seed: number;
  #norms = new Uint8Array(0);
  /** Document of the last text value, its tokens so far, the position that follows. */
  #textDoc = -1;
  #textLength = 0;
  #nextPosition = 0;
  /** Column values: numbers or term ids, and the longitudes of points. */
  readonly #valueDocs = new IntList();
  readonly #values = new FloatList();
  readonly #longitudes = new FloatList();
  /** Set once a whole number doesn't fit 2^53: then all values are here. */
  #exact: bigint[] | null = null;

  constructor(field: Field, number: number, seed: number, pool: TermPool) {
    this.field = field;
    this.number = number;
    this.#seed = seed;
    this.#pool = pool;
  }

  /** Bytes held. */
  get sizeBytes(): number {
    return (
      4 * (this.docs.length + this.#valueDocs.length) +
      8 * (this.#values.length + this.#longitudes.length) +
      this.#norms.length +
      (this.#exact?.length ?? 0) * 24
    );
  }

  addAsciiText(doc: number, bytes: Uint8Array, from: number, to: number): void {
    const start = this.#startText(doc);
    const next = tokenizeAscii(bytes, from, to, this.#seed, start, this);
    this.#endText(doc, next - start, next);
  }

  addTokens(doc: number, tokens: Iterable<Token>): void {
    const start = this.#startText(doc);
    let count = 0;
    let last = -1;
    for (const token of tokens) {
      const bytes = toBytes(token.text);
      if (bytes.length === 0 || bytes.length > MAX_TEXT_TERM_BYTES) continue;
      const hash = hashTerm(bytes, 0, bytes.length, this.#seed);
      this.#pool.add(this.number, bytes, 0, bytes.length, hash, doc, start + token.position);
      // Tokens at one position count once, as with discount_overlaps.
      if (token.position !== last) count++;
      last = token.position;
    }
    this.#endText(doc, count, start + last + 1);
  }

  /** Takes a word of the tokenizer. */
  term(bytes: Uint8Array, length: number, hash: number, position: number): void {
    this.#pool.add(this.number, bytes, 0, length, hash, this.#textDoc, position);
  }

  addKeyword(doc: number, bytes: Uint8Array, from: number, to: number): void {
    const hash = hashTerm(bytes, from, to - from, this.#seed);
    const id = this.field.index
      ? this.#pool.add(this.number, bytes, from, to - from, hash, doc, -1)
      : this.#pool.intern(this.number, bytes, from, to - from, hash);
    if (this.field.docValues) this.addNumber(doc, id);
    else this.#present(doc);
  }

  addNumber(doc: number, value: number): void {
    this.#present(doc);
    this.#valueDocs.push(doc);
    if (this.#exact === null) this.#values.push(value);
    else this.#exact.push(BigInt(value));
  }

  addExact(doc: number, value: bigint): void {
    this.#present(doc);
    this.#valueDocs.push(doc);
    this.#exact ??= Array.from(this.#values.view(), BigInt);
    this.#exact.push(value);
  }

  addPoint(doc: number, latitude: number, longitude: number): void {
    this.#present(doc);
    this.#valueDocs.push(doc);
    this.#values.push(latitudeSteps(latitude));
    this.#longitudes.push(longitudeSteps(longitude));
  }

  /** Norms of all documents of the segment, or null for a field without. */
  allNorms(docCount: number): Uint8Array | null {
    if (!this.field.norms) return null;
    this.#norms = grown(this.#norms, docCount);
    return this.#norms.subarray(0, docCount);
  }

  /** Writes the column, if there is one. `ordinals`: from term id to ordinal, for keywords and addresses. */
  writeColumn(file: SegmentFileWriter, docCount: number, ordinals: Int32Array): FieldEntry["column"] {
    const values = this.#values.view();
    if (this.field.type === "keyword" || this.field.type === "ip") {
      for (let index = 0; index < values.length; index++) values[index] = ordinals[values[index]!]!;
    }
    const column = {
      docs: this.#valueDocs.view(),
      values,
      longitudes: this.#longitudes.view(),
      exact: this.#exact,
      isSingle: this.#valueDocs.length === this.docs.length,
    };
    return writeFieldColumn(file, this.field, column, docCount);
  }

  #present(doc: number): void {
    if (this.docs.length === 0 || this.docs.values[this.docs.length - 1] !== doc) this.docs.push(doc);
  }

  /** Starts a text value; returns the position of its first token. */
  #startText(doc: number): number {
    this.#present(doc);
    if (this.#textDoc === doc) return this.#nextPosition + this.field.positionIncrementGap;
    this.#textDoc = doc;
    this.#textLength = 0;
    this.#nextPosition = 0;
    return 0;
  }

  /** Ends a text value of `tokens` tokens; `nextPosition` follows its last one. */
  #endText(doc: number, tokens: number, nextPosition: number): void {
    this.#textLength += tokens;
    this.#nextPosition = nextPosition;
    if (!this.field.norms) return;
    this.#norms = grown(this.#norms, doc + 1);
    this.#norms[doc] = lengthToNorm(this.#textLength);
  }
}

/** A latitude in degrees as a column keeps it. */
export function latitudeSteps(latitude: number): number {
  return Math.floor(Math.min(latitude, 90 - LATITUDE_STEP) / LATITUDE_STEP);
}

/** A longitude in degrees as a column keeps it. */
export function longitudeSteps(longitude: number): number {
  return Math.floor(Math.min(longitude, 180 - LONGITUDE_STEP) / LONGITUDE_STEP);
}
