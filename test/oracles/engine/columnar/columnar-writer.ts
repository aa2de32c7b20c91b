/**
 * Writes documents as a columnar block: their shapes, and the values of each shape by column. What one field holds in many
 * documents lies together, so that it compresses to a fraction of what it takes between other fields. Grammar:
 * hub/engine/README.md.
 */

import { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import { TEMPLATES } from "#hub/engine/stored/columnar/value-kinds.ts";
import type { DocumentColumns } from "#hub/engine/stored/columnar-packing.ts";
import { ColumnValues, type ReferredColumn } from "./column-values.ts";
import { ColumnWriter, writeTexts } from "./column-writer.ts";
import { DocumentCutter, type Shape } from "./document-cutter.ts";
import { writeNumbers } from "./number-writer.ts";
import { TemplateSplitter } from "./template-splitter.ts";

/** Values of so many bytes on average are cut into templates. */
const LONG_BYTES = 16;
/** Documents of a shape whose texts are worth templates. */
const ENOUGH_DOCS = 16;

/** Makes columnar blocks. One object makes many, and holds memory for one. */
export class ColumnarWriter implements DocumentColumns {
  readonly #cutter = new DocumentCutter();
  readonly #columns = new ColumnWriter();
  readonly #splitter = new TemplateSplitter();
  readonly #out = new ByteBuffer(64 * 1024);
  readonly #operations = new ByteBuffer();

  /** The block of the documents that stand one after another in `bytes`; valid until the next call. */
  write(bytes: Uint8Array, ends: Uint32Array): Uint8Array {
    const out = this.#out;
    const cutter = this.#cutter;
    out.clear();
    cutter.cut(bytes, ends);
    out.varint(ends.length);
    out.varint(cutter.shapes.length);
    for (const { text, ends: pieceEnds } of cutter.shapes) {
      out.varint(pieceEnds.length);
      for (let piece = 0, from = 0; piece < pieceEnds.length; from = pieceEnds[piece++]!)
        appendCounted(text.subarray(from, pieceEnds[piece]), out);
    }
    writeNumbers(
      Float64Array.from(cutter.shapeOf.view(), (shape) => shape + 1),
      ends.length,
      out,
    );
    for (const doc of cutter.whole.view())
      appendCounted(bytes.subarray(doc === 0 ? 0 : ends[doc - 1]!, ends[doc]), out);
    for (const shape of cutter.shapes) this.#writeShape(bytes, shape);
    return out.view();
  }

  /** Writes a shape's columns, each with its number: the short ones first, which the long ones may refer to. */
  #writeShape(bytes: Uint8Array, { ends, docs }: Shape): void {
    const out = this.#out;
    const long: (ReferredColumn & { readonly sizeBytes: number })[] = [];
    const written: ReferredColumn[] = [];
    for (let number = 0; number < ends.length - 1; number++) {
      const values = this.#valuesOf(bytes, docs.view(), number);
      const sizeBytes = values.sizeBytes();
      const from = out.length;
      out.varint(number);
      if (this.#columns.writeCompact(values, out)) written.push({ number, values });
      else if (sizeBytes >= LONG_BYTES * docs.length && docs.length >= ENOUGH_DOCS) {
        out.length = from;
        long.push({ number, values, sizeBytes });
      } else {
        writeTexts(values, out);
        written.push({ number, values });
      }
    }
    for (const column of long.sort((a, b) => a.sizeBytes - b.sizeBytes)) {
      out.varint(column.number);
      this.#writeLong(column.values, written);
      written.push(column);
    }
  }

  #writeLong(values: ColumnValues, columns: readonly ReferredColumn[]): void {
    const out = this.#out;
    const split = this.#splitter.split(values, columns);
    if (split === null) {
      writeTexts(values, out);
      return;
    }
    out.u8(TEMPLATES);
    out.varint(split.templates.length);
    for (const template of split.templates) {
      this.#operations.clear();
      template.write(this.#operations);
      appendCounted(this.#operations.view(), out);
      out.varint(template.variables.length);
    }
    writeNumbers(split.templateOf, values.count, out);
    for (const { variables } of split.templates)
      for (const column of variables) if (column.count > 0) this.#columns.write(column, out);
  }

  #valuesOf(bytes: Uint8Array, docs: Int32Array, number: number): ColumnValues {
    const { firstValue, starts, stops } = this.#cutter;
    const values = new ColumnValues(bytes, docs.length);
    const count = docs.length;
    for (let row = 0; row < count; row++) {
      const at = firstValue.values[docs[row]!]! + number;
      values.starts.values[row] = starts.values[at]!;
      values.stops.values[row] = stops.values[at]!;
    }
    values.starts.length = count;
    values.stops.length = count;
    return values;
  }
}

function appendCounted(bytes: Uint8Array, out: ByteBuffer): void {
  out.varint(bytes.length);
  out.append(bytes);
}
