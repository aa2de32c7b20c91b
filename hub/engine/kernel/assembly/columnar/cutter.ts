/**
 * Cuts documents into shapes and values. A shape is a document without its values: those of its first document say what
 * is around them. The twin is test/oracles/engine/columnar/document-cutter.ts.
 */

import { at, reserve, setLength } from "../buffer";
import {
  COLUMNAR_ENDS,
  COLUMNAR_FIRSTS,
  COLUMNAR_INPUT,
  COLUMNAR_SHAPE_OF,
  COLUMNAR_SHAPES,
  COLUMNAR_VALUES,
  VALUE_BYTES,
} from "../layout-columnar";
import { hashFactor, hashSeed } from "../terms";
import { BACKSLASH, COLON, isSame, kindOf, QUOTE, SCALAR, SPACE } from "./kinds";

/** Shapes of a block: documents of further ones stay whole. */
const MAX_SHAPES: u32 = 250;
/** Values of a document: one with more stays whole. */
const MAX_VALUES: u32 = 1000;
/** The shape of documents that stay whole: invalid JSON, too many values, too many shapes. */
const NO_SHAPE: i32 = -1;
/** What stands for a value in the hash of a shape. */
const SCALAR_EVENT: u64 = 0x100;

/** A shape: hash (u64), first document, values of a document, documents, its first one in the list by shape. */
export const SHAPE_HASH: u32 = 0;
export const SHAPE_DOC: u32 = 8;
export const SHAPE_VALUES: u32 = 12;
export const SHAPE_DOCS: u32 = 16;
export const SHAPE_START: u32 = 20;
const SHAPE_BYTES: u32 = 24;

/** Shapes of the block. */
export let shapeCount: u32 = 0;
/** Values that were found. */
let valueCount: u32 = 0;
/** The shapes used last, with which a document is compared first; NO_SHAPE where there is none. */
let recent0: i32 = NO_SHAPE;
let recent1: i32 = NO_SHAPE;
let recent2: i32 = NO_SHAPE;

/** Address of a shape. */
@inline
export function shapeAt(state: usize, shape: u32): usize {
  return at(state + COLUMNAR_SHAPES) + shape * SHAPE_BYTES;
}

/** Cuts the `count` documents of the input. */
export function cutDocuments(state: usize, count: u32): void {
  shapeCount = 0;
  valueCount = 0;
  const firsts = state + COLUMNAR_FIRSTS;
  const shapes = state + COLUMNAR_SHAPE_OF;
  const values = state + COLUMNAR_VALUES;
  setLength(firsts, 0);
  setLength(shapes, 0);
  setLength(values, 0);
  setLength(state + COLUMNAR_SHAPES, 0);
  reserve(firsts, 4 * count);
  reserve(shapes, 4 * count);
  reserve(state + COLUMNAR_SHAPES, MAX_SHAPES * SHAPE_BYTES);
  const input = at(state + COLUMNAR_INPUT);
  let from = input;
  recent0 = recent1 = recent2 = NO_SHAPE;
  for (let doc: u32 = 0; doc < count; doc++) {
    const to = input + load<u32>(at(state + COLUMNAR_ENDS) + 4 * doc);
    const first = valueCount;
    setLength(values, VALUE_BYTES * first);
    reserve(values, VALUE_BYTES * (MAX_VALUES + 1));
    store<u32>(at(firsts) + 4 * doc, first);
    let shape = recentShape(state, from, to);
    if (shape === NO_SHAPE) shape = shapeOf(state, doc, from, to);
    if (shape === NO_SHAPE) valueCount = first;
    else use(state, shape);
    store<i32>(at(shapes) + 4 * doc, shape);
    from = to;
  }
}

/** The shape of a document among those used last: most documents of a log have one of a few. */
function recentShape(state: usize, from: usize, to: usize): i32 {
  if (fits(state, recent0, from, to)) return recent0;
  if (fits(state, recent1, from, to)) return recent1;
  return fits(state, recent2, from, to) ? recent2 : NO_SHAPE;
}

/** Adds a document to a shape, and puts it first among those used last. */
function use(state: usize, shape: i32): void {
  const record = shapeAt(state, shape as u32);
  store<u32>(record, load<u32>(record, SHAPE_DOCS) + 1, SHAPE_DOCS);
  if (shape === recent0) return;
  if (shape !== recent1) recent2 = recent1;
  recent1 = recent0;
  recent0 = shape;
}

/** Finds the values of a document where it has a shape; false, having recorded none if it doesn't. */
function fits(state: usize, shape: i32, from: usize, to: usize): bool {
  if (shape === NO_SHAPE) return false;
  const record = shapeAt(state, shape as u32);
  const doc = load<u32>(record, SHAPE_DOC);
  const count = load<u32>(record, SHAPE_VALUES);
  const input = at(state + COLUMNAR_INPUT);
  const ends = at(state + COLUMNAR_ENDS);
  const values = at(state + COLUMNAR_VALUES);
  let model = values + VALUE_BYTES * load<u32>(at(state + COLUMNAR_FIRSTS) + 4 * doc);
  const last = model + VALUE_BYTES * count;
  let value = values + VALUE_BYTES * valueCount;
  const start = input + (doc === 0 ? 0 : load<u32>(ends + 4 * (doc - 1)));
  const end = input + load<u32>(ends + 4 * doc);
  // Documents that begin alike often end differently.
  const rest = (end - (count === 0 ? start : load<u32>(last - VALUE_BYTES, 4))) as u32;
  if (from + rest > to || !isSame(to - rest, end - rest, rest)) return false;
  let piece = start;
  let address = from;
  for (; model < last; model += VALUE_BYTES) {
    const stop = load<u32>(model) as usize;
    const bytes = (stop - piece) as u32;
    if (address + bytes > to || !isSame(address, piece, bytes)) return false;
    address += bytes;
    store<u32>(value, address as u32);
    if (bytes > 0 && load<u8>(stop - 1) === QUOTE) {
      address = endOfText(address, to);
      if (address === 0) return false;
    } else while (address < to && (kindOf(load<u8>(address)) & SCALAR) !== 0) address++;
    store<u32>(value, address as u32, 4);
    value += VALUE_BYTES;
    piece = load<u32>(model, 4);
  }
  if (address + rest !== to) return false;
  valueCount += count;
  return true;
}

/** Finds the values of a document, and its shape. */
function shapeOf(state: usize, doc: u32, from: usize, to: usize): i32 {
  const first = valueCount;
  const limit = first + MAX_VALUES;
  const values = at(state + COLUMNAR_VALUES);
  let hash = hashSeed;
  let address = from;
  while (address < to) {
    const byte = load<u8>(address) as u32;
    let event = byte as u64;
    let stop = address + 1;
    if (byte === QUOTE) {
      const end = endOfText(stop, to);
      if (end === 0) return NO_SHAPE;
      stop = end + 1;
      while (stop < to && load<u8>(stop) <= SPACE) stop++;
      if (stop < to && load<u8>(stop) === COLON) for (; address < stop; address++) hash = withEvent(hash, load<u8>(address));
      else {
        stop = end + 1;
        if (valueCount === limit) return NO_SHAPE;
        addValue(values, address + 1, end);
      }
    } else if ((kindOf(byte) & SCALAR) !== 0) {
      while (stop < to && (kindOf(load<u8>(stop)) & SCALAR) !== 0) stop++;
      if (valueCount === limit) return NO_SHAPE;
      addValue(values, address, stop);
      event = SCALAR_EVENT;
    }
    hash = withEvent(hash, event);
    address = stop;
  }
  return numberOf(state, hash ^ (hash >>> 29), doc, from, to, first);
}

@inline
function withEvent(before: u64, event: u64): u64 {
  const hash = (before ^ event) * hashFactor;
  return hash ^ (hash >>> 32);
}

@inline
function addValue(values: usize, start: usize, stop: usize): void {
  const value = values + VALUE_BYTES * valueCount++;
  store<u32>(value, start as u32);
  store<u32>(value, stop as u32, 4);
}

/** Number of the shape with a hash: that of the document at hand where it is new. */
function numberOf(state: usize, hash: u64, doc: u32, from: usize, to: usize, first: u32): i32 {
  for (let shape: u32 = 0; shape < shapeCount; shape++) {
    if (load<u64>(shapeAt(state, shape), SHAPE_HASH) !== hash) continue;
    valueCount = first;
    return fits(state, shape as i32, from, to) ? (shape as i32) : NO_SHAPE;
  }
  if (shapeCount === MAX_SHAPES) return NO_SHAPE;
  const record = shapeAt(state, shapeCount);
  store<u64>(record, hash, SHAPE_HASH);
  store<u32>(record, doc, SHAPE_DOC);
  store<u32>(record, valueCount - first, SHAPE_VALUES);
  store<u32>(record, 0, SHAPE_DOCS);
  return shapeCount++ as i32;
}

/** Address of the quote that ends a text; 0 without one before `to`, or where a control character is before. */
function endOfText(from: usize, to: usize): usize {
  const quote = i8x16.splat(0x22);
  const backslash = i8x16.splat(0x5c);
  const space = i8x16.splat(0x20);
  let address = from;
  while (address < to) {
    const bytes = v128.load(address);
    const ends = v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash));
    const stops = i8x16.bitmask(v128.or(ends, i8x16.lt_u(bytes, space)));
    if (stops === 0) {
      address += 16;
      continue;
    }
    address += ctz(stops);
    if (address >= to) return 0;
    const byte = load<u8>(address) as u32;
    if (byte === QUOTE) return address;
    if (byte !== BACKSLASH) return 0;
    if (address + 1 < to && load<u8>(address + 1) < SPACE) return 0;
    address += 2;
  }
  return 0;
}
