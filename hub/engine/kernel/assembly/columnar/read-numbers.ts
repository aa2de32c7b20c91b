/** Reads the numbers of a columnar block, and compares bytes with what numbers stand for. Grammar: hub/engine/README.md. */

import { TIME_BYTES } from "./times";

/** What the comparisons return where the bytes are others. */
export const DIFFERENT: u32 = u32.MAX_VALUE;

const DELTAS: u32 = 1;
const WIDEST: u32 = 7;
const VARINT_BITS: u64 = 63;

const MINUS: u32 = 0x2d;
const ZERO: u32 = 0x30;

const DAY_MS: i64 = 86_400_000;
/** Days from 0000-03-01 to 1970-01-01, and of 400 years. */
const DAYS_BEFORE: i64 = 719_468;
const ERA_DAYS: i64 = 146_097;

/** Where the block is read, and its end. */
export let address: usize = 0;
export let stop: usize = 0;

/** Of the numbers taken last: form, bytes of each, count, smallest or first, their address. */
let isSummed: bool = false;
let width: u32 = 0;
let numbers: u32 = 0;
let least: i64 = 0;
let planes: usize = 0;
/** Numbers that are summed, and the last of them. */
let summed: u32 = 0;
let sum: i64 = 0;

/** Reads from `from` on, up to `to`. */
export function readFrom(from: usize, to: usize): void {
  address = from;
  stop = to;
}

/** Passes so many bytes; false, at the end, where there are fewer. */
export function pass(bytes: u32): bool {
  const isThere = bytes <= ((stop - address) as u32);
  address = isThere ? address + bytes : stop;
  return isThere;
}

/** Takes a byte; 0 at the end. */
export function takeByte(): u32 {
  return address < stop ? load<u8>(address++) : 0;
}

/** Takes a varint of 64 bits. */
export function takeLong(): u64 {
  let value: u64 = 0;
  for (let shift: u64 = 0; shift <= VARINT_BITS && address < stop; shift += 7) {
    const byte = load<u8>(address++) as u64;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

/** Takes a varint; one beyond 32 bits is the largest number. */
export function take(): u32 {
  return min<u64>(takeLong(), u32.MAX_VALUE) as u32;
}

/** Takes `count` numbers, which `numberAt` reads from then on; false if they can't be that. */
export function takeNumbers(count: u32): bool {
  isSummed = takeByte() === DELTAS;
  width = takeByte();
  least = unzigzag(takeLong());
  planes = address;
  numbers = count;
  summed = 0;
  sum = least;
  return width <= WIDEST && pass(width * count);
}

/** A number of those taken last. */
export function numberAt(row: u32): i64 {
  if (!isSummed) return least + (stored(row) as i64);
  if (row + 1 < summed) {
    summed = 0;
    sum = least;
  }
  for (; summed <= row; summed++) sum += unzigzag(stored(summed));
  return sum;
}

function stored(row: u32): u64 {
  let value: u64 = 0;
  let plane = planes + row;
  for (let byte: u32 = 0; byte < width; byte++) {
    value |= (load<u8>(plane) as u64) << (8 * byte);
    plane += numbers;
  }
  return value;
}

@inline
function unzigzag(value: u64): i64 {
  return ((value >>> 1) as i64) ^ -((value & 1) as i64);
}

/** Length of a number that is at `from`, before `to`: as String writes it, or in so many digits where not 0. */
export function wholeLength(value: i64, digits: u32, from: usize, to: usize): u32 {
  const isNegative = value < 0;
  const size: u64 = isNegative ? -value : value;
  let length = digits;
  if (digits === 0) {
    length = 1;
    for (let rest = size / 10; rest > 0; rest /= 10) length++;
    if (isNegative) length++;
  } else if (isNegative) return DIFFERENT;
  if (length > ((to - from) as u32)) return DIFFERENT;
  if (isNegative && load<u8>(from) !== MINUS) return DIFFERENT;
  const first = from + (isNegative ? 1 : 0);
  return hasDigits(size, first, from + length) ? length : DIFFERENT;
}

/** Length of a time that is at `from`, before `to`. */
export function timeLength(timeMs: i64, from: usize, to: usize): u32 {
  if (to < from + TIME_BYTES) return DIFFERENT;
  let days = timeMs / DAY_MS;
  let rest = timeMs % DAY_MS;
  if (rest < 0) {
    rest += DAY_MS;
    days--;
  }
  // Days from 0000-03-01 on, in eras of 400 years: leap days are at the end of a year.
  const shifted = days + DAYS_BEFORE;
  const era = (shifted >= 0 ? shifted : shifted - ERA_DAYS + 1) / ERA_DAYS;
  const day = shifted - era * ERA_DAYS;
  const year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
  const dayOfYear = day - (365 * year + year / 4 - year / 100);
  const fromMarch = (5 * dayOfYear + 2) / 153;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const isSame =
    hasDigits(year + era * 400 + (month <= 2 ? 1 : 0), from, from + 4) &&
    hasDigits(month, from + 5, from + 7) &&
    hasDigits(dayOfYear - (153 * fromMarch + 2) / 5 + 1, from + 8, from + 10) &&
    hasDigits(rest / 3_600_000, from + 11, from + 13) &&
    hasDigits((rest / 60_000) % 60, from + 14, from + 16) &&
    hasDigits((rest / 1000) % 60, from + 17, from + 19) &&
    hasDigits(rest % 1000, from + 20, from + 23);
  return isSame && hasMarks(from) ? TIME_BYTES : DIFFERENT;
}

function hasMarks(from: usize): bool {
  if (load<u8>(from, 4) !== MINUS || load<u8>(from, 7) !== MINUS || load<u8>(from, 10) !== 0x54) return false;
  if (load<u8>(from, 13) !== 0x3a || load<u8>(from, 16) !== 0x3a) return false;
  return load<u8>(from, 19) === 0x2e && load<u8>(from, 23) === 0x5a;
}

/** Whether the bytes are the last digits of a number, with all that it has. */
function hasDigits(value: u64, from: usize, to: usize): bool {
  let rest = value;
  for (let digit = to; digit > from; ) {
    digit--;
    if ((load<u8>(digit) as u64) !== ZERO + (rest % 10)) return false;
    rest /= 10;
  }
  return rest === 0;
}
