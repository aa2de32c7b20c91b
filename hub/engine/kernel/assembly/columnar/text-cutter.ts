/** Cuts a text into the parts of a template. The twin is in test/oracles/engine/columnar/template-splitter.ts. */

import { at, length, reserve, setLength } from "../buffer";
import {
  COLUMNAR_CANDIDATES,
  COLUMNAR_HEADS,
  COLUMNAR_NEXTS,
  COLUMNAR_PARTS,
  COLUMNAR_WRITTEN,
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

/** Values of fewer bytes are no references: they stand in a text by chance. */
const FEWEST_BYTES: u32 = 2;
const VARIABLE_EVENT: u64 = 0x100;
const NO_COLUMN: u32 = 0xffffffff;

/** Variables of the text that was cut last. */
export let cutVariables: u32 = 0;

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
  memory.fill(state + COLUMNAR_HEADS, 0, 256 * 4);
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

/** Appends the parts of a text; returns their hash. `row`, `stride`: see `matches`. */
export function cutText(state: usize, from: usize, to: usize, row: usize, stride: u32): u64 {
  const first = length(state + COLUMNAR_PARTS) / PART_BYTES;
  reserve(state + COLUMNAR_PARTS, PART_BYTES * ((to - from) as u32));
  cutVariables = 0;
  let hash = hashSeed;
  link(state, row, stride, true);
  let place = from;
  while (place < to) {
    const column = referenceAt(state, place, to, row, stride);
    let event = VARIABLE_EVENT;
    let stop = place;
    if (column !== NO_COLUMN) {
      const value = row + column * stride;
      addReference(state, column);
      stop += load<u32>(value, 4) - load<u32>(value);
      event += 1 + column;
    } else {
      let kinds = kindOf(load<u8>(stop++)) & WORD;
      if (kinds !== 0) {
        while (stop < to) {
          const kind = kindOf(load<u8>(stop)) & WORD;
          if (kind === 0) break;
          kinds |= kind;
          stop++;
        }
      }
      if ((kinds & DIGIT) !== 0) {
        addVariable(state);
        cutVariables++;
      } else {
        addLiteral(state, first, place, stop);
        for (; place < stop; place++) hash = withEvent(hash, load<u8>(place));
        continue;
      }
    }
    hash = withEvent(hash, event);
    place = stop;
  }
  link(state, row, stride, false);
  return hash ^ (hash >>> 29);
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
    const head = state + COLUMNAR_HEADS + 4 * (load<u8>(start) as u32);
    if (isOffered) store<u32>(nexts + 4 * index, load<u32>(head));
    store<u32>(head, isOffered ? index + 1 : 0);
  }
}

/** The column with the longest value that stands at `place` and ends with a word. */
function referenceAt(state: usize, place: usize, to: usize, row: usize, stride: u32): u32 {
  let candidate = load<u32>(state + COLUMNAR_HEADS + 4 * (load<u8>(place) as u32));
  let best: u32 = 0;
  let found = NO_COLUMN;
  while (candidate > 0) {
    const column = load<u32>(at(state + COLUMNAR_CANDIDATES) + 4 * (candidate - 1));
    candidate = load<u32>(at(state + COLUMNAR_NEXTS) + 4 * (candidate - 1));
    const value = row + column * stride;
    const start = load<u32>(value);
    const bytes = load<u32>(value, 4) - start;
    if (bytes <= best || place + bytes > to || !endsWord(place + bytes, to)) continue;
    if (!isSame(place, start, bytes)) continue;
    best = bytes;
    found = column;
  }
  return found;
}

/** Whether a word ends at `place`. */
@inline
function endsWord(place: usize, to: usize): bool {
  return (
    place >= to || (kindOf(load<u8>(place)) & WORD) === 0 || (kindOf(load<u8>(place - 1)) & WORD) === 0
  );
}
