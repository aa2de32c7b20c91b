/**
 * Documents as a columnar block: their shapes, and the values of each shape by column. Grammar: hub/engine/README.md. The
 * twin, which gives the same bytes, is test/oracles/engine/columnar/columnar-writer.ts.
 */

import { at, end, length, push32, reserve, setLength } from "../buffer";
import {
  COLUMNAR_COLUMNS,
  COLUMNAR_DOCS,
  COLUMNAR_ENDS,
  COLUMNAR_FIRSTS,
  COLUMNAR_INPUT,
  COLUMNAR_LONG,
  COLUMNAR_NUMBERS,
  COLUMNAR_OUT,
  COLUMNAR_SHAPE_OF,
  COLUMNAR_SHAPES,
  COLUMNAR_VALUES,
  COLUMNAR_WRITTEN,
  VALUE_BYTES,
} from "../layout-columnar";
import { cutDocuments, shapeAt, shapeCount, SHAPE_DOC, SHAPE_DOCS, SHAPE_START, SHAPE_VALUES } from "./cutter";
import { makeKinds } from "./kinds";
import { writeNumbers } from "./numbers";
import { putCounted, putNumber } from "./output";
import { writeTemplates } from "./templates";
import { sizeOf, writeCompact, writeTexts } from "./values";

/** Values of this many bytes on average are cut into templates. */
const LONG_BYTES: u32 = 16;
/** Documents of a shape whose texts are worth templates. */
const ENOUGH_DOCS: u32 = 16;

/** Writes the block of the `count` documents of the input to the output. */
export function writeColumnar(state: usize, count: u32): void {
  const out = state + COLUMNAR_OUT;
  setLength(out, 0);
  makeKinds(state);
  cutDocuments(state, count);
  putNumber(out, count);
  putNumber(out, shapeCount);
  for (let shape: u32 = 0; shape < shapeCount; shape++) putPieces(state, shape);
  putShapes(state, count);
  const shapes = at(state + COLUMNAR_SHAPE_OF);
  for (let doc: u32 = 0; doc < count; doc++) {
    if (load<i32>(shapes + 4 * doc) >= 0) continue;
    const from = startOf(state, doc);
    putCounted(out, from, (endOf(state, doc) - from) as u32);
  }
  groupDocuments(state, count);
  for (let shape: u32 = 0; shape < shapeCount; shape++) writeShape(state, shape);
}

function startOf(state: usize, doc: u32): usize {
  return at(state + COLUMNAR_INPUT) + (doc === 0 ? 0 : load<u32>(at(state + COLUMNAR_ENDS) + 4 * (doc - 1)));
}

function endOf(state: usize, doc: u32): usize {
  return at(state + COLUMNAR_INPUT) + load<u32>(at(state + COLUMNAR_ENDS) + 4 * doc);
}

/** Appends what is around the values of a shape's first document. */
function putPieces(state: usize, shape: u32): void {
  const out = state + COLUMNAR_OUT;
  const record = shapeAt(state, shape);
  const doc = load<u32>(record, SHAPE_DOC);
  const count = load<u32>(record, SHAPE_VALUES);
  let value = at(state + COLUMNAR_VALUES) + VALUE_BYTES * load<u32>(at(state + COLUMNAR_FIRSTS) + 4 * doc);
  let from = startOf(state, doc);
  putNumber(out, count + 1);
  for (let left = count; left > 0; left--) {
    putCounted(out, from, load<u32>(value) - (from as u32));
    from = load<u32>(value, 4);
    value += VALUE_BYTES;
  }
  putCounted(out, from, (endOf(state, doc) - from) as u32);
}

function putShapes(state: usize, count: u32): void {
  const numbers = state + COLUMNAR_NUMBERS;
  setLength(numbers, 0);
  reserve(numbers, 8 * count);
  const shapes = at(state + COLUMNAR_SHAPE_OF);
  for (let doc: u32 = 0; doc < count; doc++)
    store<i64>(at(numbers) + 8 * doc, (load<i32>(shapes + 4 * doc) + 1) as i64);
  writeNumbers(at(numbers), count, state + COLUMNAR_OUT);
}

/** Lists the documents of each shape. */
function groupDocuments(state: usize, count: u32): void {
  const docs = state + COLUMNAR_DOCS;
  setLength(docs, 0);
  reserve(docs, 4 * count);
  let next: u32 = 0;
  for (let shape: u32 = 0; shape < shapeCount; shape++) {
    const record = shapeAt(state, shape);
    store<u32>(record, next, SHAPE_START);
    next += load<u32>(record, SHAPE_DOCS);
    store<u32>(record, 0, SHAPE_DOCS);
  }
  const shapes = at(state + COLUMNAR_SHAPE_OF);
  for (let doc: u32 = 0; doc < count; doc++) {
    const shape = load<i32>(shapes + 4 * doc);
    if (shape < 0) continue;
    const record = shapeAt(state, shape as u32);
    const row = load<u32>(record, SHAPE_DOCS);
    store<u32>(at(docs) + 4 * (load<u32>(record, SHAPE_START) + row), doc);
    store<u32>(record, row + 1, SHAPE_DOCS);
  }
}

/** Writes a shape's columns, each with its number: the short ones first, which the long ones may refer to. */
function writeShape(state: usize, shape: u32): void {
  const record = shapeAt(state, shape);
  const rows = load<u32>(record, SHAPE_DOCS);
  const columns = load<u32>(record, SHAPE_VALUES);
  const out = state + COLUMNAR_OUT;
  const written = state + COLUMNAR_WRITTEN;
  const long = state + COLUMNAR_LONG;
  gatherColumns(state, record, rows, columns);
  setLength(written, 0);
  setLength(long, 0);
  for (let number: u32 = 0; number < columns; number++) {
    const values = at(state + COLUMNAR_COLUMNS) + VALUE_BYTES * number * rows;
    const from = length(out);
    putNumber(out, number);
    if (!writeCompact(state, values, rows)) {
      const size = sizeOf(values, rows);
      if (size >= LONG_BYTES * rows && rows >= ENOUGH_DOCS) {
        setLength(out, from);
        addLong(long, number, size);
        continue;
      }
      writeTexts(state, values, rows);
    }
    push32(written, number);
  }
  for (let entry: u32 = 0; entry < length(long); entry += 8) {
    const number = load<u32>(at(long) + entry);
    putNumber(out, number);
    const values = at(state + COLUMNAR_COLUMNS) + VALUE_BYTES * number * rows;
    if (!writeTemplates(state, values, rows)) writeTexts(state, values, rows);
    push32(written, number);
  }
}

/** Puts the values of a shape's documents column by column. */
function gatherColumns(state: usize, record: usize, rows: u32, columns: u32): void {
  const all = state + COLUMNAR_COLUMNS;
  setLength(all, 0);
  reserve(all, VALUE_BYTES * rows * columns);
  const docs = at(state + COLUMNAR_DOCS) + 4 * load<u32>(record, SHAPE_START);
  const firsts = at(state + COLUMNAR_FIRSTS);
  const stride = VALUE_BYTES * rows;
  for (let row: u32 = 0; row < rows; row++) {
    let from = at(state + COLUMNAR_VALUES) + VALUE_BYTES * load<u32>(firsts + 4 * load<u32>(docs + 4 * row));
    let to = at(all) + VALUE_BYTES * row;
    for (let left = columns; left > 0; left--) {
      store<u64>(to, load<u64>(from));
      from += VALUE_BYTES;
      to += stride;
    }
  }
}

/** Adds a column to the long ones, the smallest first; of two of one size the one that came first. */
function addLong(long: usize, number: u32, size: u32): void {
  reserve(long, 8);
  let address = end(long);
  while (address > at(long) && load<u32>(address - 4) > size) {
    store<u64>(address, load<u64>(address - 8));
    address -= 8;
  }
  store<u32>(address, number);
  store<u32>(address, size, 4);
  setLength(long, length(long) + 8);
}
