/** Documents of a columnar block (columnar-writer.ts), assembled one by one on request. */

import { ByteBuffer, ByteReader } from "#hub/engine/bytes/byte-buffer.ts";
import {
  asDamage,
  type ColumnReader,
  checkedCount,
  damaged,
  openColumn,
  ranks,
  takeNumbers,
} from "./column-reader.ts";
import type { NumberPlanes } from "./number-planes.ts";

/** Documents that a block may have. */
const MAX_DOCS = 2 ** 24;
/** Memory of a document beside its bytes: its shape, its row, its values. */
const DOC_BYTES = 200;

interface OpenShape {
  readonly pieces: readonly Uint8Array[];
  readonly columns: readonly ColumnReader[];
}

/** See the file's comment. */
export class ColumnarBlock {
  readonly count: number;
  /** Memory held, bytes. */
  readonly sizeBytes: number;
  /** 1 + shape of each document, 0 for those that are whole. */
  readonly #shapeOf: NumberPlanes;
  /** Number of each document among those of its shape. */
  readonly #rowOf: Uint32Array;
  readonly #whole: readonly Uint8Array[];
  readonly #shapes: readonly OpenShape[];
  readonly #out = new ByteBuffer(1024);

  /** Opens unpacked bytes, which it keeps. Throws data_corrupt. */
  constructor(bytes: Uint8Array) {
    try {
      const reader = new ByteReader(bytes);
      this.count = reader.varint();
      if (this.count > MAX_DOCS) throw damaged();
      this.sizeBytes = bytes.length + DOC_BYTES * this.count;
      const pieces = takeItems(reader, reader.varint(), () => takePieces(reader, reader.varint()));
      this.#shapeOf = takeNumbers(reader, this.count);
      const [rowOf, counts] = ranks(this.#shapeOf, pieces.length + 1);
      this.#rowOf = rowOf;
      this.#whole = takePieces(reader, counts[0]!);
      this.#shapes = pieces.map((own, number) => ({
        pieces: own,
        columns: openColumns(reader, own.length - 1, counts[number + 1]!),
      }));
      if (reader.at !== bytes.length) throw damaged();
    } catch (error) {
      throw asDamage(error);
    }
  }

  /** A copy of document number `index` of the block. */
  document(index: number): Uint8Array {
    const out = this.#out;
    out.clear();
    this.append(index, out);
    return out.view().slice();
  }

  /** Appends document number `index` of the block. Throws data_corrupt; `out` may then have a part of it. */
  append(index: number, out: ByteBuffer): void {
    try {
      this.#append(index, out);
    } catch (error) {
      throw asDamage(error);
    }
  }

  #append(index: number, out: ByteBuffer): void {
    const shape = this.#shapeOf.at(index);
    const row = this.#rowOf[index]!;
    if (shape === 0) {
      out.append(this.#whole[row]!);
      return;
    }
    const { pieces, columns } = this.#shapes[shape - 1]!;
    for (let number = 0; number < columns.length; number++) {
      out.append(pieces[number]!);
      columns[number]!.append(row, out);
    }
    out.append(pieces[columns.length]!);
  }
}

/** Takes `count` items, of at least one byte each. Throws data_corrupt. */
function takeItems<T>(reader: ByteReader, count: number, take: () => T): readonly T[] {
  return Array.from({ length: checkedCount(count, reader) }, take);
}

/** Takes `count` pieces, each with its length before it. Throws data_corrupt. */
function takePieces(reader: ByteReader, count: number): readonly Uint8Array[] {
  return takeItems(reader, count, () => reader.take(reader.varint()));
}

function openColumns(reader: ByteReader, columnCount: number, rows: number): readonly ColumnReader[] {
  const columns: (ColumnReader | undefined)[] = Array.from({ length: Math.max(0, columnCount) });
  for (let left = columnCount; left > 0; left--) {
    const number = reader.varint();
    if (number >= columnCount || columns[number] !== undefined) throw damaged();
    columns[number] = openColumn(reader, rows, columns);
  }
  return columns as ColumnReader[];
}
