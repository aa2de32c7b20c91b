/**
 * Writes the values of a column in the form that suits them. The twin is test/oracles/engine/columnar/column-writer.ts, with
 * the same hash: where many values meet, it decides the form.
 */

import { at, end, length, reserve, setEnd, setLength } from "../buffer";
import { copyShort } from "../copy";
import {
  COLUMNAR_DISTINCT,
  COLUMNAR_IDS,
  COLUMNAR_NUMBERS,
  COLUMNAR_OUT,
  COLUMNAR_SLOTS,
  VALUE_BYTES,
} from "../layout-columnar";
import { isSame } from "./kinds";
import { writeNumbers } from "./numbers";
import { putByte, putNumber } from "./output";
import { NO_TIME, readTime, TIME_BYTES } from "./times";

/** Forms of a column: see hub/engine/README.md. */
const CONSTANT: u32 = 0;
const DICTIONARY: u32 = 1;
const NUMBERS: u32 = 2;
const TIMES: u32 = 3;
const TEXTS: u32 = 4;
const TEXT_END: u32 = 0x0a;

/** Values that dictionaries may have; where more differ, other forms are tried first. */
const DICTIONARY_LIMIT: u32 = 65_536;
const SMALL_DICTIONARY: u32 = 256;
/** Of this many values at the start, more different ones than these mean that no dictionary is worth it. */
const SAMPLE: u32 = 128;
const MOST_IN_SAMPLE: u32 = 120;
/** Values from which on a column is worth a form of its own. */
const FEW: u32 = 3;
/** Values of one hash that are compared: more of them make no dictionary. */
const MAX_PROBES: u32 = 64;

const FACTOR_A: u32 = 0x9e3779b1;
const FACTOR_B: u32 = 0x85ebca6b;

const MINUS: u32 = 0x2d;
const ZERO: u32 = 0x30;
/** Digits that a number may have. */
const MAX_DIGITS: u32 = 15;
const NO_NUMBER: i64 = i64.MIN_VALUE;

/** Bytes of the `count` values at `values`. */
export function sizeOf(values: usize, count: u32): u32 {
  let size: u32 = 0;
  for (const last = values + VALUE_BYTES * count; values < last; values += VALUE_BYTES)
    size += load<u32>(values, 4) - load<u32>(values);
  return size;
}

/** Appends a column unless plain text is the only form that fits; true if it did. */
export function writeCompact(state: usize, values: usize, count: u32): bool {
  if (count === 0) return false;
  const out = state + COLUMNAR_OUT;
  // Most variables of templates are: the date, the version of a program.
  if (isConstant(values, count)) {
    putByte(out, CONSTANT);
    putText(out, values);
    return true;
  }
  if (count < FEW) return false;
  const distinct = countDistinct(state, values, count);
  if (distinct > SMALL_DICTIONARY || distinct === 0) {
    if (writeTimes(state, values, count) || writeWholeNumbers(state, values, count)) return true;
  }
  if (distinct === 0) return false;
  putByte(out, DICTIONARY);
  putNumber(out, distinct);
  for (let id: u32 = 0; id < distinct; id++)
    putText(out, values + VALUE_BYTES * load<u32>(at(state + COLUMNAR_DISTINCT) + 4 * id));
  writeNumbers(at(state + COLUMNAR_IDS), count, out);
  return true;
}

/** Appends the values as they are, each ended by a line feed. */
export function writeTexts(state: usize, values: usize, count: u32): void {
  const out = state + COLUMNAR_OUT;
  const size = sizeOf(values, count) + count;
  putByte(out, TEXTS);
  putNumber(out, size);
  reserve(out, size);
  for (const last = values + VALUE_BYTES * count; values < last; values += VALUE_BYTES) putText(out, values);
}

function putText(out: usize, value: usize): void {
  const start = load<u32>(value);
  const count = load<u32>(value, 4) - start;
  reserve(out, count + 1);
  const to = end(out);
  copyShort(to, start, count);
  store<u8>(to + count, TEXT_END);
  setEnd(out, to + count + 1);
}

/** Whether all values are the same. */
function isConstant(values: usize, count: u32): bool {
  const start = load<u32>(values);
  const bytes = load<u32>(values, 4) - start;
  const last = values + VALUE_BYTES * count;
  for (let value = values + VALUE_BYTES; value < last; value += VALUE_BYTES) {
    const from = load<u32>(value);
    if (load<u32>(value, 4) - from !== bytes || !isSame(from, start, bytes)) return false;
  }
  return true;
}

/** Numbers equal values alike, in the order of first use; returns how many differ, 0 for too many. */
function countDistinct(state: usize, values: usize, count: u32): u32 {
  const most = min(DICTIONARY_LIMIT, max<u32>(1, count >>> 1));
  const size: u32 = 1 << (33 - clz<u32>(2 * most));
  const slots = emptied(state + COLUMNAR_SLOTS, 4 * size);
  const ids = emptied(state + COLUMNAR_IDS, 8 * count);
  const firsts = emptied(state + COLUMNAR_DISTINCT, 4 * most);
  memory.fill(slots, 0, 4 * size);
  let distinct: u32 = 0;
  for (let row: u32 = 0; row < count; row++) {
    const value = values + VALUE_BYTES * row;
    const start = load<u32>(value);
    const bytes = load<u32>(value, 4) - start;
    let slot = hashOf(start, bytes) & (size - 1);
    // 1 + the number of a value.
    let id = load<u32>(slots + 4 * slot);
    for (let probes: u32 = 0; id > 0; probes++) {
      const first = values + VALUE_BYTES * load<u32>(firsts + 4 * (id - 1));
      const from = load<u32>(first);
      if (load<u32>(first, 4) - from === bytes && isSame(from, start, bytes)) break;
      if (probes === MAX_PROBES) return 0;
      slot = (slot + 1) & (size - 1);
      id = load<u32>(slots + 4 * slot);
    }
    if (id === 0) {
      if (distinct === most || (row === SAMPLE && distinct > MOST_IN_SAMPLE)) return 0;
      store<u32>(firsts + 4 * distinct, row);
      id = ++distinct;
      store<u32>(slots + 4 * slot, id);
    }
    store<i64>(ids + 8 * row, (id - 1) as i64);
  }
  return distinct;
}

/** Address of a buffer that has space for this many bytes. */
function emptied(buffer: usize, bytes: u32): usize {
  setLength(buffer, 0);
  reserve(buffer, bytes);
  return at(buffer);
}

function writeTimes(state: usize, values: usize, count: u32): bool {
  const numbers = emptied(state + COLUMNAR_NUMBERS, 8 * count);
  for (let row: u32 = 0; row < count; row++) {
    const value = values + VALUE_BYTES * row;
    const start = load<u32>(value);
    if (load<u32>(value, 4) - start !== TIME_BYTES) return false;
    const time = readTime(start);
    if (time === NO_TIME) return false;
    store<i64>(numbers + 8 * row, time);
  }
  putByte(state + COLUMNAR_OUT, TIMES);
  writeNumbers(numbers, count, state + COLUMNAR_OUT);
  return true;
}

function writeWholeNumbers(state: usize, values: usize, count: u32): bool {
  const numbers = emptied(state + COLUMNAR_NUMBERS, 8 * count);
  const digits = fixedDigits(values, count);
  for (let row: u32 = 0; row < count; row++) {
    const value = values + VALUE_BYTES * row;
    const number = wholeNumber(load<u32>(value), load<u32>(value, 4), digits > 0);
    if (number === NO_NUMBER) return false;
    store<i64>(numbers + 8 * row, number);
  }
  putByte(state + COLUMNAR_OUT, NUMBERS);
  putByte(state + COLUMNAR_OUT, digits);
  writeNumbers(numbers, count, state + COLUMNAR_OUT);
  return true;
}

/** Digits of values that have all as many and of which some begin with 0; 0 for others. */
function fixedDigits(values: usize, count: u32): u32 {
  const bytes = load<u32>(values, 4) - load<u32>(values);
  if (bytes < 2 || bytes > MAX_DIGITS) return 0;
  let isPadded = false;
  for (const last = values + VALUE_BYTES * count; values < last; values += VALUE_BYTES) {
    const start = load<u32>(values);
    if (load<u32>(values, 4) - start !== bytes) return 0;
    if (load<u8>(start) === ZERO) isPadded = true;
  }
  return isPadded ? bytes : 0;
}

/** The number of a value that is written as JSON writes it, or as digits where it `isPadded`; NO_NUMBER for others. */
function wholeNumber(start: usize, stop: usize, isPadded: bool): i64 {
  const isNegative = stop > start && load<u8>(start) === MINUS && !isPadded;
  const from = isNegative ? start + 1 : start;
  const bytes = (stop - from) as u32;
  if (bytes < 1 || bytes > MAX_DIGITS) return NO_NUMBER;
  if (load<u8>(from) === ZERO && !isPadded && (bytes > 1 || isNegative)) return NO_NUMBER;
  let number: i64 = 0;
  for (let address = from; address < stop; address++) {
    const digit = (load<u8>(address) as u32) - ZERO;
    if (digit > 9) return NO_NUMBER;
    number = number * 10 + (digit as i64);
  }
  return isNegative ? -number : number;
}

/** A hash of a value's length, its first and last bytes and some of its middle. */
function hashOf(start: usize, bytes: u32): u32 {
  let hash = bytes;
  if (bytes < 8) {
    for (const stop = start + bytes; start < stop; start++) hash = (hash ^ (load<u8>(start) as u32)) * FACTOR_A;
    return hash ^ (hash >>> 15);
  }
  const middle = start + (bytes >>> 1);
  hash = (hash ^ load<u32>(start)) * FACTOR_A;
  hash = (hash ^ (hash >>> 13) ^ load<u32>(middle - 2)) * FACTOR_B;
  hash = (hash ^ (hash >>> 13) ^ load<u32>(start + bytes - 4)) * FACTOR_A;
  return hash ^ (hash >>> 15);
}
