/**
 * Templates of texts: literals, references to other columns, variables. A template is made of the first text that has
 * it, which contains its literals. Templates that begin alike share their first parts, so that they make a tree:
 * template-tree.ts. The twin is test/oracles/engine/columnar/text-template.ts.
 */

import { at, end, length, reserve, setLength } from "../buffer";
import {
  COLUMNAR_OUT,
  COLUMNAR_PARTS,
  COLUMNAR_TEMPLATES,
  COLUMNAR_VARIABLES,
  VALUE_BYTES,
} from "../layout-columnar";
import { isSame } from "./kinds";
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

/**
 * A part: a literal's first byte and the one after its last, addresses; or what else it is and which column, or
 * template where it is the end of one. Then, as offsets among all parts, the first of the parts that may follow it, and
 * an alternative to it; 0 without. The first part is none: what follows it are the beginnings.
 */
export const PART_CHILD: u32 = 8;
export const PART_ALTERNATIVE: u32 = 12;
export const PART_BYTES: u32 = 16;
export const VARIABLE_PART: u32 = 0;
export const REFERENCE_PART: u32 = 1;
export const END_PART: u32 = 2;
const FIRST_LITERAL: u32 = 3;

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
  reserve(state + COLUMNAR_PARTS, PART_BYTES);
  addPart(state, END_PART, 0);
  setLength(state + COLUMNAR_VARIABLES, 0);
  setLength(state + COLUMNAR_TEMPLATES, 0);
  reserve(state + COLUMNAR_TEMPLATES, MAX_TEMPLATES * TEMPLATE_BYTES);
}

/** Makes a template of the parts from byte `first` on, after which one more fits: its end. */
export function addTemplate(state: usize, hash: u64, first: u32, variables: u32): void {
  const record = templateAt(state, templateCount);
  store<u64>(record, hash, TEMPLATE_HASH);
  store<u32>(record, first / PART_BYTES, TEMPLATE_PART);
  store<u32>(record, (length(state + COLUMNAR_PARTS) - first) / PART_BYTES, TEMPLATE_PARTS);
  store<u32>(record, variables, TEMPLATE_VARIABLES);
  store<u32>(record, 0, TEMPLATE_ROWS);
  addPart(state, END_PART, templateCount++);
}

/** Appends a variable; the parts have space for it, and the variables. */
export function addVariable(state: usize, start: usize, stop: usize): void {
  addPart(state, VARIABLE_PART, 0);
  const used = length(state + COLUMNAR_VARIABLES);
  const variable = at(state + COLUMNAR_VARIABLES) + used;
  store<u32>(variable, start as u32);
  store<u32>(variable, stop as u32, 4);
  setLength(state + COLUMNAR_VARIABLES, used + VALUE_BYTES);
}

/** Appends a reference to a column; the parts have space for it. */
export function addReference(state: usize, column: u32): void {
  addPart(state, REFERENCE_PART, column);
}

/** Appends a literal; the parts have space for it. */
export function addLiteral(state: usize, start: usize, stop: usize): void {
  addPart(state, start as u32, stop as u32);
}

function addPart(state: usize, first: u32, second: u32): void {
  const used = length(state + COLUMNAR_PARTS);
  const part = at(state + COLUMNAR_PARTS) + used;
  store<u32>(part, first);
  store<u32>(part, second, 4);
  store<u64>(part, 0, PART_CHILD);
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
    if (!isSamePart(part, own)) return false;
    own += PART_BYTES;
  }
  return true;
}

/** Whether two parts are of the same kind, with the same bytes, column or template. */
export function isSamePart(part: usize, other: usize): bool {
  const start = load<u32>(part);
  const otherStart = load<u32>(other);
  if (start < FIRST_LITERAL || otherStart < FIRST_LITERAL) return load<u64>(part) === load<u64>(other);
  const bytes = load<u32>(part, 4) - start;
  return load<u32>(other, 4) - otherStart === bytes && isSame(start, otherStart, bytes);
}

/** Appends the length of a template's operations, the operations, and the number of its variables. */
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
