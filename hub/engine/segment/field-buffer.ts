/** What a buffer holds of one field beside its terms: documents, norms, column values. */

import { columnKind, type Field } from "../mapping/field.ts";
import { lengthToNorm } from "../similarity.ts";
import { grown } from "./byte-buffer.ts";
import { type ColumnNumbers, type ColumnValues, writeColumn } from "./column-writer.ts";
import { LATITUDE_STEP, LONGITUDE_STEP } from "./columns.ts";
import type { FieldEntry } from "./directory.ts";
import { FloatList, IntList } from "./growing.ts";
import type { SegmentFileWriter } from "./segment-file.ts";

/** Values of one field in one buffer. */
export class FieldBuffer {
  readonly field: Field;
  /** Number within the buffer. */
  readonly number: number;
  /** Seed of its terms' hashes. */
  readonly seed: number;
  /** Documents with the field, ascending, repetitions possible. */
  readonly docs = new IntList();
  norms = new Uint8Array(0);
  /** Document of the last text value, its tokens so far, the position that follows. */
  textDoc = -1;
  textLength = 0;
  nextPosition = 0;
  /** Column values: numbers or term ids, and the longitudes of points. */
  readonly valueDocs = new IntList();
  readonly values = new FloatList();
  readonly longitudes = new FloatList();
  /** Set once a whole number doesn't fit 2^53: then all values are here. */
  exact: bigint[] | null = null;

  constructor(field: Field, number: number, seed: number) {
    this.field = field;
    this.number = number;
    this.seed = seed;
  }

  /** Bytes held. */
  get sizeBytes(): number {
    return (
      4 * (this.docs.length + this.valueDocs.length) +
      8 * (this.values.length + this.longitudes.length) +
      this.norms.length +
      (this.exact?.length ?? 0) * 24
    );
  }

  /** Notes that `doc` has the field. */
  present(doc: number): void {
    if (this.docs.length === 0 || this.docs.values[this.docs.length - 1] !== doc) this.docs.push(doc);
  }

  /** Starts a text value; returns the position of its first token. */
  startText(doc: number): number {
    this.present(doc);
    if (this.textDoc === doc) return this.nextPosition + this.field.positionIncrementGap;
    this.textDoc = doc;
    this.textLength = 0;
    this.nextPosition = 0;
    return 0;
  }

  /** Ends a text value of `tokens` tokens; `nextPosition` follows its last one. */
  endText(doc: number, tokens: number, nextPosition: number): void {
    this.textLength += tokens;
    this.nextPosition = nextPosition;
    if (!this.field.norms) return;
    this.norms = grown(this.norms, doc + 1);
    this.norms[doc] = lengthToNorm(this.textLength);
  }

  /** Adds a number (a term id for keywords). */
  addNumber(doc: number, value: number): void {
    this.present(doc);
    this.valueDocs.push(doc);
    if (this.exact === null) this.values.push(value);
    else this.exact.push(BigInt(value));
  }

  /** Adds a whole number beyond 2^53. */
  addExact(doc: number, value: bigint): void {
    this.present(doc);
    this.valueDocs.push(doc);
    this.exact ??= Array.from(this.values.view(), BigInt);
    this.exact.push(value);
  }

  /** Adds a point in degrees. */
  addPoint(doc: number, latitude: number, longitude: number): void {
    this.present(doc);
    this.valueDocs.push(doc);
    this.values.push(Math.floor(Math.min(latitude, 90 - LATITUDE_STEP) / LATITUDE_STEP));
    this.longitudes.push(Math.floor(Math.min(longitude, 180 - LONGITUDE_STEP) / LONGITUDE_STEP));
  }

  /** Norms of all documents of the segment, or null for a field without. */
  allNorms(docCount: number): Uint8Array | null {
    if (!this.field.norms) return null;
    this.norms = grown(this.norms, docCount);
    return this.norms.subarray(0, docCount);
  }

  /** Writes the column, if there is one. `ordinals`: from term id to ordinal, for keywords and addresses. */
  writeColumn(file: SegmentFileWriter, docCount: number, ordinals: Int32Array | null): FieldEntry["column"] {
    const kind = columnKind(this.field);
    if (kind === null || this.valueDocs.length === 0) return undefined;
    const docs = this.valueDocs.view();
    if (kind === "geo") {
      const latitudes: ColumnValues = { docs, values: this.values.view(), count: docs.length };
      const longitudes: ColumnValues = { docs, values: this.longitudes.view(), count: docs.length };
      return {
        kind,
        values: writeColumn(file, latitudes, docCount, "signed"),
        longitudes: writeColumn(file, longitudes, docCount, "signed"),
      };
    }
    const sorted =
      kind === "keyword" || kind === "ip"
        ? sortedOrdinals(docs, this.values.view(), ordinals!)
        : { docs, values: this.#sortedValues(docs), count: docs.length };
    return { kind, values: writeColumn(file, sorted, docCount, numbersOf(kind)) };
  }

  #sortedValues(docs: Int32Array): Float64Array | bigint[] {
    if (this.exact === null) return sortRuns(docs, this.values.view());
    const all = this.exact;
    const result: bigint[] = [];
    for (let from = 0; from < docs.length; ) {
      const to = endOfRun(docs, from);
      const run = all.slice(from, to).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      for (const value of run) result.push(value);
      from = to;
    }
    return result;
  }
}

/** How the numbers of a kind are kept. */
export function numbersOf(kind: string): ColumnNumbers {
  return kind === "double" ? "float" : kind === "unsigned_long" ? "unsigned" : "signed";
}

function endOfRun(docs: Int32Array, from: number): number {
  let to = from + 1;
  while (to < docs.length && docs[to] === docs[from]) to++;
  return to;
}

/** Sorts the values of each document, in place. */
function sortRuns(docs: Int32Array, values: Float64Array): Float64Array {
  for (let from = 0; from < docs.length; ) {
    const to = endOfRun(docs, from);
    if (to - from > 1) values.subarray(from, to).sort();
    from = to;
  }
  return values;
}

/** Term ids become ordinals, ascending and once per document. */
function sortedOrdinals(docs: Int32Array, termIds: Float64Array, ordinals: Int32Array): ColumnValues {
  const values = new Float64Array(termIds.length);
  for (let index = 0; index < termIds.length; index++) values[index] = ordinals[termIds[index]!]!;
  sortRuns(docs, values);
  const keptDocs = new Int32Array(docs.length);
  let count = 0;
  for (let index = 0; index < docs.length; index++) {
    if (index > 0 && docs[index] === docs[index - 1] && values[index] === values[index - 1]) continue;
    keptDocs[count] = docs[index]!;
    values[count++] = values[index]!;
  }
  return { docs: keptDocs.subarray(0, count), values: values.subarray(0, count), count };
}
