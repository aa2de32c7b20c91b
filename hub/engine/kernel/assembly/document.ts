/**
 * Indexes whole documents: reads one along the plan of its mapping into a list of values (the tape), and only when all
 * of it is understood puts them into the fields. What isn't, is left to the host: a value (its entry says where it
 * begins) or the whole document, of which nothing was indexed then. The twin is document/document-writer.ts.
 */

import { at, end, length, reserve, setLength } from "./buffer";
import { readDate, timeMs } from "./date";
import { addKeyword, addNumber, addPoint } from "./field";
import {
  clearString,
  digitCount,
  digits,
  isEscaped,
  isExact,
  isHigh,
  isNegative,
  isWhole,
  isWide,
  numberValue,
  readNumber,
  readString,
  resolveEscapes,
  skipSpace,
} from "./json";
import {
  ACTION_BYTES,
  ACTION_ESCAPED,
  ACTION_HIGH,
  ACTION_HOST,
  ACTION_NUMBER,
  ACTION_POINT,
  DOCUMENT_DONE,
  DOCUMENT_REFUSED,
  ENTRY_ACTION,
  ENTRY_BYTES,
  ENTRY_NUMBER,
  ENTRY_START,
  ENTRY_STOP,
  ENTRY_TARGET,
  KIND_CLOSED_OBJECT,
  KIND_HOST_LEAF,
  KIND_LEAF,
  KIND_POINT,
  KIND_SKIPPED,
  MAX_DOCUMENT_BYTES,
  MAX_KEYWORD_BYTES,
  MAX_TEXT_BYTES,
  NAME_AT,
  NAME_BYTES,
  NAME_GUESS,
  NAME_HASH,
  NAME_LENGTH,
  NAME_NODE,
  NODE_GUESS,
  NODE_KIND,
  NODE_MASK,
  NODE_TABLE,
  NODE_TARGET_COUNT,
  NODE_TARGETS,
  EXTENT_BYTES,
  SCRATCH_INPUT,
  SCRATCH_STATE,
  SCRATCH_TAPE,
  TARGET_BYTES,
  TARGET_FIELD,
  TARGET_LIMIT,
  TARGET_TYPE,
  TYPE_BOOLEAN,
  TYPE_BYTE,
  TYPE_DATE,
  TYPE_DOUBLE,
  TYPE_FLOAT,
  TYPE_INTEGER,
  TYPE_KEYWORD,
  TYPE_LONG,
  TYPE_SHORT,
  TYPE_TEXT,
} from "./layout";
import { scratch } from "./scratch";
import { equals, hashOf } from "./terms";
import { addText } from "./tokenizer";
import { addUnicodeText, isPlainUnicode } from "./unicode";

/** Objects and arrays within each other that are read here; deeper documents are the host's. */
const MAX_DEPTH: u32 = 64;

/** Characters of a whole number that is below 2^53 for sure. */
const MAX_EXACT_LENGTH: u32 = 15;

/** Kinds of values. */
const STRING: u32 = 1;
const NUMBER: u32 = 2;
const TRUE: u32 = 3;
const FALSE: u32 = 4;
const NULL: u32 = 5;

/** Hash of an object's name. */
export function hashName(name: usize, count: u32): u32 {
  return hashOf(0, name, count);
}

/** Where the document at hand begins. */
let input: usize = 0;

/**
 * Indexes documents of the scratch input as `doc` and those that follow: `count` entries at `extents`, each the offset and
 * the length of one. Stops at the first that isn't done and notes what it needs in the scratch structure: DOCUMENT_REFUSED,
 * or the number of the tape's entry that is the host's, behind which `resumeDocument` goes on. Returns its number, else
 * `count`. The bytes of documents are changed.
 */
export function writeDocuments(pool: usize, root: usize, extents: usize, count: u32, doc: u32): u32 {
  const base = at(scratch + SCRATCH_INPUT);
  for (let index: u32 = 0; index < count; index++) {
    const extent = extents + index * EXTENT_BYTES;
    const state = writeDocument(pool, root, base + load<u32>(extent), load<u32>(extent, 4), doc + index);
    if (state === DOCUMENT_DONE) continue;
    store<i32>(scratch, state, SCRATCH_STATE);
    return index;
  }
  return count;
}

function writeDocument(pool: usize, root: usize, start: usize, count: u32, doc: u32): i32 {
  input = start;
  if (count > (MAX_DOCUMENT_BYTES as u32)) return DOCUMENT_REFUSED;
  const end = start + count;
  // The next document's bytes come back before it is read.
  const behind = load<u8>(end);
  store<u8>(end, 0);
  setLength(scratch + SCRATCH_TAPE, 0);
  let place = skipSpace(start);
  place = load<u8>(place) === 0x7b ? readObject(root, place + 1, 0) : 0;
  const isRead = place !== 0 && skipSpace(place) === end;
  store<u8>(end, behind);
  return isRead ? resumeDocument(pool, doc, 0) : DOCUMENT_REFUSED;
}

/** Puts the entries from number `from` on into their fields; returns DOCUMENT_DONE or the number of one of the host's. */
export function resumeDocument(pool: usize, doc: u32, from: u32): i32 {
  const count = length(scratch + SCRATCH_TAPE) / ENTRY_BYTES;
  let resolvedStart: u32 = 0xffff_ffff;
  let resolvedStop: u32 = 0;
  for (let index = from; index < count; index++) {
    const entry = at(scratch + SCRATCH_TAPE) + index * ENTRY_BYTES;
    const action = load<u32>(entry, ENTRY_ACTION);
    if (action === ACTION_HOST) return index;
    const target = load<u32>(entry, ENTRY_TARGET);
    const field = load<u32>(target, TARGET_FIELD);
    if (action === ACTION_NUMBER) {
      addNumber(field, doc, load<f64>(entry, ENTRY_NUMBER));
      continue;
    }
    if (action === ACTION_POINT) {
      addPoint(field, doc, load<f64>(entry, ENTRY_NUMBER), load<f64>(entry, ENTRY_START));
      continue;
    }
    const start = load<u32>(entry, ENTRY_START);
    let stop = load<u32>(entry, ENTRY_STOP);
    if ((action & ~ACTION_HIGH) === ACTION_ESCAPED) {
      // A value with several targets is resolved once.
      if (resolvedStart !== start)
        resolvedStop = (resolveEscapes(input + start, input + stop) - input) as u32;
      resolvedStart = start;
      stop = resolvedStop;
    }
    if ((action & ACTION_HIGH) !== 0) addUnicodeText(pool, field, doc, input + start, stop - start);
    else if (load<u32>(target, TARGET_TYPE) === TYPE_TEXT)
      addText(pool, field, doc, input + start, stop - start);
    else if (stop - start <= load<u32>(target, TARGET_LIMIT))
      addKeyword(pool, field, doc, input + start, stop - start);
  }
  return DOCUMENT_DONE;
}

/** Reads an object from behind its brace; returns the place behind it, 0 to refuse the document. */
function readObject(node: usize, start: usize, depth: u32): usize {
  if (depth >= MAX_DEPTH) return 0;
  let place = skipSpace(start);
  if (load<u8>(place) === 0x7d) return place + 1;
  // Objects mostly have the same names in the same order: where the next name stood is remembered behind each.
  let guess = node + NODE_GUESS;
  while (load<u8>(place) === 0x22) {
    const name = place + 1;
    let entry = load<u32>(guess) as usize;
    let child: usize = 0;
    if (entry !== 0 && isNamed(entry, name)) {
      place = name + load<u32>(entry, NAME_LENGTH);
      child = load<u32>(entry, NAME_NODE);
    } else {
      place = readString(name);
      if (place === 0 || isEscaped) return 0;
      entry = findName(node, name, (place - name) as u32);
      child = entry === 0 ? unknownChild(node, name, (place - name) as u32) : load<u32>(entry, NAME_NODE);
      if (child === 0) return 0;
      store<u32>(guess, entry as u32);
    }
    if (entry !== 0) guess = entry + NAME_GUESS;
    place = skipSpace(place + 1);
    if (load<u8>(place) !== 0x3a) return 0;
    place = readValue(child, skipSpace(place + 1), depth + 1);
    if (place === 0) return 0;
    place = skipSpace(place);
    const byte = load<u8>(place);
    if (byte === 0x7d) return place + 1;
    if (byte !== 0x2c) return 0;
    place = skipSpace(place + 1);
  }
  return 0;
}

/** Whether a name stands before a quote at `name`. */
function isNamed(entry: usize, name: usize): bool {
  const count = load<u32>(entry, NAME_LENGTH);
  return load<u8>(name + count) === 0x22 && equals(load<u32>(entry, NAME_AT), name, count);
}

/** Entry of a name in the table of an object; 0 for none. */
function findName(node: usize, name: usize, count: u32): usize {
  const hash = hashName(name, count);
  const mask = load<u32>(node, NODE_MASK);
  const table = load<u32>(node, NODE_TABLE);
  let entry = table + (hash & mask) * NAME_BYTES;
  for (let slot = hash & mask; load<u32>(entry, NAME_NODE) !== 0; entry = table + slot * NAME_BYTES) {
    if (
      load<u32>(entry, NAME_HASH) === hash &&
      load<u32>(entry, NAME_LENGTH) === count &&
      equals(load<u32>(entry, NAME_AT), name, count)
    )
      return entry;
    slot = (slot + 1) & mask;
  }
  return 0;
}

/** Node of a name that the object doesn't know; 0 where it is the host's business. */
function unknownChild(node: usize, name: usize, count: u32): usize {
  if (load<u32>(node, NODE_KIND) !== KIND_CLOSED_OBJECT) return 0;
  // Dotted names and those of metadata have a meaning; the others are passed over.
  if (load<u8>(name) === 0x5f) return 0;
  for (let index: u32 = 0; index < count; index++) if (load<u8>(name + index) === 0x2e) return 0;
  return load<u32>(node, NODE_TARGETS);
}

/** Reads the value of a node; returns the place behind it, 0 to refuse the document. */
function readValue(node: usize, place: usize, depth: u32): usize {
  const kind = load<u32>(node, NODE_KIND);
  if (kind === KIND_LEAF) return readLeaf(node, place, depth);
  if (kind === KIND_SKIPPED) return skipValue(place, depth);
  if (kind === KIND_HOST_LEAF) return leaveToHost(node, place, depth);
  if (kind === KIND_POINT) return readPoint(node, place, depth);
  const byte = load<u8>(place);
  if (byte === 0x7b) return readObject(node, place + 1, depth);
  if (byte === 0x5b) return readElements(node, place + 1, depth);
  return load<u32>(place) === NULL_WORD ? place + 4 : 0;
}

/** Reads an array from behind its bracket, each element as a value of the node. */
function readElements(node: usize, start: usize, depth: u32): usize {
  if (depth >= MAX_DEPTH) return 0;
  let place = skipSpace(start);
  if (load<u8>(place) === 0x5d) return place + 1;
  let following: u8 = 0x2c;
  while (following === 0x2c) {
    place = readValue(node, skipSpace(place), depth + 1);
    if (place === 0) return 0;
    place = skipSpace(place);
    following = load<u8>(place++);
  }
  return following === 0x5d ? place : 0;
}

/** "true", "fals" and "null" as they stand in memory. */
const TRUE_WORD: u32 = 0x6575_7274;
const FALSE_WORD: u32 = 0x736c_6166;
const NULL_WORD: u32 = 0x6c6c_756e;

/** Kind and range of the scalar that was read last. */
let kind: u32 = 0;
let valueStart: usize = 0;
let valueStop: usize = 0;
/** What isPlainUnicode says of it: 0 where it wasn't asked, 1 no, 2 yes. */
let plainness: u32 = 0;

/** Reads a string, number or literal; returns the place behind it. */
function readScalar(place: usize): usize {
  plainness = 0;
  const byte = load<u8>(place);
  if (byte === 0x22) {
    kind = STRING;
    valueStart = place + 1;
    valueStop = readString(place + 1);
    return valueStop === 0 ? 0 : valueStop + 1;
  }
  valueStart = place;
  clearString();
  const word = load<u32>(place);
  if (word === TRUE_WORD) {
    kind = TRUE;
    valueStop = place + 4;
  } else if (word === NULL_WORD) {
    kind = NULL;
    valueStop = place + 4;
  } else if (word === FALSE_WORD && load<u8>(place, 4) === 0x65) {
    kind = FALSE;
    valueStop = place + 5;
  } else {
    kind = NUMBER;
    valueStop = readNumber(place);
  }
  return valueStop;
}

/** Reads the value of a leaf into the tape. */
function readLeaf(node: usize, place: usize, depth: u32): usize {
  const byte = load<u8>(place);
  if (byte === 0x5b) return readElements(node, place + 1, depth);
  if (byte === 0x7b) return leaveToHost(node, place, depth);
  const next = readScalar(place);
  if (next === 0 || kind === NULL) return next;
  const tape = scratch + SCRATCH_TAPE;
  const before = length(tape);
  const targets = load<u32>(node, NODE_TARGETS);
  const count = load<u32>(node, NODE_TARGET_COUNT);
  for (let index: u32 = 0; index < count; index++) {
    if (pushValue(targets + index * TARGET_BYTES)) continue;
    setLength(tape, before);
    pushEntry(node, ACTION_HOST, place, next);
    break;
  }
  return next;
}

/** Passes over a value and notes that it is the host's. */
function leaveToHost(node: usize, place: usize, depth: u32): usize {
  const next = skipValue(place, depth);
  if (next !== 0) pushEntry(node, ACTION_HOST, place, next);
  return next;
}

/** Reads a point into the tape: an object of two numbers, or two in an array, longitude first. Others are the host's. */
function readPoint(node: usize, place: usize, depth: u32): usize {
  const byte = load<u8>(place);
  if (load<u32>(place) === NULL_WORD) return place + 4;
  pointParts = 0;
  const next = byte === 0x7b ? readPointObject(place + 1) : byte === 0x5b ? readPointArray(place + 1) : 0;
  if (
    next === 0 ||
    pointParts !== (HAS_LATITUDE | HAS_LONGITUDE) ||
    abs(latitude) > MAX_LATITUDE ||
    abs(longitude) > MAX_LONGITUDE
  )
    return leaveToHost(node, place, depth);
  const entry = pushEntry(load<u32>(node, NODE_TARGETS), ACTION_POINT, place, next);
  store<f64>(entry, latitude, ENTRY_NUMBER);
  store<f64>(entry, longitude, ENTRY_START);
  return next;
}

/** The point at hand, in degrees, and which parts of it were read. */
let latitude: f64 = 0;
let longitude: f64 = 0;
let pointParts: u32 = 0;
const HAS_LATITUDE: u32 = 1;
const HAS_LONGITUDE: u32 = 2;
const MAX_LATITUDE: f64 = 90;
const MAX_LONGITUDE: f64 = 180;

/** `"lat` and `"lon` as they stand in memory. */
const LAT_WORD: u32 = 0x7461_6c22;
const LON_WORD: u32 = 0x6e6f_6c22;

function readPointObject(start: usize): usize {
  let place = start;
  let following: u8 = 0x2c;
  while (following === 0x2c) {
    place = skipSpace(place);
    const word = load<u32>(place);
    if ((word !== LAT_WORD && word !== LON_WORD) || load<u8>(place, 4) !== 0x22) return 0;
    place = skipSpace(place + 5);
    if (load<u8>(place) !== 0x3a) return 0;
    place = readPointPart(skipSpace(place + 1), word === LAT_WORD ? HAS_LATITUDE : HAS_LONGITUDE);
    if (place === 0) return 0;
    following = load<u8>(place++);
  }
  return following === 0x7d ? place : 0;
}

function readPointArray(start: usize): usize {
  let place = readPointPart(skipSpace(start), HAS_LONGITUDE);
  if (place === 0 || load<u8>(place) !== 0x2c) return 0;
  place = readPointPart(skipSpace(place + 1), HAS_LATITUDE);
  return place !== 0 && load<u8>(place) === 0x5d ? place + 1 : 0;
}

/** Reads a number and the white space behind it; 0 where the host must, or the part was read before. */
function readPointPart(place: usize, part: u32): usize {
  const next = readNumber(place);
  if (next === 0 || !isExact() || (pointParts & part) !== 0) return 0;
  pointParts |= part;
  if (part === HAS_LATITUDE) latitude = numberValue();
  else longitude = numberValue();
  return skipSpace(next);
}

function pushEntry(target: usize, action: u32, start: usize, stop: usize): usize {
  const tape = scratch + SCRATCH_TAPE;
  reserve(tape, ENTRY_BYTES);
  const entry = end(tape);
  setLength(tape, length(tape) + ENTRY_BYTES);
  store<u32>(entry, target as u32, ENTRY_TARGET);
  store<u32>(entry, action, ENTRY_ACTION);
  store<u32>(entry, (start - input) as u32, ENTRY_START);
  store<u32>(entry, (stop - input) as u32, ENTRY_STOP);
  return entry;
}

/** Notes the scalar at hand for a target; false where it is the host's. */
function pushValue(target: usize): bool {
  const type = load<u32>(target, TARGET_TYPE);
  if (type === TYPE_TEXT || type === TYPE_KEYWORD) return pushBytes(target, type);
  if (!readAs(type)) return false;
  const entry = pushEntry(target, ACTION_NUMBER, valueStart, valueStop);
  store<f64>(entry, number, ENTRY_NUMBER);
  return true;
}

function pushBytes(target: usize, type: u32): bool {
  const count = (valueStop - valueStart) as u32;
  if (isEscaped && isWide) return false;
  let action: u32 = isEscaped ? ACTION_ESCAPED : ACTION_BYTES;
  if (type === TYPE_TEXT) {
    if (count > (MAX_TEXT_BYTES as u32)) return false;
    if (isHigh) {
      if (!isPlain()) return false;
      action |= ACTION_HIGH;
    }
  } else {
    // Ill-formed text becomes another one where escapes are resolved.
    if (isEscaped && isHigh && !isPlain()) return false;
    if (count > (MAX_KEYWORD_BYTES as u32)) return false;
    // The limit counts characters.
    if (isHigh && count > load<u32>(target, TARGET_LIMIT)) return false;
  }
  pushEntry(target, action, valueStart, valueStop);
  return true;
}

/** Whether the string at hand is plain text beyond ASCII; several targets ask. */
function isPlain(): bool {
  if (plainness === 0) plainness = isPlainUnicode(valueStart, (valueStop - valueStart) as u32) ? 2 : 1;
  return plainness === 2;
}

/** Value that `readAs` found. */
let number: f64 = 0;

/** Reads the scalar at hand as a number, date or boolean; false where it is the host's. */
function readAs(type: u32): bool {
  if (type === TYPE_DATE) {
    if (kind !== STRING || isEscaped || !readDate(valueStart, (valueStop - valueStart) as u32)) return false;
    number = timeMs as f64;
    return true;
  }
  if (type === TYPE_BOOLEAN) {
    number = kind === TRUE ? 1 : 0;
    return kind === TRUE || kind === FALSE;
  }
  if (kind !== NUMBER) return false;
  if (type === TYPE_DOUBLE || type === TYPE_FLOAT) {
    if (!isExact()) return false;
    number = numberValue();
    if (type === TYPE_FLOAT) number = number as f32 as f64;
    return true;
  }
  return isWhole && digitCount <= MAX_EXACT_LENGTH && readWhole(type);
}

/** Reads a whole number that has no more than 15 digits. */
function readWhole(type: u32): bool {
  const value = isNegative ? -(digits as i64) : (digits as i64);
  number = value as f64;
  if (type === TYPE_INTEGER) return value === (value as i32 as i64);
  if (type === TYPE_SHORT) return value === (value as i16 as i64);
  if (type === TYPE_BYTE) return value === (value as i8 as i64);
  return type === TYPE_LONG;
}

/** Passes over a value; returns the place behind it, 0 to refuse the document. */
function skipValue(place: usize, depth: u32): usize {
  const byte = load<u8>(place);
  if (byte !== 0x7b && byte !== 0x5b) return readScalar(place);
  if (depth >= MAX_DEPTH) return 0;
  const isObject = byte === 0x7b;
  const close: u8 = isObject ? 0x7d : 0x5d;
  let next = skipSpace(place + 1);
  if (load<u8>(next) === close) return next + 1;
  let following: u8 = 0x2c;
  while (following === 0x2c) {
    next = skipSpace(next);
    if (isObject) next = skipName(next);
    if (next !== 0) next = skipValue(next, depth + 1);
    if (next === 0) return 0;
    next = skipSpace(next);
    following = load<u8>(next++);
  }
  return following === close ? next : 0;
}

/** Passes over a name and its colon; returns where the value begins. */
function skipName(place: usize): usize {
  if (load<u8>(place) !== 0x22) return 0;
  const quote = readString(place + 1);
  if (quote === 0) return 0;
  const colon = skipSpace(quote + 1);
  return load<u8>(colon) === 0x3a ? skipSpace(colon + 1) : 0;
}
