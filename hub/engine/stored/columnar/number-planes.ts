/**
 * Whole numbers as planes of bytes: the lowest byte of all numbers, then the next byte of all. Encodes either the
 * differences from the smallest number or from the previous one, whichever need fewer bits.
 */

import type { ByteReader } from "#hub/engine/bytes/byte-buffer.ts";

const DELTAS = 1;

/** Widest number in bytes: 2^53. */
const MAX_WIDTH = 7;

/** The numbers of a block, read one by one. A block has hundreds of them: none has a view of its own of the bytes. */
export class NumberPlanes {
  readonly count: number;
  readonly #bytes: Uint8Array;
  /** Where the lowest bytes begin. */
  readonly #from: number;
  readonly #width: number;
  readonly #min: number;
  /** All numbers, where each is a distance from the one before. */
  #summed: Float64Array | undefined;
  readonly #isSummed: boolean;

  private constructor(reader: ByteReader, count: number) {
    this.count = count;
    this.#bytes = reader.bytes;
    this.#isSummed = reader.bytes[reader.at++] === DELTAS;
    this.#width = reader.bytes[reader.at++] ?? 0;
    this.#min = unzigzag(reader.varint());
    this.#from = reader.at;
    reader.at += this.#width * count;
  }

  /** Takes `count` numbers; undefined if they can't be that. */
  static take(reader: ByteReader, count: number): NumberPlanes | undefined {
    const planes = new NumberPlanes(reader, count);
    const isWhole = planes.#width <= MAX_WIDTH && reader.at <= reader.bytes.length;
    return isWhole ? planes : undefined;
  }

  at(row: number): number {
    if (this.#isSummed) return (this.#summed ??= this.#sum())[row]!;
    return this.#min + this.#stored(row);
  }

  #stored(row: number): number {
    const { count } = this;
    const bytes = this.#bytes;
    const lowest = this.#from + row;
    let value = 0;
    for (let at = lowest + (this.#width - 1) * count; at >= lowest; at -= count)
      value = value * 256 + bytes[at]!;
    return value;
  }

  #sum(): Float64Array {
    const values = new Float64Array(this.count);
    for (let row = 0, value = this.#min; row < this.count; row++)
      values[row] = value += unzigzag(this.#stored(row));
    return values;
  }
}

function unzigzag(value: number): number {
  const half = Math.floor(value / 2);
  // The remainder of a number beyond 32 bits would be a call.
  return value === 2 * half ? half : -half - 1;
}
