/**
 * Writes long texts as templates and what varies in them: values of other columns of the same document, and words with
 * digits. The twin is test/oracles/engine/columnar/template-splitter.ts.
 */

import { at, length, reserve, setLength } from "../buffer";
import {
  COLUMNAR_COLUMNS,
  COLUMNAR_FOUND,
  COLUMNAR_NUMBERS,
  COLUMNAR_OUT,
  COLUMNAR_PARTS,
  COLUMNAR_ROW_VARIABLES,
  COLUMNAR_ROWS,
  COLUMNAR_SLOTS,
  COLUMNAR_VARIABLE,
  COLUMNAR_VARIABLES,
  VALUE_BYTES,
} from "../layout-columnar";
import { writeNumbers } from "./numbers";
import { putByte, putNumber } from "./output";
import {
  addTemplate,
  clearTemplates,
  hasParts,
  MAX_PARTS,
  MAX_TEMPLATES,
  PART_BYTES,
  putOperations,
  TEMPLATE_HASH,
  TEMPLATE_NUMBER,
  TEMPLATE_ROWS,
  TEMPLATE_START,
  TEMPLATE_VARIABLES,
  templateAt,
  templateCount,
} from "./template";
import { addToTree, findInTree, NONE } from "./template-tree";
import { cutText, offerReferred, offerWritten } from "./text-cutter";
import { writeCompact, writeTexts } from "./values";

/** Form of a column: see hub/engine/README.md. */
const TEMPLATES: u32 = 5;
/** Rows that a template has at least: rarer ones are one variable. */
const FEWEST_ROWS: u32 = 4;
/** Longest text that is cut. */
const MAX_TEXT_BYTES: usize = 4096;
/** Rows at the start that decide which columns texts refer to. */
const SAMPLE: u32 = 32;
/** Slots of the table of templates: more than twice as many as there are templates. */
const TEMPLATE_SLOTS: u32 = 2048;

/** Appends the texts at `values`, which may refer to columns that are written; false if no template has enough rows. */
export function writeTemplates(state: usize, values: usize, count: u32): bool {
  findTemplates(state, values, count);
  const numbered = numberTemplates(state);
  if (numbered === 1) return false;
  const out = state + COLUMNAR_OUT;
  putByte(out, TEMPLATES);
  putNumber(out, numbered);
  // The one operation of number 0, whose texts are one variable each.
  putNumber(out, 1);
  putNumber(out, 0);
  putNumber(out, 1);
  for (let template: u32 = 0; template < templateCount; template++) {
    const record = templateAt(state, template);
    if (load<u32>(record, TEMPLATE_NUMBER) > 0) putOperations(state, record);
  }
  const wholeRows = groupRows(state, count);
  writeNumbers(at(state + COLUMNAR_NUMBERS), count, out);
  writeWhole(state, values, count - wholeRows, wholeRows);
  for (let template: u32 = 0; template < templateCount; template++) {
    const record = templateAt(state, template);
    if (load<u32>(record, TEMPLATE_NUMBER) > 0) writeVariables(state, record);
  }
  return true;
}

/** Finds the template of each row, and its variables. */
function findTemplates(state: usize, values: usize, count: u32): void {
  const templates = state + COLUMNAR_FOUND;
  const firsts = state + COLUMNAR_ROW_VARIABLES;
  setLength(templates, 0);
  setLength(firsts, 0);
  reserve(templates, 4 * count);
  reserve(firsts, 4 * count);
  clearTemplates(state);
  setLength(state + COLUMNAR_SLOTS, 0);
  reserve(state + COLUMNAR_SLOTS, 4 * TEMPLATE_SLOTS);
  memory.fill(at(state + COLUMNAR_SLOTS), 0, 4 * TEMPLATE_SLOTS);
  offerWritten(state);
  const rows = at(state + COLUMNAR_COLUMNS);
  const stride = VALUE_BYTES * count;
  for (let row: u32 = 0; row < count; row++) {
    if (row === SAMPLE) offerReferred(state);
    const value = values + VALUE_BYTES * row;
    store<u32>(at(firsts) + 4 * row, length(state + COLUMNAR_VARIABLES));
    const template = find(state, load<u32>(value), load<u32>(value, 4), rows + VALUE_BYTES * row, stride);
    if (template !== NONE) {
      const record = templateAt(state, template as u32);
      store<u32>(record, load<u32>(record, TEMPLATE_ROWS) + 1, TEMPLATE_ROWS);
    }
    store<i32>(at(templates) + 4 * row, template);
  }
}

/** Finds the template of a text, a new one where there is none, and appends the text's variables. */
function find(state: usize, from: usize, to: usize, row: usize, stride: u32): i32 {
  const known = findInTree(state, from, to, row, stride);
  if (known !== NONE) return known;
  return to - from > MAX_TEXT_BYTES ? NONE : findByParts(state, from, to, row, stride);
}

function findByParts(state: usize, from: usize, to: usize, row: usize, stride: u32): i32 {
  const parts = state + COLUMNAR_PARTS;
  const variables = state + COLUMNAR_VARIABLES;
  const first = length(parts);
  const firstVariable = length(variables);
  const hash = cutText(state, from, to, row, stride);
  const slot = slotOf(state, hash);
  const known = load<u32>(slot);
  const isNew = known === 0;
  const template = isNew ? templateCount : known - 1;
  const isLarge = length(parts) - first > MAX_PARTS * PART_BYTES;
  const isTemplate = isNew ? template < MAX_TEMPLATES && !isLarge : hasParts(state, template, first);
  if (isTemplate && isNew) {
    addTemplate(state, hash, first, (length(variables) - firstVariable) / VALUE_BYTES);
    addToTree(state, first);
    store<u32>(slot, templateCount);
  } else setLength(parts, first);
  if (isTemplate) return template as i32;
  setLength(variables, firstVariable);
  return NONE;
}

/** Address of 1 + the number of the template with a hash; 0 where there is none. */
function slotOf(state: usize, hash: u64): usize {
  const slots = at(state + COLUMNAR_SLOTS);
  let slot = (hash as u32) & (TEMPLATE_SLOTS - 1);
  let known = load<u32>(slots + 4 * slot);
  while (known > 0 && load<u64>(templateAt(state, known - 1), TEMPLATE_HASH) !== hash) {
    slot = (slot + 1) & (TEMPLATE_SLOTS - 1);
    known = load<u32>(slots + 4 * slot);
  }
  return slots + 4 * slot;
}

/** Numbers the templates with enough rows from 1 on; returns how many numbers there are. */
function numberTemplates(state: usize): u32 {
  let next: u32 = 1;
  for (let template: u32 = 0; template < templateCount; template++) {
    const record = templateAt(state, template);
    store<u32>(record, load<u32>(record, TEMPLATE_ROWS) < FEWEST_ROWS ? 0 : next++, TEMPLATE_NUMBER);
  }
  return next;
}

/**
 * Lists the rows of each template, those of number 0 last, and records each row's number; returns the rows of number 0.
 */
function groupRows(state: usize, count: u32): u32 {
  const rows = state + COLUMNAR_ROWS;
  const numbers = state + COLUMNAR_NUMBERS;
  setLength(rows, 0);
  setLength(numbers, 0);
  reserve(rows, 4 * count);
  reserve(numbers, 8 * count);
  let next: u32 = 0;
  for (let template: u32 = 0; template < templateCount; template++) {
    const record = templateAt(state, template);
    store<u32>(record, next, TEMPLATE_START);
    if (load<u32>(record, TEMPLATE_NUMBER) > 0) next += load<u32>(record, TEMPLATE_ROWS);
    store<u32>(record, 0, TEMPLATE_ROWS);
  }
  const first = next;
  for (let row: u32 = 0; row < count; row++) {
    const template = load<i32>(at(state + COLUMNAR_FOUND) + 4 * row);
    const record = template === NONE ? 0 : templateAt(state, template as u32);
    const number = record === 0 ? 0 : load<u32>(record, TEMPLATE_NUMBER);
    store<i64>(at(numbers) + 8 * row, number as i64);
    let position = next;
    if (number === 0) next++;
    else {
      const before = load<u32>(record, TEMPLATE_ROWS);
      position = load<u32>(record, TEMPLATE_START) + before;
      store<u32>(record, before + 1, TEMPLATE_ROWS);
    }
    store<u32>(at(rows) + 4 * position, row);
  }
  return next - first;
}

/** Writes the texts of the `count` rows of the list from `first` on. */
function writeWhole(state: usize, values: usize, first: u32, count: u32): void {
  const rows = at(state + COLUMNAR_ROWS) + 4 * first;
  const column = columnOf(state, count);
  for (let row: u32 = 0; row < count; row++)
    store<u64>(column + VALUE_BYTES * row, load<u64>(values + VALUE_BYTES * load<u32>(rows + 4 * row)));
  writeColumn(state, column, count);
}

/** Writes each variable of a template as a column of its rows. */
function writeVariables(state: usize, record: usize): void {
  const count = load<u32>(record, TEMPLATE_ROWS);
  const variables = load<u32>(record, TEMPLATE_VARIABLES);
  const rows = at(state + COLUMNAR_ROWS) + 4 * load<u32>(record, TEMPLATE_START);
  const firsts = at(state + COLUMNAR_ROW_VARIABLES);
  const column = columnOf(state, count);
  for (let variable: u32 = 0; variable < variables; variable++) {
    const from = at(state + COLUMNAR_VARIABLES) + VALUE_BYTES * variable;
    for (let row: u32 = 0; row < count; row++)
      store<u64>(column + VALUE_BYTES * row, load<u64>(from + load<u32>(firsts + 4 * load<u32>(rows + 4 * row))));
    writeColumn(state, column, count);
  }
}

/** Address of space for a column of variables. */
function columnOf(state: usize, count: u32): usize {
  setLength(state + COLUMNAR_VARIABLE, 0);
  reserve(state + COLUMNAR_VARIABLE, VALUE_BYTES * count);
  return at(state + COLUMNAR_VARIABLE);
}

function writeColumn(state: usize, column: usize, count: u32): void {
  if (count > 0 && !writeCompact(state, column, count)) writeTexts(state, column, count);
}
