/**
 * Writes plain lines, or events without time and fields, as documents of a bulk request: an action line and a source line
 * each, with the text escaped for JSON. Its oracle in tests is agent/outputs/documents.ts.
 */

const LINE_FEED: u8 = 0x0a;
const CARRIAGE_RETURN: u8 = 0x0d;
const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const SPACE: u8 = 0x20;
/** Bytes looked at together. */
const STEP: usize = 16;

/** Tags of log.proto: field number << 3 | wire type. */
const EVENT_OFFSET: u8 = 0x08;
const EVENT_MESSAGE: u8 = 0x1a;
const EVENT_LENGTH: u8 = 0x28;

/** Characters of an id that depend on the offset: base64url of two bytes of the source, six of the offset and one zero. */
const ID_CHARACTERS: usize = 12;
const NUMBER_DIGITS_MAX: usize = 20;
/** Braces after the offset and the line feed. */
const DOCUMENT_END_BYTES: usize = 3;
/** What one step of `escape` writes at most, with what a vector store writes beyond it. */
const STEP_BYTES_MAX: usize = 2 * STEP + 6;
/** Why `documents` stopped: nothing is left; the next document doesn't fit; the caller must write the next document. */
const END: i32 = 0;
const FULL: i32 = 1;
const ODD: i32 = 2;

/** What `documents` leaves: where it stopped in the text and where what it wrote ends. */
export let taken: usize = 0;
export let written: usize = 0;

/** The texts between the parts that differ, one after the other: up to the id, up to the text, up to the offset. */
let template: usize = 0;
let headBytes: usize = 0;
let middleBytes: usize = 0;
let tailBytes: usize = 0;
/** Last two of the eight bytes with which the ids of the source begin. */
let idSource: u64 = 0;
/** Where `escape` stopped in the text. */
let stopped: usize = 0;

/** Takes the texts that the following documents share; they are at `at`, one after the other. */
export function setTemplate(at: usize, head: usize, middle: usize, tail: usize, source: u32): void {
  template = at;
  headBytes = head;
  middleBytes = middle;
  tailBytes = tail;
  idSource = source;
}

/**
 * Writes the lines of bytes `start` to `end` as documents, from `to` up to `limit`. `offset`: of `start` in the file.
 * Empty lines are left out; the last line may lack its end. Returns why it stopped.
 */
export function lineDocuments(start: usize, end: usize, to: usize, limit: usize, offset: f64): i32 {
  const base = u64(offset) - u64(start);
  taken = start;
  written = to;
  while (taken < end) {
    const skipped = emptyLine(end);
    if (skipped != 0) {
      taken += skipped;
      continue;
    }
    if (!document(taken, end, base + u64(taken), limit, true)) return FULL;
    taken = stopped;
  }
  return END;
}

/** As `lineDocuments`, for bytes that `pack` or the encoder of events wrote. */
export function eventDocuments(start: usize, end: usize, to: usize, limit: usize): i32 {
  taken = start;
  written = to;
  while (taken < end) {
    const size = u32(varint(taken + 1));
    const eventEnd = stopped + size;
    let offset: u64 = 0;
    let at = stopped;
    if (load<u8>(at) == EVENT_OFFSET) {
      offset = varint(at + 1);
      at = stopped;
    }
    if (at >= eventEnd || load<u8>(at) != EVENT_MESSAGE) return ODD;
    const bytes = usize(varint(at + 1));
    const text = stopped;
    if (text + bytes < eventEnd && load<u8>(text + bytes) != EVENT_LENGTH) return ODD;
    if (!document(text, text + bytes, offset, limit, false)) return FULL;
    taken = eventEnd;
  }
  return END;
}

/** Returns the bytes of the line at `taken` where it has no text, else 0. */
@inline
function emptyLine(end: usize): usize {
  const first = load<u8>(taken);
  if (first == LINE_FEED) return 1;
  return first == CARRIAGE_RETURN && taken + 1 < end && load<u8>(taken + 1) == LINE_FEED ? 2 : 0;
}

/** Writes one document of text `from` to `end`; returns false if it doesn't fit, and nothing counts as written then. */
function document(from: usize, end: usize, offset: u64, limit: usize, isLine: bool): bool {
  const rest = tailBytes + NUMBER_DIGITS_MAX + DOCUMENT_END_BYTES + 2 * STEP;
  if (written + headBytes + ID_CHARACTERS + middleBytes + rest > limit) return false;
  let at = copy(written, template, headBytes);
  putId(at, offset);
  at = copy(at + ID_CHARACTERS, template + headBytes, middleBytes);
  at = escape(from, end, at, limit - rest, isLine);
  if (at == 0) return false;
  at = copy(at, template + headBytes + middleBytes, tailBytes);
  at = putDecimal(at, offset);
  // }}\n
  store<u16>(at, 0x7d7d);
  store<u8>(at + 2, LINE_FEED);
  written = at + DOCUMENT_END_BYTES;
  return true;
}

/**
 * Writes text as the inside of a JSON string. A line ends at its line feed, which is passed. Bytes that aren't UTF-8
 * become U+FFFD as in the Encoding Standard. Returns where it ends, 0 if it doesn't fit; `stopped` is after the text.
 */
function escape(from: usize, end: usize, to: usize, limit: usize, isLine: bool): usize {
  const spaces = i8x16.splat(SPACE);
  const quotes = i8x16.splat(QUOTE);
  const backslashes = i8x16.splat(BACKSLASH);
  while (from < end) {
    if (to + STEP_BYTES_MAX > limit) return 0;
    const text = v128.load(from);
    v128.store(to, text);
    // Signed: bytes from 0x80 on are below a space as well.
    const odd = v128.or(i8x16.lt_s(text, spaces), v128.or(i8x16.eq(text, quotes), i8x16.eq(text, backslashes)));
    const mask = i8x16.bitmask(odd);
    const plain = min(mask == 0 ? STEP : usize(ctz(mask)), end - from);
    from += plain;
    to += plain;
    if (from == end || plain == STEP) continue;
    const byte = load<u8>(from);
    if (isLine && byte == LINE_FEED) {
      stopped = from + 1;
      return to;
    }
    if (isLine && byte == CARRIAGE_RETURN && from + 1 < end && load<u8>(from + 1) == LINE_FEED) {
      stopped = from + 2;
      return to;
    }
    if (byte >= 0x80) to = character(from, end, byte, to);
    else {
      to = escaped(to, byte);
      stopped = from + 1;
    }
    from = stopped;
  }
  stopped = from;
  return to;
}

/** Writes a control character, quote or backslash. */
function escaped(to: usize, byte: u8): usize {
  store<u8>(to, BACKSLASH);
  let short: u8 = 0;
  if (byte == QUOTE || byte == BACKSLASH) short = byte;
  else if (byte == 0x08) short = 0x62;
  else if (byte == 0x09) short = 0x74;
  else if (byte == LINE_FEED) short = 0x6e;
  else if (byte == 0x0c) short = 0x66;
  else if (byte == CARRIAGE_RETURN) short = 0x72;
  if (short != 0) {
    store<u8>(to + 1, short);
    return to + 2;
  }
  // u00
  store<u8>(to + 1, 0x75);
  store<u16>(to + 2, 0x3030);
  store<u8>(to + 4, 0x30 + (byte >> 4));
  const low: u8 = byte & 15;
  store<u8>(to + 5, low < 10 ? 0x30 + low : 0x57 + low);
  return to + 6;
}

/** Writes a character of several bytes, or U+FFFD for the longest part of one; `stopped` is after it. */
function character(from: usize, end: usize, lead: u8, to: usize): usize {
  let lower: u8 = 0x80;
  let upper: u8 = 0xbf;
  let length: usize = 0;
  if (lead >= 0xc2 && lead <= 0xdf) length = 2;
  else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) lower = 0xa0;
    if (lead == 0xed) upper = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) lower = 0x90;
    if (lead == 0xf4) upper = 0x8f;
  }
  let read: usize = 1;
  for (; read < length && from + read < end; read++) {
    const byte = load<u8>(from + read);
    if (byte < lower || byte > upper) break;
    lower = 0x80;
    upper = 0xbf;
  }
  stopped = from + read;
  if (length != 0 && read == length) {
    store<u32>(to, load<u32>(from));
    return to + length;
  }
  store<u16>(to, 0xbfef);
  store<u8>(to + 2, 0xbd);
  return to + 3;
}

/** Writes the part of an id that depends on the offset. */
function putId(at: usize, offset: u64): void {
  // Nine bytes: the last two of the source, six of the offset, one zero.
  const high = (idSource << 8) | (offset >> 40);
  const middle = (offset >> 16) & 0xffffff;
  const low = (offset & 0xffff) << 8;
  putFour(at, u32(high));
  putFour(at + 4, u32(middle));
  putFour(at + 8, u32(low));
}

@inline
function putFour(at: usize, bits: u32): void {
  store<u8>(at, letter((bits >> 18) & 63));
  store<u8>(at + 1, letter((bits >> 12) & 63));
  store<u8>(at + 2, letter((bits >> 6) & 63));
  store<u8>(at + 3, letter(bits & 63));
}

/** Returns a letter of base64url: without a table, as all of the memory belongs to the blocks. */
@inline
function letter(bits: u32): u8 {
  if (bits < 26) return u8(0x41 + bits);
  if (bits < 52) return u8(0x61 + bits - 26);
  if (bits < 62) return u8(0x30 + bits - 52);
  return bits == 62 ? 0x2d : 0x5f;
}

function putDecimal(at: usize, value: u64): usize {
  let digits: usize = 1;
  for (let rest = value; rest >= 10; rest /= 10) digits++;
  let place = at + digits;
  do {
    store<u8>(--place, 0x30 + u8(value % 10));
    value /= 10;
  } while (value != 0);
  return at + digits;
}

/** Reads a varint; `stopped` is after it. */
@inline
function varint(at: usize): u64 {
  let value: u64 = 0;
  let shift: u64 = 0;
  for (; load<u8>(at) >= 0x80; shift += 7) value |= u64(load<u8>(at++) & 0x7f) << shift;
  stopped = at + 1;
  return value | (u64(load<u8>(at)) << shift);
}

/** Copies and returns where the copy ends; up to a step beyond it is overwritten. */
@inline
function copy(to: usize, from: usize, bytes: usize): usize {
  for (let done: usize = 0; done < bytes; done += STEP) v128.store(to + done, v128.load(from + done));
  return to + bytes;
}
