/** Concatenates the columns of several segments block by block, with the term numbers of the merged dictionary. */

import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import type { BlockColumn } from "#hub/engine/columns/block-column.ts";
import { ColumnBlocks, type ColumnEntry, type ColumnNumbers } from "#hub/engine/columns/column-writer.ts";
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

/** Kind of a field's column, undefined if no segment has one. */
export function columnKindOf(name: string, inputs: readonly MergeInput[]): string | undefined {
  return inputs
    .map(({ segment }) => segment.fieldEntry(name)?.column?.kind)
    .find((found) => found !== undefined);
}

/** Merges the column of a field; undefined if no live document has a value. Yields between blocks. */
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
  const values = yield* mergeBlocks(parts, docCount, file, numbersOf(kind));
  if (values.valueCount === 0) return undefined;
  const written = values.finish();
  if (kind !== "geo") return { kind, values: written };
  const longitudes = inputs.map((input) => ({
    input,
    column: input.segment.rawColumn(name, "longitudes"),
    ordinals: null,
  }));
  return {
    kind,
    values: written,
    longitudes: (yield* mergeBlocks(longitudes, docCount, file, "signed")).finish(),
  };
}

/** Merges versions or sequence numbers, of which each document has one. Yields between blocks. */
export function* mergeDocumentColumn(
  part: "version" | "seqNo",
  inputs: readonly MergeInput[],
  docCount: number,
  file: SegmentFileWriter,
): Generator<void, ColumnEntry> {
  const parts = inputs.map((input) => ({
    input,
    column: input.segment.documentColumn(part),
    ordinals: null,
  }));
  return (yield* mergeBlocks(parts, docCount, file, "signed")).finish();
}

/** The column of one segment; null without. */
interface Part {
  readonly input: MergeInput;
  readonly column: BlockColumn | null;
  /** New number of each term, where the values are numbers of terms. */
  readonly ordinals: Int32Array | null;
}

/** Packs and writes the values block by block as they are read: a column of all documents would take 12 bytes of each. */
function* mergeBlocks(
  parts: readonly Part[],
  docCount: number,
  file: SegmentFileWriter,
  numbers: ColumnNumbers,
): Generator<void, ColumnBlocks> {
  const isExact = parts.some(({ column }) => column?.entry.safe === false);
  const isSingle = parts.every(({ column }) => column?.entry.multiValued !== true);
  const merged = new MergedColumn(new ColumnBlocks(file, docCount, numbers), docCount, isSingle, isExact);
  let pause = PAUSE_EVERY;
  for (const { input, column, ordinals } of parts) {
    if (column === null) continue;
    for (let block = 0; block < column.blockCount; block++) {
      if (isExact) merged.addExact(column, block, input.newDocs);
      else if (isSingle && input.live === null) merged.addWhole(column, block, input.firstDoc, ordinals);
      else merged.add(column, block, input.newDocs, ordinals);
      if (--pause > 0) continue;
      pause = PAUSE_EVERY;
      yield;
    }
  }
  return merged.end();
}

/** Values of live documents under the documents' new numbers, gathered until those of a block are complete. */
class MergedColumn {
  readonly #blocks: ColumnBlocks;
  readonly #docCount: number;
  /** False where some document may have several values. */
  readonly #isSingle: boolean;
  readonly #isExact: boolean;
  #docs = new Int32Array(COLUMN_BLOCK);
  #values = new Float64Array(COLUMN_BLOCK);
  /** In place of the values, where some are beyond 2^53. */
  #exact: bigint[] = [];
  #count = 0;
  /** First document after the block that is gathered. */
  #blockEnd = COLUMN_BLOCK;
  readonly #first = new Float64Array(COLUMN_BLOCK);
  readonly #all: ValueBlock = { values: new Float64Array(0), slots: new Uint16Array(0) };
  readonly #ofDocument: bigint[] = [];

  constructor(blocks: ColumnBlocks, docCount: number, isSingle: boolean, isExact: boolean) {
    this.#blocks = blocks;
    this.#docCount = docCount;
    this.#isSingle = isSingle;
    this.#isExact = isExact;
  }

  /** Adds the values of a block. */
  add(column: BlockColumn, block: number, newDocs: Int32Array, ordinals: Int32Array | null): void {
    if (column.entry.multiValued) this.#addAll(column, block, newDocs, ordinals);
    else this.#addFirst(column, block, newDocs, ordinals);
  }

  /**
   * Adds the values of a block of a segment that lives as a whole, `firstDoc` on, where no document has several: whose
   * they are needn't be recorded, and a block has space for all.
   */
  addWhole(column: BlockColumn, block: number, firstDoc: number, ordinals: Int32Array | null): void {
    const values = column.valuesOf(block);
    const from = firstDoc + block * COLUMN_BLOCK;
    for (let at = 0; at < values.length; ) {
      const slot = this.#blockEnd - from;
      const end = slot >= COLUMN_BLOCK ? values.length : slot <= 0 ? at : column.startOf(slot);
      this.#putSingle(values, at, end, ordinals);
      at = end;
      if (at < values.length) this.#close();
    }
  }

  /** Like `add`, of whole numbers of any size. */
  addExact(column: BlockColumn, block: number, newDocs: Int32Array): void {
    const end = Math.min(newDocs.length, (block + 1) * COLUMN_BLOCK);
    for (let doc = block * COLUMN_BLOCK; doc < end; doc++) {
      const newDoc = newDocs[doc]!;
      if (newDoc < 0) continue;
      const count = column.readExact(doc, this.#ofDocument);
      for (let index = 0; index < count; index++) {
        this.#put(newDoc, 0);
        this.#exact.push(this.#ofDocument[index]!);
      }
    }
  }

  /** Adds the blocks that are left and returns all. */
  end(): ColumnBlocks {
    while (this.#blockEnd - COLUMN_BLOCK < this.#docCount) this.#close();
    return this.#blocks;
  }

  /** Of documents that have one value at most. */
  #addFirst(column: BlockColumn, block: number, newDocs: Int32Array, ordinals: Int32Array | null): void {
    const first = this.#first;
    const docs = column.decodeFirst(block, first, Number.NaN);
    const from = block * COLUMN_BLOCK;
    for (let slot = 0; slot < docs; slot++) {
      const doc = newDocs[from + slot]!;
      const value = first[slot]!;
      if (doc < 0 || Number.isNaN(value)) continue;
      this.#put(doc, ordinals === null ? value : ordinals[value]!);
    }
  }

  #addAll(column: BlockColumn, block: number, newDocs: Int32Array, ordinals: Int32Array | null): void {
    const all = this.#all;
    const values = column.decodeValues(block, all);
    const from = block * COLUMN_BLOCK;
    for (let index = 0; index < values; index++) {
      const doc = newDocs[from + all.slots[index]!]!;
      const value = all.values[index]!;
      if (doc >= 0) this.#put(doc, ordinals === null ? value : ordinals[value]!);
    }
  }

  #putSingle(from: Float64Array, start: number, end: number, ordinals: Int32Array | null): void {
    const values = this.#values;
    let count = this.#count;
    if (ordinals === null) for (let at = start; at < end; at++) values[count++] = from[at]!;
    else for (let at = start; at < end; at++) values[count++] = ordinals[from[at]!]!;
    this.#count = count;
  }

  #put(doc: number, value: number): void {
    while (doc >= this.#blockEnd) this.#close();
    const count = this.#count++;
    if (count === this.#values.length) {
      this.#docs = grown(this.#docs, count + 1);
      this.#values = grown(this.#values, count + 1);
    }
    this.#docs[count] = doc;
    this.#values[count] = value;
  }

  /** Packs the block that is gathered. */
  #close(): void {
    const values = this.#isExact ? this.#exact : this.#values;
    this.#blocks.add(this.#isSingle ? null : this.#docs, values, 0, this.#count);
    this.#exact = [];
    this.#count = 0;
    this.#blockEnd += COLUMN_BLOCK;
  }
}
