/**
 * Reads back samples of a block that was just written, using only its grammar, and compares them with the original
 * documents. Of what the writer recorded, only the addresses of the values are used, and the pieces between them must
 * fill the document.
 */

import { at, end, length, reserve, setLength } from "../buffer";
import {
  COLUMNAR_COLUMNS,
  COLUMNAR_DISTINCT,
  COLUMNAR_ENDS,
  COLUMNAR_FIRSTS,
  COLUMNAR_INPUT,
  COLUMNAR_LONG,
  COLUMNAR_OUT,
  COLUMNAR_VALUES,
  COLUMNAR_WRITTEN,
  VALUE_BYTES,
} from "../layout-columnar";
import { checkTemplates } from "./check-templates";
import {
  checkValues,
  NO_TEMPLATE,
  SAMPLE_BYTES,
  SAMPLE_DOC,
  SAMPLE_FROM,
  SAMPLE_ROW,
  SAMPLE_SHAPE,
  SAMPLE_TO,
  SAMPLE_VALUES,
} from "./check-values";
import { isSame } from "./kinds";
import { numberAt, pass, address, readFrom, stop, take, takeByte, takeNumbers } from "./read-numbers";

/** Form of a column of templates; see check-values.ts for the others. */
const TEMPLATES: u32 = 5;
/** Every this many documents one is compared. */
const SAMPLED_DOCS: u32 = 64;

/** Whether samples of the block of the `count` documents of the input come back. Must follow `writeColumnar`. */
export function checkColumnar(state: usize, count: u32): bool {
  const out = state + COLUMNAR_OUT;
  readFrom(at(out), end(out));
  if (take() !== count) return false;
  const shapes = take();
  if (shapes > length(out) || !listShapes(state, shapes)) return false;
  if (!takeSamples(state, count, shapes)) return false;
  if (!checkWhole(state) || !checkPieces(state)) return false;
  for (let shape: u32 = 1; shape <= shapes; shape++) {
    const rows = load<u32>(at(state + COLUMNAR_DISTINCT) + 4 * shape);
    if (!checkShape(state, shape, rows)) return false;
  }
  return address === stop;
}

/** Records where the pieces of each shape are, and how many there are. */
function listShapes(state: usize, shapes: u32): bool {
  const list = state + COLUMNAR_LONG;
  setLength(list, 0);
  reserve(list, 8 * shapes);
  for (let shape: u32 = 0; shape < shapes; shape++) {
    const pieces = take();
    store<u32>(at(list) + 8 * shape, address as u32);
    store<u32>(at(list) + 8 * shape, pieces, 4);
    for (let left = pieces; left > 0; left--) if (!pass(take())) return false;
  }
  return true;
}

/** Lists the samples with their shapes and rows, and counts the documents of each shape, of those that are whole before. */
function takeSamples(state: usize, count: u32, shapes: u32): bool {
  const samples = state + COLUMNAR_COLUMNS;
  const counts = state + COLUMNAR_DISTINCT;
  setLength(samples, 0);
  reserve(samples, SAMPLE_BYTES * (count / SAMPLED_DOCS + 1));
  setLength(counts, 0);
  reserve(counts, 4 * (shapes + 1));
  memory.fill(at(counts), 0, 4 * (shapes + 1));
  if (!takeNumbers(count)) return false;
  let sample = at(samples);
  for (let doc: u32 = 0; doc < count; doc++) {
    const shape = numberAt(doc) as u32;
    if (shape > shapes) return false;
    const rows = at(counts) + 4 * shape;
    const row = load<u32>(rows);
    store<u32>(rows, row + 1);
    if (doc % SAMPLED_DOCS !== 0) continue;
    store<u32>(sample, doc, SAMPLE_DOC);
    store<u32>(sample, shape, SAMPLE_SHAPE);
    store<u32>(sample, row, SAMPLE_ROW);
    const first = load<u32>(at(state + COLUMNAR_FIRSTS) + 4 * doc);
    store<u32>(sample, (at(state + COLUMNAR_VALUES) + VALUE_BYTES * first) as u32, SAMPLE_VALUES);
    sample += SAMPLE_BYTES;
  }
  setLength(samples, (sample - at(samples)) as u32);
  return true;
}

function startOf(state: usize, doc: u32): usize {
  return at(state + COLUMNAR_INPUT) + (doc === 0 ? 0 : load<u32>(at(state + COLUMNAR_ENDS) + 4 * (doc - 1)));
}

function endOf(state: usize, doc: u32): usize {
  return at(state + COLUMNAR_INPUT) + load<u32>(at(state + COLUMNAR_ENDS) + 4 * doc);
}

/** Passes the documents that are whole; false where one of the samples differs. */
function checkWhole(state: usize): bool {
  const rows = load<u32>(at(state + COLUMNAR_DISTINCT));
  const last = end(state + COLUMNAR_COLUMNS);
  let sample = at(state + COLUMNAR_COLUMNS);
  for (let row: u32 = 0; row < rows; row++) {
    while (sample < last && load<u32>(sample, SAMPLE_SHAPE) !== 0) sample += SAMPLE_BYTES;
    const bytes = take();
    const from = address;
    if (!pass(bytes)) return false;
    if (sample >= last || load<u32>(sample, SAMPLE_ROW) !== row) continue;
    const doc = load<u32>(sample, SAMPLE_DOC);
    const start = startOf(state, doc);
    if (start + bytes !== endOf(state, doc) || !isSame(start, from, bytes)) return false;
    sample += SAMPLE_BYTES;
  }
  return true;
}

/** Whether the pieces of each sample's shape are what is around its values. */
function checkPieces(state: usize): bool {
  const block = address;
  const last = end(state + COLUMNAR_COLUMNS);
  for (let sample = at(state + COLUMNAR_COLUMNS); sample < last; sample += SAMPLE_BYTES) {
    const shape = load<u32>(sample, SAMPLE_SHAPE);
    if (shape === 0) continue;
    const entry = at(state + COLUMNAR_LONG) + 8 * (shape - 1);
    const doc = load<u32>(sample, SAMPLE_DOC);
    let value = load<u32>(sample, SAMPLE_VALUES) as usize;
    let from = startOf(state, doc);
    readFrom(load<u32>(entry), stop);
    for (let left = load<u32>(entry, 4); left > 0; left--) {
      const bytes = take();
      const to = left === 1 ? endOf(state, doc) : (load<u32>(value) as usize);
      if (from + bytes !== to || !isSame(from, address, bytes)) return false;
      pass(bytes);
      from = load<u32>(value, 4);
      value += VALUE_BYTES;
    }
  }
  readFrom(block, stop);
  return true;
}

/** Passes the columns of a shape, each number of which must come once; false where a value of a sample differs. */
function checkShape(state: usize, shape: u32, rows: u32): bool {
  const pieces = load<u32>(at(state + COLUMNAR_LONG) + 8 * (shape - 1), 4);
  if (pieces === 0) return false;
  const columns = pieces - 1;
  const written = state + COLUMNAR_WRITTEN;
  setLength(written, 0);
  reserve(written, columns);
  memory.fill(at(written), 0, columns);
  setLength(written, columns);
  for (let left = columns; left > 0; left--) {
    const number = take();
    if (number >= columns || load<u8>(at(written) + number) !== 0) return false;
    const last = end(state + COLUMNAR_COLUMNS);
    for (let sample = at(state + COLUMNAR_COLUMNS); sample < last; sample += SAMPLE_BYTES) {
      if (load<u32>(sample, SAMPLE_SHAPE) !== shape) continue;
      const value = load<u32>(sample, SAMPLE_VALUES) + VALUE_BYTES * number;
      store<u64>(sample, load<u64>(value), SAMPLE_FROM);
    }
    if (!checkColumn(state, shape, rows)) return false;
    store<u8>(at(written) + number, 1);
  }
  return true;
}

/** Passes a column of a shape; false where the value of a sample differs. */
function checkColumn(state: usize, shape: u32, rows: u32): bool {
  const form = takeByte();
  if (form === TEMPLATES) return checkTemplates(state, shape, rows);
  if (!checkValues(state, form, rows, shape, NO_TEMPLATE)) return false;
  const last = end(state + COLUMNAR_COLUMNS);
  for (let sample = at(state + COLUMNAR_COLUMNS); sample < last; sample += SAMPLE_BYTES)
    if (load<u32>(sample, SAMPLE_SHAPE) === shape && load<u32>(sample, SAMPLE_FROM) !== load<u32>(sample, SAMPLE_TO))
      return false;
  return true;
}
