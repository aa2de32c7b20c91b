/** Compares the texts of samples with those that templates and their variables give back; see check.ts. */

import { at, end, length, reserve, setLength } from "../buffer";
import {
  checkValues,
  SAMPLE_BYTES,
  SAMPLE_FROM,
  SAMPLE_PART,
  SAMPLE_ROW,
  SAMPLE_SHAPE,
  SAMPLE_TEMPLATE,
  SAMPLE_TEMPLATE_ROW,
  SAMPLE_TO,
  SAMPLE_VALUES,
} from "./check-values";
import { COLUMNAR_COLUMNS, COLUMNAR_TEMPLATES, COLUMNAR_WRITTEN, VALUE_BYTES } from "../layout-columnar";
import { isSame } from "./kinds";
import {
  DIFFERENT,
  numberAt,
  pass,
  address,
  readFrom,
  stop,
  take,
  takeByte,
  takeNumbers,
} from "./read-numbers";

/** Operations of a template. */
const VARIABLE: u32 = 0;
const REFERENCE: u32 = 1;
const LITERAL: u32 = 1;

/** A template in the list: the start and end of its operations; its variables; its texts. */
const HEAD_END: u32 = 4;
const HEAD_VARIABLES: u32 = 8;
const HEAD_TEXTS: u32 = 12;
const HEAD_BYTES: u32 = 16;
/** What follows the parts that were compared; AT_OTHER: they differ. */
const AT_END: u32 = 0;
const AT_VARIABLE: u32 = 1;
const AT_OTHER: u32 = 2;
/** Passes a column of templates; false where the text of a sample differs. */
export function checkTemplates(state: usize, shape: u32, rows: u32): bool {
  const count = take();
  if (!listTemplates(state, count) || !takeNumbers(rows) || !findTemplates(state, shape, rows, count)) return false;
  for (let template: u32 = 0; template < count; template++) {
    const head = at(state + COLUMNAR_TEMPLATES) + HEAD_BYTES * template;
    const texts = load<u32>(head, HEAD_TEXTS);
    for (let left = texts === 0 ? 0 : load<u32>(head, HEAD_VARIABLES); left > 0; left--) {
      if (!checkParts(state, shape, template, AT_VARIABLE)) return false;
      if (!checkValues(state, takeByte(), texts, shape, template)) return false;
    }
    if (!checkParts(state, shape, template, AT_END)) return false;
  }
  return true;
}

/** Records where the operations of each template are. */
function listTemplates(state: usize, count: u32): bool {
  const heads = state + COLUMNAR_TEMPLATES;
  if (count > ((stop - address) as u32)) return false;
  setLength(heads, 0);
  reserve(heads, HEAD_BYTES * count);
  for (let head = at(heads); head < at(heads) + HEAD_BYTES * count; head += HEAD_BYTES) {
    const bytes = take();
    const from = address;
    store<u32>(head, from as u32);
    if (!pass(bytes)) return false;
    const behind = address;
    store<u32>(head, behind as u32, HEAD_END);
    const variables = take();
    store<u32>(head, variables, HEAD_VARIABLES);
    store<u32>(head, 0, HEAD_TEXTS);
    if (countVariables(state, from, behind) !== variables) return false;
  }
  return true;
}

/** Variables among the operations of a template; DIFFERENT where these can't be that. */
function countVariables(state: usize, from: usize, to: usize): u32 {
  const block = address;
  const blockEnd = stop;
  let count: u32 = 0;
  readFrom(from, to);
  while (address < to && count !== DIFFERENT) {
    const operation = take();
    if (operation === VARIABLE) count++;
    else if (operation === REFERENCE ? !isWritten(state, take()) : !pass(operation - LITERAL)) count = DIFFERENT;
  }
  readFrom(block, blockEnd);
  return count;
}

/** Whether a column of the shape was written, and so compared, before. */
function isWritten(state: usize, column: u32): bool {
  const written = state + COLUMNAR_WRITTEN;
  return column < length(written) && load<u8>(at(written) + column) !== 0;
}

/** Counts the texts of each template, and records the template of each sample. */
function findTemplates(state: usize, shape: u32, rows: u32, count: u32): bool {
  const last = end(state + COLUMNAR_COLUMNS);
  let sample = at(state + COLUMNAR_COLUMNS);
  for (let row: u32 = 0; row < rows; row++) {
    const template = numberAt(row) as u32;
    if (template >= count) return false;
    const head = at(state + COLUMNAR_TEMPLATES) + HEAD_BYTES * template;
    const own = load<u32>(head, HEAD_TEXTS);
    store<u32>(head, own + 1, HEAD_TEXTS);
    while (sample < last && load<u32>(sample, SAMPLE_SHAPE) !== shape) sample += SAMPLE_BYTES;
    if (sample >= last || load<u32>(sample, SAMPLE_ROW) !== row) continue;
    store<u32>(sample, template, SAMPLE_TEMPLATE);
    store<u32>(sample, own, SAMPLE_TEMPLATE_ROW);
    store<u32>(sample, load<u32>(head), SAMPLE_PART);
    sample += SAMPLE_BYTES;
  }
  return true;
}

/** Compares the parts of a template up to the next variable, or up to the end of the text: `wanted` says which must come. */
function checkParts(state: usize, shape: u32, template: u32, wanted: u32): bool {
  const block = address;
  const blockEnd = stop;
  const head = at(state + COLUMNAR_TEMPLATES) + HEAD_BYTES * template;
  const last = end(state + COLUMNAR_COLUMNS);
  for (let sample = at(state + COLUMNAR_COLUMNS); sample < last; sample += SAMPLE_BYTES) {
    if (load<u32>(sample, SAMPLE_SHAPE) !== shape || load<u32>(sample, SAMPLE_TEMPLATE) !== template) continue;
    readFrom(load<u32>(sample, SAMPLE_PART), load<u32>(head, HEAD_END));
    if (passParts(sample) !== wanted) return false;
    if (wanted === AT_END && load<u32>(sample, SAMPLE_FROM) !== load<u32>(sample, SAMPLE_TO)) return false;
    store<u32>(sample, address as u32, SAMPLE_PART);
  }
  readFrom(block, blockEnd);
  return true;
}

/** Compares the operations up to a variable or their end, whichever is returned, or AT_OTHER. */
function passParts(sample: usize): u32 {
  let from = load<u32>(sample, SAMPLE_FROM) as usize;
  const to = load<u32>(sample, SAMPLE_TO) as usize;
  while (address < stop) {
    const operation = take();
    if (operation === VARIABLE) {
      store<u32>(sample, from as u32, SAMPLE_FROM);
      return AT_VARIABLE;
    }
    let start = address;
    let bytes = operation - LITERAL;
    if (operation === REFERENCE) {
      const value = load<u32>(sample, SAMPLE_VALUES) + VALUE_BYTES * take();
      start = load<u32>(value);
      bytes = load<u32>(value, 4) - (start as u32);
    } else pass(bytes);
    if (bytes > ((to - from) as u32) || !isSame(from, start, bytes)) return AT_OTHER;
    from += bytes;
  }
  store<u32>(sample, from as u32, SAMPLE_FROM);
  return AT_END;
}
