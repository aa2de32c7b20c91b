/** Columns of several segments one after another, block by block, the numbers of terms as they are in the merged dictionary. */

import { IntList } from "#hub/engine/bytes/byte-buffer.ts";
import type { BlockColumn } from "#hub/engine/columns/block-column.ts";
import { type ColumnEntry, type ColumnValues, writeColumn } from "#hub/engine/columns/column-writer.ts";
import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import { COLUMN_BLOCK, type ValueBlock } from "#hub/engine/searcher/searcher.ts";
import type { FieldEntry } from "../segment/directory.ts";
import { numbersOf } from "../segment/field-column.ts";
import type { MergeInput } from "./merge-input.ts";
import type { MergedTerms } from "./merge-terms.ts";

/** Blocks between two pauses. */
const PAUSE_EVERY = 16;

/** Whether the column of a kind holds numbers of terms. */
export function hasOrdinals(kind: string | undefined): boolean {
  return kind === "keyword" || kind === "ip";
}

/** Kind of a field's column, undefined where no segment has one. */
export function columnKindOf(name: string, inputs: readonly MergeInput[]): string | undefined {
  return inputs
    .map(({ segment }) => segment.fieldEntry(name)?.column?.kind)
    .find((found) => found !== undefined);
}

/** Merges the column of a field; undefined where no live document has a value. Yields between blocks. */
export function* mergeColumn(
  name: string,
  inputs: readonly MergeInput[],
  docCount: number,
  file: SegmentFileWriter,
  ordinals: MergedTerms["ordinals"],
): Generator<void, FieldEntry["column"]> {
  const kind = columnKindOf(name, inputs) as NonNullable<FieldEntry["column"]>["kind"] | undefined;
  if (kind === undefined) return undefined;
  const parts = inputs.map((input, index) => ({
    input,
    column: input.segment.rawColumn(name),
    ordinals: ordinals[index] ?? null,
  }));
  const values = yield* collect(parts);
  if (values.count === 0) return undefined;
  const written = writeColumn(file, values, docCount, numbersOf(kind));
  if (kind !== "geo") return { kind, values: written };
  const longitudes = yield* collect(
    inputs.map((input) => ({
      input,
      column: input.segment.rawColumn(name, "longitudes"),
      ordinals: null,
    })),
  );
  return { kind, values: written, longitudes: writeColumn(file, longitudes, docCount, "signed") };
}

/** Merges versions or sequence numbers, of which each document has one. Yields between blocks. */
export function* mergeDocumentColumn(
  part: "version" | "seqNo",
  inputs: readonly MergeInput[],
  docCount: number,
): Generator<void, (file: SegmentFileWriter) => ColumnEntry> {
  const values = yield* collect(
    inputs.map((input) => ({ input, column: input.segment.documentColumn(part), ordinals: null })),
  );
  return (file) => writeColumn(file, values, docCount, "signed");
}

/** The column of one segment; null without. */
interface Part {
  readonly input: MergeInput;
  readonly column: BlockColumn | null;
  /** New number of each term, where the values are numbers of terms. */
  readonly ordinals: Int32Array | null;
}

function* collect(parts: readonly Part[]): Generator<void, ColumnValues> {
  if (parts.some(({ column }) => column?.entry.safe === false)) return collectExact(parts);
  const total = parts.reduce((sum, { column }) => sum + (column?.entry.valueCount ?? 0), 0);
  const collected = new Collected(total);
  let pause = PAUSE_EVERY;
  for (const { input, column, ordinals } of parts) {
    if (column === null) continue;
    for (let block = 0; block < column.blockCount; block++) {
      collected.add(column, block, input.newDocs, ordinals);
      if (--pause > 0) continue;
      pause = PAUSE_EVERY;
      yield;
    }
  }
  const isSingle = parts.every(({ column }) => column?.entry.multiValued !== true);
  return { ...collected.view(), isSingle };
}

/** Values of live documents under the documents' new numbers. */
class Collected {
  readonly #docs: Int32Array;
  readonly #values: Float64Array;
  #count = 0;
  readonly #first = new Float64Array(COLUMN_BLOCK);
  readonly #all: ValueBlock = { values: new Float64Array(0), slots: new Uint16Array(0) };

  /** Capacity for `total` values. */
  constructor(total: number) {
    this.#docs = new Int32Array(total);
    this.#values = new Float64Array(total);
  }

  /** Adds the values of a block. */
  add(column: BlockColumn, block: number, newDocs: Int32Array, ordinals: Int32Array | null): void {
    const from = this.#count;
    if (column.entry.multiValued) this.#addAll(column, block, newDocs);
    else this.#addFirst(column, block, newDocs);
    if (ordinals === null) return;
    const values = this.#values;
    for (let index = from; index < this.#count; index++) values[index] = ordinals[values[index]!]!;
  }

  view(): ColumnValues {
    const count = this.#count;
    return { docs: this.#docs.subarray(0, count), values: this.#values.subarray(0, count), count };
  }

  /** Of documents that have one value at most. */
  #addFirst(column: BlockColumn, block: number, newDocs: Int32Array): void {
    const first = this.#first;
    const docs = column.decodeFirst(block, first, Number.NaN);
    const from = block * COLUMN_BLOCK;
    let count = this.#count;
    for (let slot = 0; slot < docs; slot++) {
      const doc = newDocs[from + slot]!;
      const value = first[slot]!;
      if (doc < 0 || Number.isNaN(value)) continue;
      this.#docs[count] = doc;
      this.#values[count++] = value;
    }
    this.#count = count;
  }

  #addAll(column: BlockColumn, block: number, newDocs: Int32Array): void {
    const all = this.#all;
    const values = column.decodeValues(block, all);
    const from = block * COLUMN_BLOCK;
    let count = this.#count;
    for (let index = 0; index < values; index++) {
      const doc = newDocs[from + all.slots[index]!]!;
      if (doc < 0) continue;
      this.#docs[count] = doc;
      this.#values[count++] = all.values[index]!;
    }
    this.#count = count;
  }
}

/** Whole numbers of which some are beyond 2^53. */
function collectExact(parts: readonly Part[]): ColumnValues {
  const docs = new IntList();
  const exact: bigint[] = [];
  const values: bigint[] = [];
  for (const { input, column } of parts) {
    if (column === null) continue;
    for (let doc = 0; doc < input.newDocs.length; doc++) {
      if (input.newDocs[doc]! < 0) continue;
      const count = column.readExact(doc, values);
      for (let index = 0; index < count; index++) {
        docs.push(input.newDocs[doc]!);
        exact.push(values[index]!);
      }
    }
  }
  return { docs: docs.view(), values: exact, count: docs.length };
}
