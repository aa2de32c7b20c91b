/**
 * The tree of templates: parts that may follow each other. Most texts of a log are of templates that are known; these are
 * read from part to part, without being cut. The twin is test/oracles/engine/columnar/template-tree.ts.
 */

import { at, length, reserve, setLength } from "../buffer";
import { COLUMNAR_PARTS, COLUMNAR_VARIABLES, VALUE_BYTES } from "../layout-columnar";
import { DIGIT, isSame, kindOf, WORD } from "./kinds";
import {
  END_PART,
  isSamePart,
  MAX_PARTS,
  PART_ALTERNATIVE,
  PART_BYTES,
  PART_CHILD,
  REFERENCE_PART,
  VARIABLE_PART,
} from "./template";

/** Template of a text that has none. */
export const NONE: i32 = -1;

/** Parts that may occur at one position; further ones aren't in the tree: words that are different each time. */
const MAX_ALTERNATIVES: u32 = 16;
/** Parts that have alternatives and that a text is compared with. */
const MAX_STEPS: u32 = 128;

/** Of the text at hand: its end, the values of its row, the parts, comparisons left, the end of its variables. */
let stop: usize = 0;
let rowAt: usize = 0;
let rowStride: u32 = 0;
let parts: usize = 0;
let steps: u32 = 0;
let variablesEnd: usize = 0;

/** Adds the parts from byte `first` on, which are those of a template that isn't in the tree, its end the last one. */
export function addToTree(state: usize, first: u32): void {
  parts = at(state + COLUMNAR_PARTS);
  const last = length(state + COLUMNAR_PARTS) - PART_BYTES;
  for (let part = first; part < last; part += PART_BYTES) store<u32>(parts + part, part + PART_BYTES, PART_CHILD);
  // Where the offset of the first part that may follow is stored.
  let slot = parts + PART_CHILD;
  for (let part = first; part <= last; part += PART_BYTES) {
    let same = load<u32>(slot);
    let end = slot;
    let count: u32 = 0;
    for (; same > 0 && !isSamePart(parts + same, parts + part); count++) {
      end = parts + same + PART_ALTERNATIVE;
      same = load<u32>(end);
    }
    if (same > 0) {
      slot = parts + same + PART_CHILD;
      continue;
    }
    if (count === MAX_ALTERNATIVES) return;
    // References are tried first: a word that another column has as well needn't be stored.
    const address = load<u32>(parts + part) === REFERENCE_PART ? slot : end;
    store<u32>(parts + part, load<u32>(address), PART_ALTERNATIVE);
    store<u32>(address, part);
    return;
  }
}

/**
 * Returns the template of the tree that a text is of, with the values of its row, which are in the columns at `row`,
 * `stride` bytes apart, and appends its variables; NONE without one.
 */
export function findInTree(state: usize, from: usize, to: usize, row: usize, stride: u32): i32 {
  const variables = state + COLUMNAR_VARIABLES;
  reserve(variables, VALUE_BYTES * MAX_PARTS);
  stop = to;
  rowAt = row;
  rowStride = stride;
  parts = at(state + COLUMNAR_PARTS);
  steps = MAX_STEPS;
  const template = follow(load<u32>(parts, PART_CHILD), from, at(variables) + length(variables));
  if (template !== NONE) setLength(variables, (variablesEnd - at(variables)) as u32);
  return template;
}

/** The template whose parts follow each other from `address` to the text's end, the first one `part` or an alternative. */
function follow(part: u32, address: usize, variable: usize): i32 {
  const all = parts;
  const to = stop;
  while (part > 0) {
    const record = all + part;
    const kind = load<u32>(record);
    const other = load<u32>(record, PART_ALTERNATIVE);
    let end: usize = 0;
    let next = variable;
    if (kind === VARIABLE_PART) {
      end = endOfVariable(address, to);
      next = putValue(variable, address, end);
    } else if (kind !== END_PART) {
      const value = kind === REFERENCE_PART ? rowAt + load<u32>(record, 4) * rowStride : record;
      const from = load<u32>(value);
      const bytes = load<u32>(value, 4) - from;
      // A condition is foreseen; a chosen value would be waited for.
      if (address + bytes <= to && isSame(address, from, bytes)) end = address + bytes;
    } else if (address === to) {
      variablesEnd = variable;
      return load<u32>(record, 4) as i32;
    }
    if (other === 0) {
      if (end === 0) return NONE;
      part = load<u32>(record, PART_CHILD);
      address = end;
      variable = next;
      continue;
    }
    if (steps === 0) return NONE;
    steps--;
    if (end > 0) {
      const template = follow(load<u32>(record, PART_CHILD), end, next);
      if (template !== NONE) return template;
    }
    part = other;
  }
  return NONE;
}

/** Writes a value at an address; returns the one after it. */
@inline
function putValue(value: usize, start: usize, end: usize): usize {
  store<u32>(value, start as u32);
  store<u32>(value, end as u32, 4);
  return value + VALUE_BYTES;
}

/** End of the word with a digit that begins at `from`; 0 if there is none. */
function endOfVariable(from: usize, to: usize): usize {
  let kinds: u32 = 0;
  let address = from;
  while (address < to) {
    const kind = kindOf(load<u8>(address)) & WORD;
    if (kind === 0) break;
    kinds |= kind;
    address++;
  }
  return (kinds & DIGIT) === 0 ? 0 : address;
}
