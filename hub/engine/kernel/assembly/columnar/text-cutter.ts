/** Cuts a text into the parts of a template. The twin is in test/oracles/engine/columnar/template-splitter.ts. */

import { at, length, reserve, setLength } from "../buffer";
import {
  COLUMNAR_BYTES,
  COLUMNAR_CANDIDATES,
  COLUMNAR_FIRST_BYTES,
  COLUMNAR_HEADS,
  COLUMNAR_NEXTS,
  COLUMNAR_PARTS,
  COLUMNAR_VARIABLES,
  COLUMNAR_WRITTEN,
  VALUE_BYTES,
} from "../layout-columnar";
import { hashFactor, hashSeed } from "../terms";
import { DIGIT, isSame, kindOf, WORD } from "./kinds";
import {
  addLiteral,
  addReference,
  addVariable,
  PART_BYTES,
  refersTo,
  templateAt,
  templateCount,
} from "./template";

/** Values of fewer bytes aren't references: they occur in a text by chance. */
const FEWEST_BYTES: u32 = 2;
/** What stands for variables and, with the column's number added, for references in the hash of parts. */
const VARIABLE_EVENT: u64 = 0x100;
const REFERENCE_EVENT: u64 = 0x101;
const NO_COLUMN: u32 = 0xffffffff;
/** Bytes that are looked at together. */
const WINDOW_BYTES: u64 = 64;

/** From now on texts may refer to all columns that are written. */
export function offerWritten(state: usize): void {
  const written = state + COLUMNAR_WRITTEN;
  const bytes = length(written);
  setLength(state + COLUMNAR_CANDIDATES, 0);
  reserve(state + COLUMNAR_CANDIDATES, bytes);
  memory.copy(at(state + COLUMNAR_CANDIDATES), at(written), bytes);
  setLength(state + COLUMNAR_CANDIDATES, bytes);
  setLength(state + COLUMNAR_NEXTS, 0);
  reserve(state + COLUMNAR_NEXTS, bytes);
  memory.fill(state + COLUMNAR_HEADS, 0, COLUMNAR_BYTES - COLUMNAR_HEADS);
}

/** From now on texts may refer to those columns only that a template refers to. */
export function offerReferred(state: usize): void {
  const candidates = at(state + COLUMNAR_CANDIDATES);
  const last = candidates + length(state + COLUMNAR_CANDIDATES);
  let to = candidates;
  for (let candidate = candidates; candidate < last; candidate += 4) {
    const column = load<u32>(candidate);
    let isReferred = false;
    for (let template: u32 = 0; template < templateCount && !isReferred; template++)
      isReferred = refersTo(state, templateAt(state, template), column);
    if (!isReferred) continue;
    store<u32>(to, column);
    to += 4;
  }
  setLength(state + COLUMNAR_CANDIDATES, (to - candidates) as u32);
}

/**
 * Appends the parts of a text, and what varies in it to the variables; returns the hash of the parts. The values of its
 * row are in the columns at `row`, `stride` bytes apart.
 */
export function cutText(state: usize, from: usize, to: usize, row: usize, stride: u32): u64 {
  // One more: the end of a template.
  reserve(state + COLUMNAR_PARTS, PART_BYTES * ((to - from + 1) as u32));
  reserve(state + COLUMNAR_VARIABLES, VALUE_BYTES * ((to - from) as u32));
  link(state, row, stride, true);
  hash = hashSeed;
  done = from;
  for (let address = from; address < to; ) address = cutWindow(state, address, to, row, stride);
  addLiteralTo(state, to);
  link(state, row, stride, false);
  return hash ^ (hash >>> 29);
}

/** Of the text at hand: end of the last part, hash of the parts. */
let done: usize = 0;
let hash: u64 = 0;

/** Of the window at hand, a bit for each byte: those of words, digits, beginnings of words that may be a reference. */
let wordBits: u64 = 0;
let digitBits: u64 = 0;
let firstBits: u64 = 0;

/**
 * Appends the references and variables that begin in a window; returns the address at which the next one begins. Goes from one
 * digit or first byte of a value to the next: most words are neither.
 */
function cutWindow(state: usize, address: usize, to: usize, row: usize, stride: u32): usize {
  look(state, address, to);
  let next: u32 = 0;
  do {
    const left = u64.MAX_VALUE << (next as u64);
    const first = ctz(firstBits & left) as u32;
    const digit = ctz(digitBits & left);
    const word = digit === WINDOW_BYTES ? (WINDOW_BYTES as u32) : wordBefore(((1 as u64) << digit) - 1);
    if (first < (WINDOW_BYTES as u32) && first <= word) {
      firstBits &= ~((1 as u64) << (first as u64));
      const bytes = addReferenceAt(state, address + first, to, row, stride);
      if (bytes === 0) continue;
      next = first + bytes;
    } else {
      const isEnd = digit === WINDOW_BYTES;
      const begin = isEnd ? wordBefore(u64.MAX_VALUE) : word;
      next = isEnd ? (WINDOW_BYTES as u32) : (ctz(~wordBits & (u64.MAX_VALUE << digit)) as u32);
      if (next === (WINDOW_BYTES as u32) && address + next < to) {
        // The word may continue after the window.
        if (isEnd && begin === next) return address + next;
        return begin > 0 ? address + begin : cutLongWord(state, address, to);
      }
      if (!isEnd) addVariableAt(state, address + word, address + next);
    }
  } while (next < (WINDOW_BYTES as u32) && address + next < to);
  return address + next;
}

/** Where the word begins that ends before the first bit that `mask` lacks. */
@inline
function wordBefore(mask: u64): u32 {
  return (WINDOW_BYTES - clz(~wordBits & mask)) as u32;
}

/** Looks at the bytes of a window. */
@inline
function look(state: usize, address: usize, to: usize): void {
  const low = v128.load(state + COLUMNAR_FIRST_BYTES);
  wordBits = 0;
  digitBits = 0;
  firstBits = 0;
  let shift: u64 = 0;
  for (const stop = min(address + (WINDOW_BYTES as usize), to); address < stop; address += 16) {
    const bytes = v128.load(address);
    const digits = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(10));
    const letters = i8x16.lt_u(i8x16.sub(v128.or(bytes, i8x16.splat(0x20)), i8x16.splat(0x61)), i8x16.splat(26));
    const others = v128.or(i8x16.eq(bytes, i8x16.splat(0x5f)), i8x16.lt_s(bytes, i8x16.splat(0)));
    const rows = i8x16.swizzle(low, v128.and(bytes, i8x16.splat(15)));
    const own = i8x16.swizzle(i8x16(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128), i8x16.shr_u(bytes, 4));
    const firsts = i8x16.ne(v128.and(rows, own), i8x16.splat(0));
    digitBits |= (i8x16.bitmask(digits) as u64) << shift;
    wordBits |= (i8x16.bitmask(v128.or(v128.or(digits, letters), others)) as u64) << shift;
    firstBits |= (i8x16.bitmask(firsts) as u64) << shift;
    shift += 16;
    if (address + 16 > to) {
      const inside = u64.MAX_VALUE >>> (80 - shift - ((to - address) as u64));
      digitBits &= inside;
      wordBits &= inside;
      firstBits &= inside;
    }
  }
  // A value begins with a word, or with a byte that is of none.
  firstBits &= ~(wordBits & (wordBits << 1));
}

/** Appends the value of a row that is at `address` as a reference; returns its length, 0 without one. */
function addReferenceAt(state: usize, address: usize, to: usize, row: usize, stride: u32): u32 {
  const column = referenceAt(state, address, to, row, stride);
  if (column === NO_COLUMN) return 0;
  addLiteralTo(state, address);
  addReference(state, column);
  hash = withEvent(hash, REFERENCE_EVENT + column);
  const value = row + column * stride;
  const bytes = load<u32>(value, 4) - load<u32>(value);
  done = address + bytes;
  return bytes;
}

function addVariableAt(state: usize, start: usize, stop: usize): void {
  addLiteralTo(state, start);
  addVariable(state, start, stop);
  hash = withEvent(hash, VARIABLE_EVENT);
  done = stop;
}

/** Appends what is between the last part and `stop`. */
@inline
function addLiteralTo(state: usize, stop: usize): void {
  if (done === stop) return;
  addLiteral(state, done, stop);
  let left = (stop - done) as u64;
  for (; left >= 8; left -= 8) {
    hash = withEvent(hash, load<u64>(done));
    done += 8;
  }
  if (left > 0) hash = withEvent(hash, load<u64>(done) & ((1 << (8 * left)) - 1));
}

/** Takes a word that is longer than a window; returns its end. */
function cutLongWord(state: usize, address: usize, to: usize): usize {
  let stop = address;
  let hasDigit = false;
  for (; stop < to && (kindOf(load<u8>(stop)) & WORD) !== 0; stop++)
    hasDigit = hasDigit || (kindOf(load<u8>(stop)) & DIGIT) !== 0;
  if (hasDigit) addVariableAt(state, address, stop);
  return stop;
}

@inline
function withEvent(before: u64, event: u64): u64 {
  const hash = (before ^ event) * hashFactor;
  return hash ^ (hash >>> 32);
}

/** Lets a row's values be found by their first byte, or no more. */
function link(state: usize, row: usize, stride: u32, isOffered: bool): void {
  const candidates = at(state + COLUMNAR_CANDIDATES);
  const nexts = at(state + COLUMNAR_NEXTS);
  const count = length(state + COLUMNAR_CANDIDATES) >>> 2;
  for (let index: u32 = 0; index < count; index++) {
    const value = row + load<u32>(candidates + 4 * index) * stride;
    const start = load<u32>(value);
    if (load<u32>(value, 4) - start < FEWEST_BYTES) continue;
    const byte = load<u8>(start) as u32;
    const head = state + COLUMNAR_HEADS + 4 * byte;
    if (isOffered) store<u32>(nexts + 4 * index, load<u32>(head));
    store<u32>(head, isOffered ? index + 1 : 0);
    const firsts = state + COLUMNAR_FIRST_BYTES + (byte & 15);
    store<u8>(firsts, isOffered ? (load<u8>(firsts) as u32) | (1 << ((byte >>> 4) & 7)) : 0);
  }
}

/** The column with the longest value that is at `address` and ends with a word. */
function referenceAt(state: usize, address: usize, to: usize, row: usize, stride: u32): u32 {
  let candidate = load<u32>(state + COLUMNAR_HEADS + 4 * (load<u8>(address) as u32));
  let best: u32 = 0;
  let found = NO_COLUMN;
  while (candidate > 0) {
    const column = load<u32>(at(state + COLUMNAR_CANDIDATES) + 4 * (candidate - 1));
    candidate = load<u32>(at(state + COLUMNAR_NEXTS) + 4 * (candidate - 1));
    const value = row + column * stride;
    const start = load<u32>(value);
    const bytes = load<u32>(value, 4) - start;
    // Of values that begin alike most differ in the second byte.
    if (load<u16>(address) !== load<u16>(start) || bytes <= best || address + bytes > to) continue;
    if (!isSame(address, start, bytes) || !endsWord(address + bytes, to)) continue;
    best = bytes;
    found = column;
  }
  return found;
}

/** Whether a word ends at `address`. */
@inline
function endsWord(address: usize, to: usize): bool {
  return (
    address >= to || (kindOf(load<u8>(address)) & WORD) === 0 || (kindOf(load<u8>(address - 1)) & WORD) === 0
  );
}
