/**
 * The standard tokenizer with lower case over UTF-8: words by the rules of UAX #29, code point by code point, with the
 * host's table of classes and lower-case letters (SCRATCH_UNICODE). Classes are those of analysis/word-break.ts; the twin
 * is analysis/standard-tokenizer.ts. Takes texts only in which no word comes near the longest one; says so beforehand.
 */

import { at, reserve } from "./buffer";
import { addWord, endText, reserveWords, startRun, startText } from "./field";
import { FIELD_NUMBER, SCRATCH_TEXT, SCRATCH_UNICODE, UNICODE_LOWER, UNICODE_POINTS } from "./layout";
import { scratch } from "./scratch";

/** Classes, as analysis/word-break.ts numbers them. */
const OTHER: u32 = 1;
const LETTER: u32 = 2;
const HEBREW: u32 = 3;
const NUMERIC: u32 = 4;
const KATAKANA: u32 = 5;
const CONNECTOR: u32 = 6;
const MID_LETTER: u32 = 7;
const MID_NUMBER: u32 = 8;
const MID_BOTH: u32 = 9;
const SINGLE_QUOTE: u32 = 10;
const DOUBLE_QUOTE: u32 = 11;
const EXTEND: u32 = 12;
const HAN: u32 = 13;
const HIRAGANA: u32 = 14;
const HANGUL: u32 = 15;
const SOUTHEAST_ASIAN: u32 = 16;

/** Sets of classes: a bit each. */
const LETTERS: u32 = (1 << LETTER) | (1 << HEBREW) | (1 << HANGUL);
const WORD_PARTS: u32 = LETTERS | (1 << NUMERIC) | (1 << KATAKANA) | (1 << CONNECTOR);
const LETTERS_OR_DIGITS: u32 = LETTERS | (1 << NUMERIC);
/** What stands in no word with another character but marks. */
const ALONE: u32 = (1 << OTHER) | (1 << HAN) | (1 << HIRAGANA);
/** Classes that make a run of word parts a word. */
const WORD_MAKERS: u32 = LETTERS | (1 << KATAKANA) | (1 << NUMERIC);

/** Bytes that may stand between two places where words surely end: fewer than the longest word has characters. */
const MAX_STRETCH: u32 = 250;

/** The code point read last, bytes it takes, its class. */
let point: u32 = 0;
let width: u32 = 0;
let kind: u32 = 0;

/**
 * True where `addUnicodeText` takes a value: well-formed UTF-8 (RFC 3629), no letters beyond the first plane, no long
 * stretch in which words can't end. A backslash doesn't count as an end: its escape may become a letter.
 */
export function isPlainUnicode(text: usize, count: u32): bool {
  const table = load<u32>(scratch, SCRATCH_UNICODE);
  if (table === 0) return false;
  const limit = text + count;
  let place = text;
  let stretch: u32 = 0;
  while (place < limit) {
    const byte = load<u8>(place) as u32;
    if (byte < 0x80) {
      stretch = ((1 << (load<u8>(table + byte) as u32)) & ALONE) !== 0 && byte !== 0x5c ? 0 : stretch + 1;
      place++;
    } else {
      if (!readWide(place, limit)) return false;
      kind = point < (UNICODE_POINTS as u32) ? load<u8>(table + point) : 0;
      if (kind === 0 || (point > 0xffff && kind !== OTHER && kind !== EXTEND)) return false;
      stretch = ((1 << kind) & ALONE) !== 0 ? 0 : stretch + width;
      place += width;
    }
    if (stretch > MAX_STRETCH) return false;
  }
  return true;
}

/** Reads a code point of several bytes before `limit`; false where it is ill-formed. */
function readWide(place: usize, limit: usize): bool {
  const first = load<u8>(place) as u32;
  if (first < 0xc2 || first > 0xf4) return false;
  width = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (place + width > limit) return false;
  for (let index: u32 = 1; index < width; index++)
    if ((load<u8>(place + index) & 0xc0) !== 0x80) return false;
  decodeWide(place, first);
  if (width === 2) return true;
  if (width === 3) return point >= 0x800 && (point & 0xf800) !== 0xd800;
  return point >= 0x1_0000 && point <= 0x10_ffff;
}

function decodeWide(place: usize, first: u32): void {
  const second = (load<u8>(place, 1) & 0x3f) as u32;
  if (first < 0xe0) {
    width = 2;
    point = ((first & 0x1f) << 6) | second;
    return;
  }
  const third = (load<u8>(place, 2) & 0x3f) as u32;
  if (first < 0xf0) {
    width = 3;
    point = ((first & 0x0f) << 12) | (second << 6) | third;
    return;
  }
  width = 4;
  point = ((first & 0x07) << 18) | (second << 12) | (third << 6) | ((load<u8>(place, 3) & 0x3f) as u32);
}

/** Reads the code point at `place`, of text that was found plain. */
function read(table: usize, place: usize): void {
  const first = load<u8>(place) as u32;
  if (first < 0x80) {
    width = 1;
    point = first;
  } else decodeWide(place, first);
  kind = load<u8>(table + point);
}

/** Class of what stands at `place`; OTHER at the end. */
function kindAt(table: usize, place: usize, limit: usize): u32 {
  if (place >= limit) return OTHER;
  read(table, place);
  return kind;
}

/** Place of the next character behind the one at `place` and the marks that belong to it. */
function step(table: usize, place: usize, limit: usize): usize {
  read(table, place);
  return skipMarks(table, place + width, limit);
}

function skipMarks(table: usize, from: usize, limit: usize): usize {
  let place = from;
  // No mark is ASCII.
  while (place < limit && load<u8>(place) >= 0x80 && kindAt(table, place, limit) === EXTEND) place += width;
  return place;
}

/** Adds the words of a value that `isPlainUnicode` accepted (its escapes resolved) to a field. */
export function addUnicodeText(pool: usize, field: usize, doc: u32, text: usize, count: u32): void {
  const table = load<u32>(scratch, SCRATCH_UNICODE) as usize;
  const first = startText(field, doc);
  const number = load<u32>(field, FIELD_NUMBER);
  // A lower-case letter takes at most twice the bytes of the other.
  reserve(scratch + SCRATCH_TEXT, 2 * MAX_STRETCH + 64);
  const limit = text + count;
  let added: u32 = 0;
  let place = text;
  startRun(field, doc, first);
  while (place < limit) {
    const start = place;
    const byte = load<u8>(place) as u32;
    // Fast path: most of what is no word is ASCII.
    if (byte < 0x80 && ((1 << (load<u8>(table + byte) as u32)) & WORD_PARTS) === 0) {
      place++;
      continue;
    }
    const here = kindAt(table, place, limit);
    let isWord = false;
    if (here === HAN || here === HIRAGANA) {
      place = skipMarks(table, place + width, limit);
      isWord = true;
    } else if (here === SOUTHEAST_ASIAN) {
      place = endOfRun(table, place, limit);
      isWord = true;
    } else if (((1 << here) & WORD_PARTS) !== 0) {
      place = endOfWord(table, place, limit);
      isWord = (seen & WORD_MAKERS) !== 0;
    } else place += width;
    if (!isWord) continue;
    addLower(pool, field, number, table, start, place);
    added++;
  }
  endText(field, doc, added, first + added);
}

function endOfRun(table: usize, from: usize, limit: usize): usize {
  let place = from;
  let here = SOUTHEAST_ASIAN;
  while (here === SOUTHEAST_ASIAN || here === EXTEND) {
    place += width;
    here = kindAt(table, place, limit);
  }
  return place;
}

/** Classes of the word that was walked last, a bit each. */
let seen: u32 = 0;

function endOfWord(table: usize, from: usize, limit: usize): usize {
  let last = kindAt(table, from, limit);
  seen = 1 << last;
  let place = step(table, from, limit);
  while (place < limit) {
    if (((1 << last) & LETTERS_OR_DIGITS) !== 0) {
      // Fast path: letters and digits of ASCII join whatever is one of them.
      const from = place;
      while (place < limit && load<u8>(place) < 0x80) {
        const next = load<u8>(table + (load<u8>(place) as u32)) as u32;
        if (((1 << next) & LETTERS_OR_DIGITS) === 0) break;
        last = next;
        seen |= 1 << next;
        place++;
      }
      if (place > from) {
        place = skipMarks(table, place, limit);
        continue;
      }
    }
    const here = kindAt(table, place, limit);
    if (joins(last, here)) {
      last = here;
      seen |= 1 << here;
      place = step(table, place, limit);
      continue;
    }
    const behind = step(table, place, limit);
    if (!joinsByMiddle(last, here, kindAt(table, behind, limit))) return place;
    place = behind;
    if (place < limit && here !== SINGLE_QUOTE) last = kind;
  }
  return place;
}

function joins(last: u32, here: u32): bool {
  if (last === CONNECTOR || here === CONNECTOR) return (((1 << last) & WORD_PARTS) !== 0) && (((1 << here) & WORD_PARTS) !== 0);
  if (last === KATAKANA || here === KATAKANA) return last === here;
  return (((1 << last) & LETTERS_OR_DIGITS) !== 0) && (((1 << here) & LETTERS_OR_DIGITS) !== 0);
}

/** Whether a word goes on behind punctuation of class `middle`, where `behind` stands. */
function joinsByMiddle(last: u32, middle: u32, behind: u32): bool {
  const both = middle === MID_BOTH || middle === SINGLE_QUOTE;
  if ((both || middle === MID_LETTER) && ((1 << last) & LETTERS) !== 0 && ((1 << behind) & LETTERS) !== 0)
    return true;
  if ((both || middle === MID_NUMBER) && last === NUMERIC && behind === NUMERIC) return true;
  if (middle === DOUBLE_QUOTE && last === HEBREW && behind === HEBREW) return true;
  return middle === SINGLE_QUOTE && last === HEBREW;
}

/** Adds the characters from `start` to `stop` in lower case as a word. */
function addLower(pool: usize, field: usize, number: u32, table: usize, start: usize, stop: usize): void {
  const lower = at(scratch + SCRATCH_TEXT);
  const letters = table + UNICODE_LOWER;
  let to = lower;
  let place = start;
  while (place < stop) {
    const byte = load<u8>(place) as u32;
    if (byte < 0x80) {
      store<u8>(to++, load<u8>(letters + (byte << 1)));
      place++;
      continue;
    }
    decodeWide(place, byte);
    to = point > 0xffff ? putPoint(to, point) : putPoint(to, load<u16>(letters + (point << 1)) as u32);
    place += width;
  }
  const length = (to - lower) as u32;
  reserveWords(pool, field, 1, length);
  addWord(pool, field, number, lower, length);
}

/** Writes a code point as UTF-8; returns the place behind it. */
function putPoint(place: usize, value: u32): usize {
  if (value < 0x80) {
    store<u8>(place, value);
    return place + 1;
  }
  if (value < 0x800) {
    store<u8>(place, 0xc0 | (value >>> 6));
    store<u8>(place, 0x80 | (value & 0x3f), 1);
    return place + 2;
  }
  if (value < 0x1_0000) {
    store<u8>(place, 0xe0 | (value >>> 12));
    store<u8>(place, 0x80 | ((value >>> 6) & 0x3f), 1);
    store<u8>(place, 0x80 | (value & 0x3f), 2);
    return place + 3;
  }
  store<u8>(place, 0xf0 | (value >>> 18));
  store<u8>(place, 0x80 | ((value >>> 12) & 0x3f), 1);
  store<u8>(place, 0x80 | ((value >>> 6) & 0x3f), 2);
  store<u8>(place, 0x80 | (value & 0x3f), 3);
  return place + 4;
}
