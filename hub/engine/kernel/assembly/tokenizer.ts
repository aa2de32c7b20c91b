/**
 * The standard tokenizer with lower case over ASCII, 16 bytes at a time. Bytes become classes by two table look-ups
 * (Langdale and Lemire, "Parsing gigabytes of JSON per second"), classes bit masks, and a word is a run of ones. The
 * twin is analysis/tokenizers/ascii-tokenizer.ts.
 */

import { at, reserve } from "./buffer";
import { addWord, endText, reserveWords, startRun, startText } from "./field";
import { FIELD_NUMBER, MAX_TOKEN_BYTES, SCRATCH_MASKS, SCRATCH_TEXT } from "./layout";
import { scratch } from "./scratch";

/** Zeros before the text, so that a vector can be loaded from before it. */
const LEAD_BYTES: usize = 16;

/** Words for which space is reserved at a time. */
const WORDS_AT_ONCE: u32 = 512;

/** Class bits: letters a-o, letters p-z, digit, underscore, colon, semicolon, comma, full stop or apostrophe. */
const LETTER: u8 = 0x03;
const DIGIT: u8 = 0x04;
const WORD: u8 = 0x0f;
const MID_LETTER: u8 = 0x90;
const MID_NUMBER: u8 = 0xe0;

/** Adds the words of an ASCII value of at most MAX_TEXT_BYTES bytes to a field. Reads up to 15 bytes after it. */
export function addText(pool: usize, field: usize, doc: u32, text: usize, count: u32): void {
  const first = startText(field, doc);
  const words = markWords(text, count);
  startRun(field, doc, first);
  const added = addWords(pool, field, words);
  endText(field, doc, added, first + added);
}

/** Copies the text in lower case and marks the bytes of words; returns how many runs of them there are. */
function markWords(text: usize, count: u32): u32 {
  const capacity = ((count + 63) & ~63) + 128;
  reserve(scratch + SCRATCH_TEXT, capacity);
  reserve(scratch + SCRATCH_MASKS, (capacity >>> 3) + 16);
  const lower = at(scratch + SCRATCH_TEXT) + LEAD_BYTES;
  const masks = at(scratch + SCRATCH_MASKS);
  const blocks = (count + 63) >>> 6;
  copyLower(text, lower, count, blocks << 6);
  let runs: u32 = 0;
  let lettersBefore: u64 = 0;
  let digitsBefore: u64 = 0;
  let lastBit: u64 = 0;
  for (let block: u32 = 0; block < blocks; block++) {
    const address = lower + (block << 6);
    classify(address);
    let words = wordBits;
    const middles = midLetterBits | midNumberBits;
    if (middles !== 0) {
      const behind = load<u8>(address + 64);
      const letterBehind: u64 = isLetter(behind) ? 1 : 0;
      const digitBehind: u64 = isDigit(behind) ? 1 : 0;
      words |=
        midLetterBits & ((letterBits << 1) | lettersBefore) & ((letterBits >>> 1) | (letterBehind << 63));
      words |= midNumberBits & ((digitBits << 1) | digitsBefore) & ((digitBits >>> 1) | (digitBehind << 63));
    }
    lettersBefore = letterBits >>> 63;
    digitsBefore = digitBits >>> 63;
    runs += popcnt(words & ~((words << 1) | lastBit)) as u32;
    lastBit = words >>> 63;
    store<u64>(masks + (block << 3), words);
  }
  store<u64>(masks + (blocks << 3), 0);
  return runs;
}

/** Copies `count` bytes with A-Z as a-z and fills up with zeros to `capacity` bytes and a vector more. */
function copyLower(text: usize, lower: usize, count: u32, capacity: u32): void {
  v128.store(lower - LEAD_BYTES, i8x16.splat(0));
  for (let index: u32 = 0; index < count; index += 16) v128.store(lower + index, toLower(v128.load(text + index)));
  // Up to a vector more than asked for.
  for (let index = count; index < capacity + 16; index += 16) v128.store(lower + index, i8x16.splat(0));
}

/** A-Z as a-z, all other bytes as they are. */
@inline
export function toLower(bytes: v128): v128 {
  const isUpper = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(65)), i8x16.splat(26));
  return v128.or(bytes, v128.and(isUpper, i8x16.splat(0x20)));
}

/** Bit masks of the 64 bytes that were classified last. */
let wordBits: u64 = 0;
let letterBits: u64 = 0;
let digitBits: u64 = 0;
let midLetterBits: u64 = 0;
let midNumberBits: u64 = 0;

function classify(address: usize): void {
  wordBits = 0;
  letterBits = 0;
  digitBits = 0;
  midLetterBits = 0;
  midNumberBits = 0;
  for (let part: u32 = 0; part < 64; part += 16) {
    const bytes = v128.load(address + part);
    // By the low and by the high four bits; a class has a bit in both.
    const low = i8x16.swizzle(
      i8x16(0x06, 0x07, 0x07, 0x07, 0x07, 0x07, 0x07, -0x79, 0x07, 0x07, 0x13, 0x21, 0x41, 0x01, -0x7f, 0x09),
      v128.and(bytes, i8x16.splat(15)),
    );
    const high = i8x16.swizzle(
      i8x16(0, 0, -0x40, 0x34, 0, 0x08, 0x01, 0x02, 0, 0, 0, 0, 0, 0, 0, 0),
      i8x16.shr_u(bytes, 4),
    );
    const classes = v128.and(low, high);
    wordBits |= bitsWith(classes, WORD) << part;
    letterBits |= bitsWith(classes, LETTER) << part;
    digitBits |= bitsWith(classes, DIGIT) << part;
    if (v128.any_true(v128.and(classes, i8x16.splat(-0x10)))) {
      midLetterBits |= bitsWith(classes, MID_LETTER) << part;
      midNumberBits |= bitsWith(classes, MID_NUMBER) << part;
    }
  }
}

/** One bit for each byte that has one of the bits of `mask`. */
function bitsWith(classes: v128, mask: u8): u64 {
  return i8x16.bitmask(i8x16.ne(v128.and(classes, i8x16.splat(mask)), i8x16.splat(0))) as u32 as u64;
}

function isLetter(byte: u8): bool {
  return (byte as u32) - 97 < 26;
}

function isDigit(byte: u8): bool {
  return (byte as u32) - 48 < 10;
}

/** Adds the marked runs as words; returns how many. */
function addWords(pool: usize, field: usize, runs: u32): u32 {
  const number = load<u32>(field, FIELD_NUMBER);
  const lower = at(scratch + SCRATCH_TEXT) + LEAD_BYTES;
  const masks = at(scratch + SCRATCH_MASKS);
  let left = runs;
  let budget: u32 = 0;
  let added: u32 = 0;
  let block: u32 = 0;
  let bits = load<u64>(masks);
  while (left > 0) {
    while (bits === 0) bits = load<u64>(masks + (++block << 3));
    const skipped = ctz(bits);
    const start = (block << 6) + (skipped as u32);
    // Ones from `start` on: a zero ends the run here or in a block after.
    const rest = ~(bits >>> skipped);
    let stop = start;
    const here = ctz(rest) as u32;
    if (here + (skipped as u32) < 64) {
      stop += here;
      bits &= ~((((1 as u64) << here) - 1) << skipped);
    } else {
      stop = ++block << 6;
      bits = load<u64>(masks + (block << 3));
      while (bits === u64.MAX_VALUE) {
        stop += 64;
        bits = load<u64>(masks + (++block << 3));
      }
      const more = ctz(~bits) as u32;
      stop += more;
      bits &= ~(((1 as u64) << more) - 1);
    }
    left--;
    if (budget === 0) {
      budget = min(left + 1, WORDS_AT_ONCE);
      reserveWords(pool, field, budget, budget * MAX_TOKEN_BYTES);
    }
    budget--;
    const length = stop - start;
    if (length > (MAX_TOKEN_BYTES as u32)) {
      added += addLongRun(pool, field, number, lower + start, length);
      budget = 0;
    } else if (isWord(lower + start, length)) {
      addWord(pool, field, number, lower + start, length);
      added++;
    }
  }
  return added;
}

/** False for a run of underscores only. */
function isWord(text: usize, length: u32): bool {
  if (load<u8>(text) !== 95) return true;
  for (let index: u32 = 1; index < length; index++) if (load<u8>(text + index) !== 95) return true;
  return false;
}

/** Slow path: cuts a run that is longer than a word may be, byte by byte; returns the number of words. */
function addLongRun(pool: usize, field: usize, number: u32, text: usize, count: u32): u32 {
  let added: u32 = 0;
  let offset: u32 = 0;
  while (offset < count) {
    if (isMiddle(load<u8>(text + offset))) {
      offset++;
      continue;
    }
    const start = offset;
    let length: u32 = 0;
    for (;;) {
      offset++;
      length++;
      if (offset >= count || length === MAX_TOKEN_BYTES) break;
      if (!isMiddle(load<u8>(text + offset))) continue;
      // The run's marks say that a letter or digit follows.
      if (length + 2 > (MAX_TOKEN_BYTES as u32) || offset + 1 >= count) break;
      offset++;
      length++;
    }
    if (!isWord(text + start, length)) continue;
    reserveWords(pool, field, 1, length);
    addWord(pool, field, number, text + start, length);
    added++;
  }
  return added;
}

/** Punctuation within a run of word bytes. */
function isMiddle(byte: u8): bool {
  return byte < 48 || byte === 58 || byte === 59;
}
