/** Reads the values of a column of a columnar block, by row. */

import type { ByteBuffer, ByteReader } from "#hub/engine/bytes/byte-buffer.ts";
import { AppError } from "#proto/kit/errors.ts";
import { NumberPlanes } from "./number-planes.ts";
import {
  CONSTANT,
  DICTIONARY,
  LITERAL,
  NUMBERS,
  putDigits,
  REFERENCE,
  TEMPLATES,
  TEXT_END,
  TEXTS,
  TIME_BYTES,
  TIMES,
  VARIABLE,
  writeTime,
} from "./value-kinds.ts";

/** Appends the value of a row to `out`. */
export interface ColumnReader {
  append(row: number, out: ByteBuffer): void;
}

/** Columns of a shape by number. */
export type ColumnsByNumber = readonly (ColumnReader | undefined)[];

const MINUS = 0x2d;

/** Opens the next column, of `count` values. `columns`: those that it may refer to. Throws data_corrupt. */
export function openColumn(reader: ByteReader, count: number, columns: ColumnsByNumber): ColumnReader {
  const kind = reader.bytes[reader.at++];
  if (kind === CONSTANT) {
    const texts = takeTexts(reader, 1);
    return { append: (_row, out) => texts.append(0, out) };
  }
  if (kind === DICTIONARY) return dictionaryColumn(reader, count);
  if (kind === NUMBERS) return numberColumn(reader, count);
  if (kind === TIMES) return timeColumn(reader, count);
  if (kind === TEXTS) {
    const bytes = reader.take(reader.varint());
    return new TextColumn(bytes, count);
  }
  if (kind === TEMPLATES) return templateColumn(reader, count, columns);
  throw damaged();
}

/** Returns the numbers that come next. Throws data_corrupt. */
export function takeNumbers(reader: ByteReader, count: number): NumberPlanes {
  const numbers = NumberPlanes.take(reader, count);
  if (numbers === undefined) throw damaged();
  return numbers;
}

/** The error of a block whose bytes contradict each other. */
export function damaged(): AppError {
  return new AppError("data_corrupt", "a columnar block of stored bytes can't be read");
}

/** Texts one after another, each ended by TEXT_END; where each ends is found when one is read, unless that is known. */
class TextColumn implements ColumnReader {
  readonly #bytes: Uint8Array;
  readonly #count: number;
  #ends: Uint32Array | undefined;

  constructor(bytes: Uint8Array, count: number, ends?: Uint32Array) {
    this.#bytes = bytes;
    this.#count = count;
    this.#ends = ends;
  }

  append(row: number, out: ByteBuffer): void {
    this.#ends ??= endsOf(this.#bytes, 0, this.#count);
    if (!(row < this.#count)) throw damaged();
    out.append(this.#bytes, row === 0 ? 0 : this.#ends[row - 1]! + 1, this.#ends[row]);
  }
}

/** Where each of the `count` texts from bytes[from] on ends, from there. Throws data_corrupt where there are fewer. */
function endsOf(bytes: Uint8Array, from: number, count: number): Uint32Array {
  if (!(count <= bytes.length - from)) throw damaged();
  const ends = new Uint32Array(count);
  let found = 0;
  // Most texts are of a few bytes: a call of indexOf for each would take longer.
  for (let at = from; at < bytes.length && found < count; at++)
    if (bytes[at] === TEXT_END) ends[found++] = at - from;
  if (found < count) throw damaged();
  return ends;
}

/** Takes texts whose bytes aren't counted. */
function takeTexts(reader: ByteReader, count: number): TextColumn {
  const ends = endsOf(reader.bytes, reader.at, count);
  return new TextColumn(reader.take(count === 0 ? 0 : ends[count - 1]! + 1), count, ends);
}

function dictionaryColumn(reader: ByteReader, count: number): ColumnReader {
  const distinct = reader.varint();
  const texts = takeTexts(reader, distinct);
  const ids = takeNumbers(reader, count);
  return { append: (row, out) => texts.append(ids.at(row), out) };
}

function numberColumn(reader: ByteReader, count: number): ColumnReader {
  const digits = reader.bytes[reader.at++]!;
  const numbers = takeNumbers(reader, count);
  return {
    append(row, out) {
      const signed = numbers.at(row);
      const number = Math.abs(signed);
      if (signed < 0) out.u8(MINUS);
      const length = digits === 0 ? digitsOf(number) : digits;
      out.reserve(length);
      putDigits(out.bytes, out.length, length, number);
      out.length += length;
    },
  };
}

function digitsOf(number: number): number {
  let digits = 1;
  for (let limit = 10; limit <= number; limit *= 10) digits++;
  return digits;
}

function timeColumn(reader: ByteReader, count: number): ColumnReader {
  const times = takeNumbers(reader, count);
  return {
    append(row, out) {
      out.reserve(TIME_BYTES);
      writeTime(times.at(row), out.bytes, out.length);
      out.length += TIME_BYTES;
    },
  };
}

/** A template: its parts, and a column of its rows for each variable. */
interface OpenTemplate {
  readonly parts: readonly (ColumnReader | Uint8Array | null)[];
  readonly variables: readonly ColumnReader[];
}

function templateColumn(reader: ByteReader, count: number, columns: ColumnsByNumber): ColumnReader {
  const heads = Array.from({ length: reader.varint() }, () => {
    const parts = takeParts(reader, columns);
    return { parts, variableCount: reader.varint() };
  });
  const templateOf = takeNumbers(reader, count);
  const [rowOf, counts] = ranks(templateOf, heads.length);
  const templates = heads.map(({ parts, variableCount }, number): OpenTemplate => {
    if (parts.filter((part) => part === null).length !== variableCount) throw damaged();
    const variables =
      counts[number] === 0
        ? []
        : Array.from({ length: variableCount }, () => openColumn(reader, counts[number]!, []));
    return { parts, variables };
  });
  return {
    append(row, out) {
      const { parts, variables } = templates[templateOf.at(row)]!;
      let variable = 0;
      for (const part of parts) {
        if (part === null) variables[variable++]!.append(rowOf[row]!, out);
        else if (part instanceof Uint8Array) out.append(part);
        else part.append(row, out);
      }
    },
  };
}

/** Parts of a template: literals, columns that are referred to, null for variables. */
function takeParts(reader: ByteReader, columns: ColumnsByNumber): OpenTemplate["parts"] {
  const parts: (ColumnReader | Uint8Array | null)[] = [];
  const end = reader.varint() + reader.at;
  while (reader.at < end) {
    const operation = reader.varint();
    if (operation === VARIABLE) parts.push(null);
    else if (operation === REFERENCE) {
      const column = columns[reader.varint()];
      if (column === undefined) throw damaged();
      parts.push(column);
    } else parts.push(reader.take(operation - LITERAL));
  }
  if (reader.at !== end || end > reader.bytes.length) throw damaged();
  return parts;
}

/** Counts, for each row, the rows before it with the same number of `numbers`; and the rows of each number. */
export function ranks(numbers: NumberPlanes, limit: number): [ranks: Uint32Array, counts: Uint32Array] {
  const counts = new Uint32Array(limit);
  const found = new Uint32Array(numbers.count);
  for (let row = 0; row < found.length; row++) {
    const number = numbers.at(row);
    if (!(number >= 0 && number < limit)) throw damaged();
    found[row] = counts[number]!++;
  }
  return [found, counts];
}
