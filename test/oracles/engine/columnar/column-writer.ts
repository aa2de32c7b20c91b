/** Writes the values of a column in the form that suits them: see value-kinds.ts. */

import { type ByteBuffer, grown } from "#hub/engine/bytes/byte-buffer.ts";
import {
  CONSTANT,
  DICTIONARY,
  NUMBERS,
  TEXT_END,
  TEXTS,
  TIME_BYTES,
  TIMES,
} from "#hub/engine/stored/columnar/value-kinds.ts";
import type { ColumnValues } from "./column-values.ts";
import { writeNumbers } from "./number-writer.ts";
import { readTime } from "./time-reader.ts";

/** Digits that a number may have: all are exact in 53 bits. */
const MAX_DIGITS = 15;

/** A dictionary has to save at least every second value. */
const MOST_DISTINCT = 1 / 2;
/** Values that dictionaries may have. */
const DICTIONARY_LIMIT = 65_536;
/** Of so many values at the start, more different ones than these mean that no dictionary is worth it. */
const SAMPLE = 128;
const MOST_IN_SAMPLE = 120;
/** Values from which on a column is worth a form of its own. */
const FEW = 3;

/** Values of one hash that are compared: more of them make no dictionary, so that chosen values can't make it slow. */
const MAX_PROBES = 64;

const FACTOR_A = 0x9e37_79b1;
const FACTOR_B = 0x85eb_ca6b;

const MINUS = 0x2d;
const ZERO = 0x30;

/** Values, the numbers they are found to be, and what is known of their kind. */
export class ColumnWriter {
  #slots = new Int32Array(1024);
  #ids = new Float64Array(1024);
  #firsts = new Int32Array(256);
  #numbers = new Float64Array(1024);

  /** Appends a column: a dictionary or numbers where they fit, else the texts. */
  write(values: ColumnValues, out: ByteBuffer): void {
    if (!this.writeCompact(values, out)) writeTexts(values, out);
  }

  /** Appends a column unless plain text is the only form that fits; true where it did. */
  writeCompact(values: ColumnValues, out: ByteBuffer): boolean {
    if (values.count === 0) return false;
    const distinct = this.#distinct(values);
    if (distinct === 1) {
      out.u8(CONSTANT);
      appendText(values, 0, out);
      return true;
    }
    if (values.count < FEW) return false;
    if (distinct > 256 || distinct === 0) {
      if (this.#writeTimes(values, out) || this.#writeNumbers(values, out)) return true;
    }
    if (distinct === 0) return false;
    out.u8(DICTIONARY);
    out.varint(distinct);
    for (let id = 0; id < distinct; id++) appendText(values, this.#firsts[id]!, out);
    writeNumbers(this.#ids, values.count, out);
    return true;
  }

  /** Numbers equal values alike, in the order of first use; returns how many differ, 0 for too many. */
  #distinct(values: ColumnValues): number {
    const { bytes, count } = values;
    const most = Math.min(DICTIONARY_LIMIT, Math.max(1, Math.floor(count * MOST_DISTINCT)));
    const size = 2 ** (33 - Math.clz32(2 * most));
    const slots = (this.#slots = grown(this.#slots, size));
    slots.fill(-1, 0, size);
    const ids = (this.#ids = grown(this.#ids, count));
    const firsts = (this.#firsts = grown(this.#firsts, most));
    const starts = values.starts.values;
    const stops = values.stops.values;
    let distinct = 0;
    for (let row = 0; row < count; row++) {
      const start = starts[row]!;
      const length = stops[row]! - start;
      let slot = hashOf(bytes, start, length) & (size - 1);
      let id = slots[slot]!;
      for (let probes = 0; id >= 0; probes++) {
        const first = firsts[id]!;
        if (stops[first]! - starts[first]! === length && isSame(bytes, starts[first]!, start, length)) break;
        if (probes === MAX_PROBES) return 0;
        slot = (slot + 1) & (size - 1);
        id = slots[slot]!;
      }
      if (id < 0) {
        if (distinct === most || (row === SAMPLE && distinct > MOST_IN_SAMPLE)) return 0;
        id = distinct++;
        slots[slot] = id;
        firsts[id] = row;
      }
      ids[row] = id;
    }
    return distinct;
  }

  #writeTimes(values: ColumnValues, out: ByteBuffer): boolean {
    this.#numbers = grown(this.#numbers, values.count);
    for (let row = 0; row < values.count; row++) {
      const start = values.starts.values[row]!;
      if (values.stops.values[row]! - start !== TIME_BYTES) return false;
      const time = readTime(values.bytes, start);
      if (Number.isNaN(time)) return false;
      this.#numbers[row] = time;
    }
    out.u8(TIMES);
    writeNumbers(this.#numbers, values.count, out);
    return true;
  }

  #writeNumbers(values: ColumnValues, out: ByteBuffer): boolean {
    this.#numbers = grown(this.#numbers, values.count);
    const digits = fixedDigits(values);
    for (let row = 0; row < values.count; row++) {
      const number = wholeNumber(values, row, digits > 0);
      if (Number.isNaN(number)) return false;
      this.#numbers[row] = number;
    }
    out.u8(NUMBERS);
    out.u8(digits);
    writeNumbers(this.#numbers, values.count, out);
    return true;
  }
}

/** Appends the values as they are, each ended by a line feed. */
export function writeTexts(values: ColumnValues, out: ByteBuffer): void {
  out.u8(TEXTS);
  out.varint(values.sizeBytes() + values.count);
  for (let row = 0; row < values.count; row++) appendText(values, row, out);
}

function appendText(values: ColumnValues, row: number, out: ByteBuffer): void {
  out.append(values.bytes, values.starts.values[row]!, values.stops.values[row]!);
  out.u8(TEXT_END);
}

/** Digits of values that have all as many and of which some begin with 0; 0 for others. */
function fixedDigits({ bytes, starts, stops, count }: ColumnValues): number {
  const length = stops.values[0]! - starts.values[0]!;
  if (length < 2 || length > MAX_DIGITS) return 0;
  let isPadded = false;
  for (let row = 0; row < count; row++) {
    if (stops.values[row]! - starts.values[row]! !== length) return 0;
    isPadded ||= bytes[starts.values[row]!] === ZERO;
  }
  return isPadded ? length : 0;
}

/** The number of a value that is written as String writes it, or as digits where it `isPadded`; NaN for others. */
function wholeNumber({ bytes, starts, stops }: ColumnValues, row: number, isPadded: boolean): number {
  const stop = stops.values[row]!;
  const start = starts.values[row]!;
  const isNegative = bytes[start] === MINUS && !isPadded;
  const from = isNegative ? start + 1 : start;
  const length = stop - from;
  if (length < 1 || length > MAX_DIGITS) return Number.NaN;
  if (bytes[from] === ZERO && !isPadded && (length > 1 || isNegative)) return Number.NaN;
  let value = 0;
  for (let at = from; at < stop; at++) {
    const digit = bytes[at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return isNegative ? -value : value;
}

/** A hash of a value's length, its first and last bytes and some of its middle. */
function hashOf(bytes: Uint8Array, start: number, length: number): number {
  let hash = length;
  if (length < 8) {
    for (let at = start; at < start + length; at++) hash = Math.imul(hash ^ bytes[at]!, FACTOR_A);
    return hash ^ (hash >>> 15);
  }
  const middle = start + (length >> 1);
  hash = Math.imul(hash ^ fourBytes(bytes, start), FACTOR_A);
  hash = Math.imul(hash ^ (hash >>> 13) ^ fourBytes(bytes, middle - 2), FACTOR_B);
  hash = Math.imul(hash ^ (hash >>> 13) ^ fourBytes(bytes, start + length - 4), FACTOR_A);
  return hash ^ (hash >>> 15);
}

function fourBytes(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** Whether two ranges have the same bytes; the last ones differ soonest. */
function isSame(bytes: Uint8Array, a: number, b: number, length: number): boolean {
  for (let at = length - 1; at >= 0; at--) if (bytes[a + at] !== bytes[b + at]) return false;
  return true;
}
