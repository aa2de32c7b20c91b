/**
 * Whole numbers as planes of bytes: the lowest byte of all, then the next one of all. Either the distances from the
 * smallest or those from number to number, whichever take fewer bits.
 */

import type { ByteBuffer, ByteReader } from "#hub/engine/bytes/byte-buffer.ts";

const PLAIN = 0;
const DELTAS = 1;

/** Widest number in bytes: 2^53. */
const MAX_WIDTH = 7;

/** Appends `count` whole numbers within ±2^52. */
export function writeNumbers(values: Float64Array, count: number, out: ByteBuffer): void {
  let min = values[0] ?? 0;
  for (let row = 1; row < count; row++) if (values[row]! < min) min = values[row]!;
  let plainBits = 0;
  let deltaBits = 0;
  let most = 0;
  let mostDelta = 0;
  for (let row = 0, before = min; row < count; row++) {
    const distance = values[row]! - min;
    const delta = zigzag(values[row]! - before);
    before = values[row]!;
    if (distance > most) most = distance;
    if (delta > mostDelta) mostDelta = delta;
    plainBits += bitsOf(distance);
    deltaBits += bitsOf(delta);
  }
  const form = deltaBits < plainBits ? DELTAS : PLAIN;
  const width = widthOf(form === DELTAS ? mostDelta : most);
  out.u8(form);
  out.u8(width);
  out.varint(zigzag(min));
  const from = out.length;
  out.reserve(width * count);
  out.length += width * count;
  for (let row = 0, before = min; row < count; row++) {
    let rest = form === DELTAS ? zigzag(values[row]! - before) : values[row]! - min;
    before = values[row]!;
    if (width <= 3) {
      for (let plane = 0; plane < width; plane++)
        out.bytes[from + plane * count + row] = rest >>> (8 * plane);
      continue;
    }
    for (let plane = 0; plane < width; plane++) {
      const next = Math.floor(rest / 256);
      out.bytes[from + plane * count + row] = rest - next * 256;
      rest = next;
    }
  }
}

/** Reads what `writeNumbers` wrote, number by number. */
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

  /** Takes `count` numbers; undefined where they can't be that. */
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

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function unzigzag(value: number): number {
  const half = Math.floor(value / 2);
  return value % 2 === 0 ? half : -half - 1;
}

function bitsOf(value: number): number {
  return value < 2 ** 32 ? 32 - Math.clz32(value) : 32 + bitsOf(Math.floor(value / 2 ** 32));
}

function widthOf(value: number): number {
  let width = 0;
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) width++;
  return width;
}
