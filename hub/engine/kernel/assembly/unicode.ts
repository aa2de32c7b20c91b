/**
 * The standard tokenizer with lower case over UTF-8: words by the rules of UAX #29, code point by code point, with the
 * host's table of classes and lower-case letters (SCRATCH_UNICODE). Classes are those of
 * analysis/tokenizers/word-break.ts; the twin is analysis/tokenizers/standard-tokenizer.ts. Takes texts only in which
 * no word comes near the longest one; the caller checks that beforehand.
 */

import { at, reserve } from "./buffer";
import { addWord, endText, reserveWords, startRun, startText } from "./field";
import { FIELD_NUMBER, SCRATCH_TEXT, SCRATCH_UNICODE, UNICODE_LOWER, UNICODE_POINTS } from "./layout";
import { scratch } from "./scratch";
import { toLower } from "./tokenizer";
import { decodeWide, point, putPoint, readWide, setAscii, width } from "./utf8";

/** Classes, as analysis/tokenizers/word-break.ts numbers them. */
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
/** What is never in a word with another character, except marks. */
const ALONE: u32 = (1 << OTHER) | (1 << HAN) | (1 << HIRAGANA);
/** Classes that make a run of word parts a word. */
const WORD_MAKERS: u32 = LETTERS | (1 << KATAKANA) | (1 << NUMERIC);

/** Bytes that may lie between two offsets at which words certainly end: fewer than the longest word has characters. */
const MAX_STRETCH: u32 = 250;

/** Words for which space is reserved at a time. */
const WORDS_AT_ONCE: u32 = 64;

/** Class of the code point read last. */
let kind: u32 = 0;

/**
 * True where `addUnicodeText` takes a value: well-formed UTF-8 (RFC 3629), no letters beyond the first plane, no long
 * stretch in which words can't end. A backslash doesn't count as an end: its escape may become a letter.
 */
export function isPlainUnicode(text: usize, count: u32): bool {
  const table = load<u32>(scratch, SCRATCH_UNICODE);
  if (table === 0) return false;
  const limit = text + count;
  let address = text;
  let stretch: u32 = 0;
  while (address < limit) {
    // Fast path: sixteen bytes of ASCII.
    if (address + 16 <= limit) {
      const bytes = v128.load(address);
      if (!v128.any_true(v128.and(bytes, i8x16.splat(-0x80)))) {
        const ends = wordEnds(bytes);
        stretch = ends === 0 ? stretch + 16 : clz(ends << 16);
        if (stretch > MAX_STRETCH) return false;
        address += 16;
        continue;
      }
    }
    const byte = load<u8>(address) as u32;
    if (byte < 0x80) {
      stretch = ((1 << (load<u8>(table + byte) as u32)) & ALONE) !== 0 && byte !== 0x5c ? 0 : stretch + 1;
      address++;
    } else {
      if (!readWide(address, limit)) return false;
      kind = point < (UNICODE_POINTS as u32) ? load<u8>(table + point) : 0;
      if (kind === 0 || (point > 0xffff && kind !== OTHER && kind !== EXTEND)) return false;
      stretch = ((1 << kind) & ALONE) !== 0 ? 0 : stretch + width;
      address += width;
    }
    if (stretch > MAX_STRETCH) return false;
  }
  return true;
}

/** One bit for each byte of ASCII after which words surely start again, the commonest ones: space, solidus, equals, hyphen. */
@inline
function wordEnds(bytes: v128): u32 {
  const some = v128.or(i8x16.eq(bytes, i8x16.splat(0x20)), i8x16.eq(bytes, i8x16.splat(0x2f)));
  const more = v128.or(i8x16.eq(bytes, i8x16.splat(0x3d)), i8x16.eq(bytes, i8x16.splat(0x2d)));
  return i8x16.bitmask(v128.or(some, more)) as u32;
}

/** Reads the code point at `address`, of text that was found plain. */
function read(table: usize, address: usize): void {
  const first = load<u8>(address) as u32;
  if (first < 0x80) {
    setAscii(first);
  } else decodeWide(address, first);
  kind = load<u8>(table + point);
}

/** Class of what is at `address`; OTHER at the end. */
function kindAt(table: usize, address: usize, limit: usize): u32 {
  if (address >= limit) return OTHER;
  read(table, address);
  return kind;
}

/** Address of the next character after the one at `address` and the marks that belong to it. */
function step(table: usize, address: usize, limit: usize): usize {
  read(table, address);
  return skipMarks(table, address + width, limit);
}

function skipMarks(table: usize, from: usize, limit: usize): usize {
  let address = from;
  // No mark is ASCII.
  while (address < limit && load<u8>(address) >= 0x80 && kindAt(table, address, limit) === EXTEND) address += width;
  return address;
}

/** Adds the words of a value that `isPlainUnicode` accepted (its escapes resolved) to a field. */
export function addUnicodeText(pool: usize, field: usize, doc: u32, text: usize, count: u32): void {
  const table = load<u32>(scratch, SCRATCH_UNICODE) as usize;
  const first = startText(field, doc);
  const number = load<u32>(field, FIELD_NUMBER);
  reserve(scratch + SCRATCH_TEXT, 2 * MAX_STRETCH + 64);
  const lower = at(scratch + SCRATCH_TEXT);
  const limit = text + count;
  let added: u32 = 0;
  let budget: u32 = 0;
  let address = text;
  startRun(field, doc, first);
  while (address < limit) {
    const start = address;
    const byte = load<u8>(address) as u32;
    // Fast path: most of what isn't a word is ASCII.
    if (byte < 0x80 && ((1 << (load<u8>(table + byte) as u32)) & WORD_PARTS) === 0) {
      address++;
      continue;
    }
    const here = kindAt(table, address, limit);
    let isWord = false;
    if (here === HAN || here === HIRAGANA) {
      address = skipMarks(table, address + width, limit);
      isWord = true;
    } else if (here === SOUTHEAST_ASIAN) {
      address = endOfRun(table, address, limit);
      isWord = true;
    } else if (((1 << here) & WORD_PARTS) !== 0) {
      address = endOfWord(table, address + width, limit, here);
      isWord = (seen & WORD_MAKERS) !== 0;
    } else address += width;
    if (!isWord) continue;
    if (budget === 0) {
      budget = WORDS_AT_ONCE;
      // A lower-case letter takes at most twice the bytes of the other.
      reserveWords(pool, field, WORDS_AT_ONCE, WORDS_AT_ONCE * 2 * MAX_STRETCH);
    }
    budget--;
    addWord(pool, field, number, lower, putLower(lower, table, start, address));
    added++;
  }
  endText(field, doc, added, first + added);
}

function endOfRun(table: usize, from: usize, limit: usize): usize {
  let address = from;
  let here = SOUTHEAST_ASIAN;
  while (here === SOUTHEAST_ASIAN || here === EXTEND) {
    address += width;
    here = kindAt(table, address, limit);
  }
  return address;
}

/** Classes of the word that was walked last, a bit each. */
let seen: u32 = 0;

/** End of the word whose first character, of class `first`, ends at `from`. */
function endOfWord(table: usize, from: usize, limit: usize, first: u32): usize {
  let last = first;
  let classes: u32 = 1 << first;
  let address = from;
  while (address < limit) {
    const byte = load<u8>(address) as u32;
    if (byte < 0x80) {
      // Fast path: letters and digits of ASCII join whatever is one of them, and most of the rest ends any word.
      const next = load<u8>(table + byte) as u32;
      if ((((1 << next) & LETTERS_OR_DIGITS) !== 0) && (((1 << last) & LETTERS_OR_DIGITS) !== 0)) {
        last = next;
        classes |= 1 << next;
        address++;
        continue;
      }
      if (next === OTHER) break;
    }
    const here = kindAt(table, address, limit);
    if (here === EXTEND || joins(last, here)) {
      address += width;
      // Marks belong to what they follow.
      if (here === EXTEND) continue;
      last = here;
      classes |= 1 << here;
      continue;
    }
    const behind = step(table, address, limit);
    if (!joinsByMiddle(last, here, kindAt(table, behind, limit))) break;
    address = behind;
    if (address < limit && here !== SINGLE_QUOTE) last = kind;
  }
  seen = classes;
  return address;
}

function joins(last: u32, here: u32): bool {
  if (last === CONNECTOR || here === CONNECTOR) return (((1 << last) & WORD_PARTS) !== 0) && (((1 << here) & WORD_PARTS) !== 0);
  if (last === KATAKANA || here === KATAKANA) return last === here;
  return (((1 << last) & LETTERS_OR_DIGITS) !== 0) && (((1 << here) & LETTERS_OR_DIGITS) !== 0);
}

/** Whether a word continues after punctuation of class `middle`, if `after` follows. */
function joinsByMiddle(last: u32, middle: u32, after: u32): bool {
  const both = middle === MID_BOTH || middle === SINGLE_QUOTE;
  if ((both || middle === MID_LETTER) && ((1 << last) & LETTERS) !== 0 && ((1 << after) & LETTERS) !== 0)
    return true;
  if ((both || middle === MID_NUMBER) && last === NUMERIC && after === NUMERIC) return true;
  if (middle === DOUBLE_QUOTE && last === HEBREW && after === HEBREW) return true;
  return middle === SINGLE_QUOTE && last === HEBREW;
}

/** Writes the characters from `start` to `stop` in lower case, and up to a vector more; returns their bytes. Reads as much. */
function putLower(lower: usize, table: usize, start: usize, stop: usize): u32 {
  const letters = table + UNICODE_LOWER;
  let to = lower;
  let address = start;
  while (address < stop) {
    const bytes = v128.load(address);
    v128.store(to, toLower(bytes));
    const plain = min(ctz((i8x16.bitmask(bytes) as u32) | 0x1_0000), (stop - address) as u32);
    address += plain;
    to += plain;
    if (plain === 16 || address === stop) continue;
    decodeWide(address, load<u8>(address) as u32);
    to = point > 0xffff ? putPoint(to, point) : putPoint(to, load<u16>(letters + (point << 1)) as u32);
    address += width;
  }
  return (to - lower) as u32;
}
