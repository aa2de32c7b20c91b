/**
 * Reads JSON (RFC 8259) byte by byte and sixteen at a time. A zero byte must follow the document: no rule of the
 * grammar takes one, so nothing here looks for the end. Strict: what isn't certainly valid is refused (0), and the
 * host, whose twin is json/scanner.ts, says what is wrong. Globals hold what was read last.
 */

import { at, reserve, setLength } from "./buffer";
import { SCRATCH_POWERS } from "./layout";
import { scratch } from "./scratch";

/** The last string has escapes; one of them isn't ASCII; it has bytes beyond ASCII. */
export let isEscaped: bool = false;
export let isWide: bool = false;
export let isHigh: bool = false;

/** The last number: its digits without sign and point, how many they are, its power of ten. */
export let digits: u64 = 0;
export let digitCount: u32 = 0;
export let exponent: i32 = 0;
export let isNegative: bool = false;
export let isWhole: bool = false;

/** Digits that a double holds exactly, and the largest power of ten that it does. */
const EXACT_DIGITS: u32 = 15;
const EXACT_POWER: i32 = 22;

/** Digits that 64 bits hold, and the largest power of ten that they do. */
const DIVIDED_DIGITS: u32 = 19;
const DIVIDED_POWER: i32 = 19;

/** Digits of an exponent that are read; more are refused. */
const EXPONENT_DIGITS: u32 = 4;

/** Makes the table of powers of this instance. */
export function makePowers(): void {
  const bytes: u32 = ((EXACT_POWER as u32) + 1) * 8;
  reserve(scratch + SCRATCH_POWERS, bytes);
  setLength(scratch + SCRATCH_POWERS, bytes);
  let power: f64 = 1;
  for (let index: u32 = 0; index < bytes; index += 8) {
    store<f64>(at(scratch + SCRATCH_POWERS) + index, power);
    power *= 10;
  }
}

/** First address from `address` on that isn't white space. */
export function skipSpace(address: usize): usize {
  let byte = load<u8>(address);
  while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = load<u8>(++address);
  return address;
}

/** Forgets the last string: what follows isn't a string. */
export function clearString(): void {
  isEscaped = false;
  isWide = false;
  isHigh = false;
}

/** Reads a string from after its opening quote; returns the address of the closing one. */
export function readString(start: usize): usize {
  const quote = i8x16.splat(0x22);
  const backslash = i8x16.splat(0x5c);
  const space = i8x16.splat(0x20);
  let address = start;
  let high: u32 = 0;
  isEscaped = false;
  isWide = false;
  for (;;) {
    const bytes = v128.load(address);
    const stops = i8x16.bitmask(
      v128.or(v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash)), i8x16.lt_u(bytes, space)),
    );
    const beyond = i8x16.bitmask(bytes) as u32;
    if (stops === 0) {
      high |= beyond;
      address += 16;
      continue;
    }
    const count = ctz(stops);
    high |= beyond & ((1 << count) - 1);
    address += count;
    const byte = load<u8>(address);
    if (byte === 0x22) break;
    if (byte !== 0x5c) return 0;
    isEscaped = true;
    const length = escapeLength(address + 1);
    if (length === 0) return 0;
    address += length;
  }
  isHigh = high !== 0;
  return address;
}

/** Length of an escape with its backslash, whose letter is at `address`. */
function escapeLength(address: usize): u32 {
  const letter = load<u8>(address);
  if (letter === 0x75) {
    for (let digit: usize = 1; digit <= 4; digit++) if (hexOf(load<u8>(address + digit)) > 15) return 0;
    if (load<u16>(address + 1) !== 0x3030 || load<u8>(address + 3) > 0x37) isWide = true;
    return 6;
  }
  return simpleEscape(letter) === 0 ? 0 : 2;
}

/** Value of a hexadecimal digit; above 15 for other bytes. */
function hexOf(byte: u8): u32 {
  const digit = (byte as u32) - 48;
  if (digit < 10) return digit;
  const letter = ((byte as u32) | 32) - 97;
  return letter < 6 ? letter + 10 : 16;
}

/** What a letter after a backslash stands for; 0 for none. */
function simpleEscape(letter: u8): u8 {
  switch (letter as u32) {
    case 0x22:
    case 0x5c:
    case 0x2f:
      return letter;
    case 0x62:
      return 8;
    case 0x66:
      return 12;
    case 0x6e:
      return 10;
    case 0x72:
      return 13;
    case 0x74:
      return 9;
    default:
      return 0;
  }
}

/** Resolves the escapes of a string that was read and isn't wide, in place; returns the new end. */
export function resolveEscapes(start: usize, stop: usize): usize {
  let from = start;
  let to = start;
  while (from < stop) {
    const byte = load<u8>(from);
    if (byte !== 0x5c) {
      store<u8>(to++, byte);
      from++;
      continue;
    }
    const letter = load<u8>(from + 1);
    if (letter === 0x75) {
      store<u8>(to++, (hexOf(load<u8>(from + 4)) << 4) | hexOf(load<u8>(from + 5)));
      from += 6;
    } else {
      store<u8>(to++, simpleEscape(letter));
      from += 2;
    }
  }
  return to;
}

/** Reads a number; returns the address after it. */
export function readNumber(start: usize): usize {
  let address = start;
  isNegative = load<u8>(address) === 0x2d;
  if (isNegative) address++;
  digits = 0;
  exponent = 0;
  isWhole = true;
  const first = address;
  address = readDigits(address);
  digitCount = (address - first) as u32;
  if (digitCount === 0 || (digitCount > 1 && load<u8>(first) === 0x30)) return 0;
  if (load<u8>(address) === 0x2e) {
    isWhole = false;
    const fraction = address + 1;
    address = readDigits(fraction);
    if (address === fraction) return 0;
    digitCount += (address - fraction) as u32;
    exponent = -((address - fraction) as i32);
  }
  if ((load<u8>(address) | 32) !== 0x65) return address;
  isWhole = false;
  return readExponent(address + 1);
}

/** Appends digits to `digits`, which is right while there are at most 19. */
function readDigits(start: usize): usize {
  let address = start;
  let value = digits;
  for (;;) {
    const digit = (load<u8>(address) as u32) - 48;
    if (digit > 9) break;
    value = value * 10 + (digit as u64);
    address++;
  }
  digits = value;
  return address;
}

function readExponent(start: usize): usize {
  let address = start;
  const sign = load<u8>(address);
  if (sign === 0x2b || sign === 0x2d) address++;
  let value: i32 = 0;
  let count: u32 = 0;
  for (;;) {
    const digit = (load<u8>(address) as u32) - 48;
    if (digit > 9) break;
    if (++count > EXPONENT_DIGITS) return 0;
    value = value * 10 + (digit as i32);
    address++;
  }
  if (count === 0) return 0;
  exponent += sign === 0x2d ? -value : value;
  return address;
}

/** Whether `numberValue` can give the double nearest to the last number. */
export function isExact(): bool {
  if (digitCount <= EXACT_DIGITS) return exponent >= -EXACT_POWER && exponent <= EXACT_POWER;
  return digitCount <= DIVIDED_DIGITS && exponent < 0 && exponent >= -DIVIDED_POWER;
}

/** The last number, for which `isExact` holds. */
export function numberValue(): f64 {
  const powers = at(scratch + SCRATCH_POWERS);
  let value = digits as f64;
  // A product or quotient of two doubles that are exact is rounded once (Clinger's fast path).
  if (digitCount > EXACT_DIGITS) value = dividedBy(load<f64>(powers + (-exponent << 3)) as u64);
  else if (exponent > 0) value *= load<f64>(powers + (exponent << 3));
  else if (exponent < 0) value /= load<f64>(powers + (-exponent << 3));
  return isNegative ? -value : value;
}

/** The double nearest to `digits` / `divisor`, ties to even. */
function dividedBy(divisor: u64): f64 {
  if (digits === 0) return 0;
  const digitZeros = clz(digits);
  const divisorZeros = clz(divisor);
  // 2^62 < quotient < 2^64 of numbers whose highest bit is set.
  const quotient = divide(digits << digitZeros, divisor << divisorZeros);
  const drop: u64 = 11 - clz(quotient);
  let mantissa = quotient >>> drop;
  const rest = quotient & (((1 as u64) << drop) - 1);
  const half = (1 as u64) << (drop - 1);
  if (rest > half || (rest === half && (hasRemainder || (mantissa & 1) === 1))) mantissa++;
  const power = (drop as i64) - 63 + (divisorZeros as i64) - (digitZeros as i64);
  return (mantissa as f64) * reinterpret<f64>((power + 1023) << 52);
}

/** Whether the last division left something. */
let hasRemainder: bool = false;

/** `number` * 2^63 / `divisor`, both with their highest bit set (Hacker's Delight, divlu). */
function divide(number: u64, divisor: u64): u64 {
  const highDivisor = divisor >>> 32;
  const lowDivisor = divisor & 0xffff_ffff;
  const high = number >>> 1;
  const low = (number & 1) << 31;
  const first = quotientDigit(high, low, divisor, highDivisor, lowDivisor);
  const rest = (high << 32) + low - first * divisor;
  const second = quotientDigit(rest, 0, divisor, highDivisor, lowDivisor);
  hasRemainder = (rest << 32) - second * divisor !== 0;
  return (first << 32) + second;
}

/** 32 bits of a quotient: (`high` * 2^32 + `low`) / `divisor`, where `high` < `divisor`. */
function quotientDigit(high: u64, low: u64, divisor: u64, highDivisor: u64, lowDivisor: u64): u64 {
  let digit = high / highDivisor;
  let rest = high - digit * highDivisor;
  while (digit >>> 32 !== 0 || digit * lowDivisor > ((rest << 32) | low)) {
    digit--;
    rest += highDivisor;
    if (rest >>> 32 !== 0) break;
  }
  return digit;
}
