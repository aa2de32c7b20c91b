/** One field of a segment buffer in the kernel's memory. */

import type { Token } from "#hub/engine/analysis/parts/token.ts";
import { type TermSink, tokenizeAscii } from "#hub/engine/analysis/tokenizers/ascii-tokenizer.ts";
import { grown, IntList } from "#hub/engine/bytes/byte-buffer.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";
import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import * as at from "#hub/engine/kernel/assembly/layout.ts";
import type { Kernel } from "#hub/engine/kernel/kernel.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import type { FieldEntry } from "#hub/engine/segment/directory.ts";
import { writeFieldColumn } from "#hub/engine/segment/field-column.ts";
import { type BufferedField, MAX_TEXT_TERM_BYTES } from "./buffered-fields.ts";

/** Buffers of the field's structure. */
const FIELD_BUFFERS = [
  at.FIELD_DOCS,
  at.FIELD_VALUE_DOCS,
  at.FIELD_VALUES,
  at.FIELD_LONGITUDES,
  at.FIELD_NORMS,
  at.FIELD_IDS,
  at.FIELD_RUNS,
];

/** Bytes that a number beyond 2^53 takes. */
const EXACT_BYTES = 28;

/** See BufferedField. */
export class KernelField implements BufferedField {
  readonly field: Field;
  /** Number within the buffer. */
  readonly number: number;
  /** Address of its structure. */
  readonly fieldAt: number;
  readonly #kernel: Kernel;
  readonly #poolAt: number;
  /** Whole numbers beyond 2^53, and which of the column's values each is: the kernel has the nearest double there. */
  readonly #exact: bigint[] = [];
  readonly #exactPlaces = new IntList();

  constructor(kernel: Kernel, poolAt: number, field: Field, number: number) {
    this.#kernel = kernel;
    this.#poolAt = poolAt;
    this.field = field;
    this.number = number;
    this.fieldAt = kernel.allocateZeroed(at.FIELD_BYTES);
    kernel.setWord(this.fieldAt + at.FIELD_NUMBER, number);
    kernel.setWord(this.fieldAt + at.FIELD_FLAGS, field.norms ? at.FLAG_NORMS : 0);
    kernel.setWord(this.fieldAt + at.FIELD_POSITION_GAP, field.positionIncrementGap);
  }

  /** True where some document has the field. */
  get isUsed(): boolean {
    return this.#kernel.word(this.fieldAt + at.FIELD_DOCS + at.BUFFER_LENGTH) > 0;
  }

  /** Bytes held. */
  get sizeBytes(): number {
    let total = EXACT_BYTES * this.#exact.length;
    for (const buffer of FIELD_BUFFERS) total += this.#kernel.word(this.fieldAt + buffer + at.BUFFER_LENGTH);
    return total;
  }

  /** Documents with the field, ascending; valid until the kernel is called again. */
  docs(): Int32Array {
    return this.#integers(at.FIELD_DOCS);
  }

  addAsciiText(doc: number, bytes: Uint8Array, from: number, to: number): void {
    const { functions } = this.#kernel;
    if (to - from > at.MAX_TEXT_BYTES) this.#addLongText(doc, bytes, from, to);
    else functions.addText(this.#poolAt, this.fieldAt, doc, this.#place(bytes, from, to), to - from);
  }

  addTokens(doc: number, tokens: Iterable<Token>): void {
    const { functions } = this.#kernel;
    const start = functions.startText(this.fieldAt, doc) >>> 0;
    let count = 0;
    let last = -1;
    for (const token of tokens) {
      const bytes = toBytes(token.text);
      if (bytes.length === 0 || bytes.length > MAX_TEXT_TERM_BYTES) continue;
      const textAt = this.#place(bytes, 0, bytes.length);
      functions.addToken(this.#poolAt, this.fieldAt, doc, textAt, bytes.length, start + token.position);
      // Tokens at one position count once, as with discount_overlaps.
      if (token.position !== last) count++;
      last = token.position;
    }
    functions.endText(this.fieldAt, doc, count, start + last + 1);
  }

  addKeyword(doc: number, bytes: Uint8Array, from: number, to: number): void {
    const textAt = this.#place(bytes, from, to);
    this.#kernel.functions.addKeyword(this.#poolAt, this.fieldAt, doc, textAt, to - from);
  }

  addNumber(doc: number, value: number): void {
    this.#kernel.functions.addNumber(this.fieldAt, doc, value);
  }

  addExact(doc: number, value: bigint): void {
    const used = this.#kernel.word(this.fieldAt + at.FIELD_VALUES + at.BUFFER_LENGTH);
    this.#exactPlaces.push(used / 8);
    this.#exact.push(value);
    this.#kernel.functions.addNumber(this.fieldAt, doc, Number(value));
  }

  addPoint(doc: number, latitude: number, longitude: number): void {
    this.#kernel.functions.addPoint(this.fieldAt, doc, latitude, longitude);
  }

  /** Writes the column. The ids of terms must be ordinals now. */
  writeColumn(file: SegmentFileWriter, docCount: number): FieldEntry["column"] {
    const isTerms = this.field.type === "keyword" || this.field.type === "ip";
    const values = isTerms ? floatsOf(this.#integers(at.FIELD_IDS)) : this.#floats(at.FIELD_VALUES);
    const docs = this.#integers(at.FIELD_VALUE_DOCS);
    const column = {
      docs,
      isSingle: docs.length === this.docs().length,
      values,
      longitudes: this.#floats(at.FIELD_LONGITUDES),
      exact: this.#exactValues(values),
    };
    return writeFieldColumn(file, this.field, column, docCount);
  }

  /** Gives the memory back. */
  release(): void {
    for (const buffer of FIELD_BUFFERS) this.#kernel.free(this.fieldAt + buffer);
    this.#kernel.memory.release(this.fieldAt, at.FIELD_BYTES);
  }

  /** A value of more bytes than the kernel takes at once is cut into words here; the kernel takes the words. */
  #addLongText(doc: number, bytes: Uint8Array, from: number, to: number): void {
    const { functions } = this.#kernel;
    const start = functions.startText(this.fieldAt, doc) >>> 0;
    const sink: TermSink = {
      term: (word, length, _hash, position) => {
        functions.addToken(this.#poolAt, this.fieldAt, doc, this.#place(word, 0, length), length, position);
      },
    };
    const next = tokenizeAscii(bytes, from, to, 0, start, sink);
    functions.endText(this.fieldAt, doc, next - start, next);
  }

  /** All values, where one of them is beyond 2^53; else null. */
  #exactValues(values: Float64Array): bigint[] | null {
    if (this.#exact.length === 0) return null;
    const places = this.#exactPlaces.values;
    let next = 0;
    return Array.from(values, (value, index) =>
      index === places[next] ? this.#exact[next++]! : BigInt(value),
    );
  }

  #place(bytes: Uint8Array, from: number, to: number): number {
    return this.#kernel.place(this.#kernel.scratchAt + at.SCRATCH_PLAIN, bytes, from, to);
  }

  #integers(buffer: number): Int32Array {
    const bytes = this.#kernel.view(this.fieldAt + buffer);
    return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  }

  #floats(buffer: number): Float64Array {
    const bytes = this.#kernel.view(this.fieldAt + buffer);
    return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  }
}

/** Where integers become floats, for one column after another: new memory for each would be given page by page. */
let floats = new Float64Array(0);

/** Returns the same numbers; valid until the next call. */
function floatsOf(integers: Int32Array): Float64Array {
  floats = grown(floats, integers.length);
  floats.set(integers);
  return floats.subarray(0, integers.length);
}
