/**
 * Whole numbers as planes of bytes: the lowest byte of all numbers, then the next byte of all. Encodes either the
 * differences from the smallest number or from the previous one, whichever need fewer bits.
 */

import type { ByteReader } from "#hub/engine/bytes/byte-buffer.ts";

const DELTAS = 1;

/** Widest number in bytes: 2^53. */
const MAX_WIDTH = 7;

/** The numbers of a block, read one by one. */
export class NumberPlanes {
  readonly count: number;
  readonly #bytes: Uint8Array;
  readonly #width: number;
  readonly #min: number;
  /** All numbers, where each is a distance from the one before. */
  #summed: Float64Array | undefined;
  readonly #isSummed: boolean;

  private constructor(reader: ByteReader, count: number) {
    this.count = count;
    this.#isSummed = reader.bytes[reader.at++] === DELTAS;
    this.#width = reader.bytes[reader.at++] ?? 0;
    this.#min = unzigzag(reader.varint());
    this.#bytes = reader.take(this.#width * count);
  }

  /** Takes `count` numbers; undefined if they can't be that. */
  static take(reader: ByteReader, count: number): NumberPlanes | undefined {
    const planes = new NumberPlanes(reader, count);
    const isWhole = planes.#width <= MAX_WIDTH && planes.#bytes.length === planes.#width * count;
    return isWhole ? planes : undefined;
  }

  at(row: number): number {
    if (this.#isSummed) return (this.#summed ??= this.#sum())[row]!;
    return this.#min + this.#stored(row);
  }

  #stored(row: number): number {
    let value = 0;
    for (let at = row + (this.#width - 1) * this.count; at >= 0; at -= this.count)
      value = value * 256 + this.#bytes[at]!;
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
  return value % 2 === 0 ? half : -half - 1;
}
