/**
 * Templates of texts: literals, references to other columns, variables. A template is made of the first text that has it,
 * in which its literals stand. The twin is test/oracles/engine/columnar/text-template.ts.
 */

import { at, end, length, reserve, setLength } from "../buffer";
import {
  COLUMNAR_OUT,
  COLUMNAR_PARTS,
  COLUMNAR_TEMPLATES,
  COLUMNAR_VARIABLES,
  VALUE_BYTES,
} from "../layout-columnar";
import { DIGIT, isSame, kindOf, WORD } from "./kinds";
import { putBytes, putNumber, varintBytes } from "./output";

/** A template: hash (u64), first part, parts, variables, rows, number in the block, its first row among those by template. */
export const TEMPLATE_HASH: u32 = 0;
export const TEMPLATE_PART: u32 = 8;
export const TEMPLATE_PARTS: u32 = 12;
export const TEMPLATE_VARIABLES: u32 = 16;
export const TEMPLATE_ROWS: u32 = 20;
export const TEMPLATE_NUMBER: u32 = 24;
export const TEMPLATE_START: u32 = 28;
const TEMPLATE_BYTES: u32 = 32;

/** A part: a literal's first byte and the one behind its last, addresses; what else it is and which column. */
export const PART_BYTES: u32 = 8;
const VARIABLE_PART: u32 = 0;
const REFERENCE_PART: u32 = 1;
const FIRST_LITERAL: u32 = 2;

/** Operations of the format. */
const VARIABLE: u32 = 0;
const REFERENCE: u32 = 1;
const LITERAL: u32 = 1;

/** Templates that are looked for in a block, and parts of one, at most. */
export const MAX_TEMPLATES: u32 = 1000;
export const MAX_PARTS: u32 = 250;

/** Templates found in the texts at hand. */
export let templateCount: u32 = 0;

/** Address of a template. */
@inline
export function templateAt(state: usize, template: u32): usize {
  return at(state + COLUMNAR_TEMPLATES) + template * TEMPLATE_BYTES;
}

/** Begins with other texts. */
export function clearTemplates(state: usize): void {
  templateCount = 0;
  setLength(state + COLUMNAR_PARTS, 0);
  setLength(state + COLUMNAR_VARIABLES, 0);
  setLength(state + COLUMNAR_TEMPLATES, 0);
  reserve(state + COLUMNAR_TEMPLATES, MAX_TEMPLATES * TEMPLATE_BYTES);
}

/** Makes a template of the parts from byte `first` on. */
export function addTemplate(state: usize, hash: u64, first: u32, variables: u32): void {
  const record = templateAt(state, templateCount++);
  store<u64>(record, hash, TEMPLATE_HASH);
  store<u32>(record, first / PART_BYTES, TEMPLATE_PART);
  store<u32>(record, (length(state + COLUMNAR_PARTS) - first) / PART_BYTES, TEMPLATE_PARTS);
  store<u32>(record, variables, TEMPLATE_VARIABLES);
  store<u32>(record, 0, TEMPLATE_ROWS);
}

/** Appends a variable; the parts have room for it, and the variables. */
export function addVariable(state: usize, start: usize, stop: usize): void {
  addPart(state, VARIABLE_PART, 0);
  const used = length(state + COLUMNAR_VARIABLES);
  const variable = at(state + COLUMNAR_VARIABLES) + used;
  store<u32>(variable, start as u32);
  store<u32>(variable, stop as u32, 4);
  setLength(state + COLUMNAR_VARIABLES, used + VALUE_BYTES);
}

/** Appends a reference to a column; the parts have room for it. */
export function addReference(state: usize, column: u32): void {
  addPart(state, REFERENCE_PART, column);
}

/** Appends a literal; the parts have room for it. */
export function addLiteral(state: usize, start: usize, stop: usize): void {
  addPart(state, start as u32, stop as u32);
}

function addPart(state: usize, first: u32, second: u32): void {
  const used = length(state + COLUMNAR_PARTS);
  const part = at(state + COLUMNAR_PARTS) + used;
  store<u32>(part, first);
  store<u32>(part, second, 4);
  setLength(state + COLUMNAR_PARTS, used + PART_BYTES);
}

/** Whether a template refers to a column. */
export function refersTo(state: usize, record: usize, column: u32): bool {
  let part = at(state + COLUMNAR_PARTS) + PART_BYTES * load<u32>(record, TEMPLATE_PART);
  for (let left = load<u32>(record, TEMPLATE_PARTS); left > 0; left--) {
    if (load<u32>(part) === REFERENCE_PART && load<u32>(part, 4) === column) return true;
    part += PART_BYTES;
  }
  return false;
}

/** Whether a template has the parts from byte `first` on: two hashes may meet. */
export function hasParts(state: usize, template: u32, first: u32): bool {
  const record = templateAt(state, template);
  const parts = state + COLUMNAR_PARTS;
  const last = end(parts);
  let part = at(parts) + first;
  if (((last - part) as u32) / PART_BYTES !== load<u32>(record, TEMPLATE_PARTS)) return false;
  let own = at(parts) + PART_BYTES * load<u32>(record, TEMPLATE_PART);
  for (; part < last; part += PART_BYTES) {
    const start = load<u32>(part);
    const ownStart = load<u32>(own);
    if (start < FIRST_LITERAL || ownStart < FIRST_LITERAL) {
      if (load<u64>(part) !== load<u64>(own)) return false;
    } else {
      const bytes = load<u32>(part, 4) - start;
      if (load<u32>(own, 4) - ownStart !== bytes || !isSame(start, ownStart, bytes)) return false;
    }
    own += PART_BYTES;
  }
  return true;
}

/**
 * Whether a text is a template with the values of its row, which stand in the columns at `row`, `stride` bytes apart;
 * appends its variables where it is.
 */
export function matches(state: usize, template: u32, from: usize, to: usize, row: usize, stride: u32): bool {
  const record = templateAt(state, template);
  const variables = state + COLUMNAR_VARIABLES;
  reserve(variables, VALUE_BYTES * load<u32>(record, TEMPLATE_VARIABLES));
  let variable = at(variables) + length(variables);
  let part = at(state + COLUMNAR_PARTS) + PART_BYTES * load<u32>(record, TEMPLATE_PART);
  let place = from;
  for (let left = load<u32>(record, TEMPLATE_PARTS); left > 0; left--) {
    let start = load<u32>(part);
    let stop = load<u32>(part, 4);
    part += PART_BYTES;
    if (start === VARIABLE_PART) {
      const end = endOfVariable(place, to);
      if (end === 0) return false;
      store<u32>(variable, place as u32);
      store<u32>(variable, end as u32, 4);
      variable += VALUE_BYTES;
      place = end;
      continue;
    }
    if (start === REFERENCE_PART) {
      const value = row + stop * stride;
      start = load<u32>(value);
      stop = load<u32>(value, 4);
    }
    const bytes = stop - start;
    if (place + bytes > to || !isSame(place, start, bytes)) return false;
    place += bytes;
  }
  if (place !== to) return false;
  setLength(variables, (variable - at(variables)) as u32);
  return true;
}

/** End of the word with a digit that begins at `from`; 0 if there is none. */
function endOfVariable(from: usize, to: usize): usize {
  let kinds: u32 = 0;
  let place = from;
  while (place < to) {
    const kind = kindOf(load<u8>(place)) & WORD;
    if (kind === 0) break;
    kinds |= kind;
    place++;
  }
  return (kinds & DIGIT) === 0 ? 0 : place;
}

/** Appends a template's operations behind their length, and the number of its variables. */
export function putOperations(state: usize, record: usize): void {
  const out = state + COLUMNAR_OUT;
  const count = load<u32>(record, TEMPLATE_PARTS);
  const parts = at(state + COLUMNAR_PARTS) + PART_BYTES * load<u32>(record, TEMPLATE_PART);
  let bytes: u32 = 0;
  for (let part = parts; part < parts + count * PART_BYTES; part += PART_BYTES) {
    const start = load<u32>(part);
    const stop = load<u32>(part, 4);
    if (start === VARIABLE_PART) bytes++;
    else if (start === REFERENCE_PART) bytes += 1 + varintBytes(stop);
    else bytes += varintBytes(LITERAL + stop - start) + stop - start;
  }
  putNumber(out, bytes);
  for (let part = parts; part < parts + count * PART_BYTES; part += PART_BYTES) {
    const start = load<u32>(part);
    const stop = load<u32>(part, 4);
    if (start === VARIABLE_PART) putNumber(out, VARIABLE);
    else if (start === REFERENCE_PART) {
      putNumber(out, REFERENCE);
      putNumber(out, stop);
    } else putLiteral(out, start, stop - start);
  }
  putNumber(out, load<u32>(record, TEMPLATE_VARIABLES));
}

function putLiteral(out: usize, start: usize, count: u32): void {
  putNumber(out, LITERAL + count);
  putBytes(out, start, count);
}
