/** Compares the values of samples with those that a column gives back; see check.ts. */

import { at, end } from "../buffer";
import { COLUMNAR_COLUMNS } from "../layout-columnar";
import { isSame } from "./kinds";
import {
  DIFFERENT,
  numberAt,
  address,
  readFrom,
  stop,
  take,
  takeByte,
  takeNumbers,
  timeLength,
  wholeLength,
} from "./read-numbers";

/**
 * A sample: its document, 1 + its shape, its row in that; of the text at hand, its template, its row in that, the next
 * part; where the current value continues, and its end; its values.
 */
export const SAMPLE_DOC: u32 = 0;
export const SAMPLE_SHAPE: u32 = 4;
export const SAMPLE_ROW: u32 = 8;
export const SAMPLE_TEMPLATE: u32 = 12;
export const SAMPLE_TEMPLATE_ROW: u32 = 16;
export const SAMPLE_PART: u32 = 20;
export const SAMPLE_FROM: u32 = 24;
export const SAMPLE_TO: u32 = 28;
export const SAMPLE_VALUES: u32 = 32;
export const SAMPLE_BYTES: u32 = 36;

/** Forms of a column; see check.ts for that of templates. */
const CONSTANT: u32 = 0;
const DICTIONARY: u32 = 1;
const NUMBERS: u32 = 2;
const TIMES: u32 = 3;
const TEXTS: u32 = 4;
const TEXT_END: u32 = 0x0a;

/** Instead of a template: the values aren't variables. */
export const NO_TEMPLATE: u32 = u32.MAX_VALUE;

/**
 * Of the values taken last: digits of numbers; texts, where they begin and end, the one that was read last and its
 * number.
 */
let digits: u32 = 0;
let textCount: u32 = 0;
let texts: usize = 0;
let textsEnd: usize = 0;
let here: usize = 0;
let hereNumber: u32 = 0;

/** Passes `rows` values, those of a sample at the offset where its text continues, which is after them then. */
export function checkValues(state: usize, form: u32, rows: u32, shape: u32, template: u32): bool {
  if (!takeValues(form, rows)) return false;
  const last = end(state + COLUMNAR_COLUMNS);
  for (let sample = at(state + COLUMNAR_COLUMNS); sample < last; sample += SAMPLE_BYTES) {
    if (load<u32>(sample, SAMPLE_SHAPE) !== shape) continue;
    if (template !== NO_TEMPLATE && load<u32>(sample, SAMPLE_TEMPLATE) !== template) continue;
    const row = template === NO_TEMPLATE ? load<u32>(sample, SAMPLE_ROW) : load<u32>(sample, SAMPLE_TEMPLATE_ROW);
    const from = load<u32>(sample, SAMPLE_FROM) as usize;
    const bytes = valueLength(form, row, from, load<u32>(sample, SAMPLE_TO));
    if (bytes === DIFFERENT) return false;
    store<u32>(sample, (from + bytes) as u32, SAMPLE_FROM);
  }
  return true;
}

/** Passes the values of a form, of which `valueLength` reads some then. */
function takeValues(form: u32, rows: u32): bool {
  if (form === NUMBERS) digits = takeByte();
  if (form === NUMBERS || form === TIMES) return takeNumbers(rows);
  if (form !== CONSTANT && form !== DICTIONARY && form !== TEXTS) return false;
  textCount = form === CONSTANT ? 1 : form === TEXTS ? rows : take();
  const bytes = form === TEXTS ? take() : 0;
  texts = here = address;
  hereNumber = 0;
  textsEnd = stop;
  textsEnd = behindTexts(address, textCount);
  if (textsEnd > stop || (form === TEXTS && textsEnd !== address + bytes)) return false;
  readFrom(textsEnd, stop);
  return form !== DICTIONARY || takeNumbers(rows);
}

/** Length of a value that is at `from`, before `to`. */
function valueLength(form: u32, row: u32, from: usize, to: usize): u32 {
  if (form === NUMBERS) return wholeLength(numberAt(row), digits, from, to);
  if (form === TIMES) return timeLength(numberAt(row), from, to);
  let number: u32 = form === TEXTS ? row : 0;
  if (form === DICTIONARY) {
    const stored = numberAt(row);
    if (stored < 0 || stored >= (textCount as i64)) return DIFFERENT;
    number = stored as u32;
  }
  if (number < hereNumber) {
    here = texts;
    hereNumber = 0;
  }
  here = behindTexts(here, number - hereNumber);
  hereNumber = number;
  const behind = behindTexts(here, 1);
  if (behind > textsEnd) return DIFFERENT;
  const bytes = (behind - 1 - here) as u32;
  return bytes <= ((to - from) as u32) && isSame(from, here, bytes) ? bytes : DIFFERENT;
}

/** The address after `count` texts from `from` on; after the last one's end if there are fewer. */
function behindTexts(from: usize, count: u32): usize {
  const ends = i8x16.splat(TEXT_END as i8);
  let left = count;
  if (left === 0) return from;
  for (let group = from; group < textsEnd; group += 16) {
    let found = i8x16.bitmask(i8x16.eq(v128.load(group), ends));
    const more = popcnt(found);
    if ((more as u32) < left) {
      left -= more;
      continue;
    }
    for (; left > 1; left--) found &= found - 1;
    return group + ctz(found) + 1;
  }
  return textsEnd + 1;
}
