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
    const size = reader.varint();
    const from = reader.at;
    reader.at += size;
    return new TextColumn(reader.bytes, from, count, reader.at);
  }
  if (kind === TEMPLATES) return templateColumn(reader, count, columns);
  throw damaged();
}

/**
 * Returns `count`, a number of items of at least one byte each that come next; it must be checked before a list of that length
 * is made. Throws data_corrupt if fewer bytes are left.
 */
export function checkedCount(count: number, { bytes, at }: ByteReader): number {
  if (!(count <= bytes.length - at)) throw damaged();
  return count;
}

/** Returns the numbers that come next. Throws data_corrupt. */
export function takeNumbers(reader: ByteReader, count: number): NumberPlanes {
  const numbers = NumberPlanes.take(reader, count);
  if (numbers === undefined) throw damaged();
  return numbers;
}

/** The error of a block whose bytes contradict each other. */
export function damaged(cause?: Error): AppError {
  return new AppError("data_corrupt", "a columnar block of stored bytes can't be read", { cause });
}

/** Returns what to throw in place of an error met while reading: a size that no array can have comes of damage. */
export function asDamage(error: unknown): unknown {
  return error instanceof RangeError ? damaged(error) : error;
}

/** Texts one after another, each ended by TEXT_END; where each ends is found when one is read, unless that is known. */
class TextColumn implements ColumnReader {
  readonly #bytes: Uint8Array;
  readonly #from: number;
  readonly #count: number;
  readonly #to: number;
  #ends: Uint32Array | undefined;

  /** The texts are within bytes[from..to). */
  constructor(bytes: Uint8Array, from: number, count: number, to: number, ends?: Uint32Array) {
    this.#bytes = bytes;
    this.#from = from;
    this.#count = count;
    this.#to = to;
    this.#ends = ends;
  }

  append(row: number, out: ByteBuffer): void {
    this.#ends ??= endsOf(this.#bytes, this.#from, this.#to, this.#count);
    if (!(row >= 0 && row < this.#count)) throw damaged();
    out.append(this.#bytes, row === 0 ? this.#from : this.#ends[row - 1]! + 1, this.#ends[row]);
  }
}

/** Where each of the `count` texts of bytes[from..to) ends. Throws data_corrupt where there are fewer. */
function endsOf(bytes: Uint8Array, from: number, to: number, count: number): Uint32Array {
  const last = Math.min(to, bytes.length);
  if (!(count <= last - from)) throw damaged();
  const ends = new Uint32Array(count);
  let found = 0;
  // Most texts are of a few bytes: a call of indexOf for each would take longer.
  for (let at = from; at < last && found < count; at++) if (bytes[at] === TEXT_END) ends[found++] = at;
  if (found < count) throw damaged();
  return ends;
}

/** Takes texts whose bytes aren't counted. */
function takeTexts(reader: ByteReader, count: number): TextColumn {
  const { bytes, at } = reader;
  const ends = endsOf(bytes, at, bytes.length, count);
  if (count > 0) reader.at = ends[count - 1]! + 1;
  return new TextColumn(bytes, at, count, reader.at, ends);
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

/** Bytes of a block that all texts of a template have. */
class Literal implements ColumnReader {
  readonly #bytes: Uint8Array;
  readonly #from: number;
  readonly #to: number;

  constructor(bytes: Uint8Array, from: number, to: number) {
    this.#bytes = bytes;
    this.#from = from;
    this.#to = to;
  }

  append(_row: number, out: ByteBuffer): void {
    out.append(this.#bytes, this.#from, this.#to);
  }
}

/** A template: its parts, and a column of its rows for each variable, which is a part of null. */
interface OpenTemplate {
  readonly parts: readonly (ColumnReader | null)[];
  readonly variables: readonly ColumnReader[];
}

function templateColumn(reader: ByteReader, count: number, columns: ColumnsByNumber): ColumnReader {
  const length = checkedCount(reader.varint(), reader);
  const heads = Array.from({ length }, () => takeHead(reader, columns));
  const templateOf = takeNumbers(reader, count);
  const [rowOf, counts] = ranks(templateOf, heads.length);
  const templates = heads.map(({ parts, variableCount }, number): OpenTemplate => {
    const variables: ColumnReader[] = [];
    for (let left = counts[number] === 0 ? 0 : variableCount; left > 0; left--)
      variables.push(openColumn(reader, counts[number]!, []));
    return { parts, variables };
  });
  return {
    append(row, out) {
      const { parts, variables } = templates[templateOf.at(row)]!;
      let variable = 0;
      for (const part of parts)
        if (part === null) variables[variable++]!.append(rowOf[row]!, out);
        else part.append(row, out);
    },
  };
}

/** Takes the parts of a template: literals, columns that are referred to, null for variables. */
function takeHead(
  reader: ByteReader,
  columns: ColumnsByNumber,
): Pick<OpenTemplate, "parts"> & { readonly variableCount: number } {
  const { bytes } = reader;
  const parts: (ColumnReader | null)[] = [];
  let variables = 0;
  const end = reader.varint() + reader.at;
  while (reader.at < end) {
    const operation = reader.varint();
    if (operation === VARIABLE) {
      variables++;
      parts.push(null);
    } else if (operation === REFERENCE) {
      const column = columns[reader.varint()];
      if (column === undefined) throw damaged();
      parts.push(column);
    } else {
      const from = reader.at;
      reader.at += operation - LITERAL;
      parts.push(new Literal(bytes, from, reader.at));
    }
  }
  if (reader.at !== end || end > bytes.length) throw damaged();
  const variableCount = reader.varint();
  if (variableCount !== variables) throw damaged();
  return { parts, variableCount };
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
