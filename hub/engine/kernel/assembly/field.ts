/** What a segment buffer holds of one field beside its terms. The twin is segment/field-buffer.ts. */

import { at, length, push32, push64, reserve, setLength } from "./buffer";
import {
  FIELD_DOCS,
  FIELD_FLAGS,
  FIELD_LAST_DOC,
  FIELD_LONGITUDES,
  FIELD_NEXT_POSITION,
  FIELD_NORMS,
  FIELD_NUMBER,
  FIELD_POSITION_GAP,
  FIELD_TEXT_DOC,
  FIELD_TEXT_LENGTH,
  FIELD_VALUE_DOCS,
  FIELD_VALUES,
  FLAG_COLUMN,
  FLAG_INDEXED,
  FLAG_NORMS,
  POOL_TERMS,
  TERM_BYTES,
  TERM_ORDINAL,
} from "./layout";
import { addOccurrence, internTerm, reserveOccurrences } from "./terms";

/** Lengths below it have a norm of their own. */
const FREE_NORMS: u32 = 24;

/** Notes that `doc` has the field. */
export function present(field: usize, doc: u32): void {
  if (load<u32>(field, FIELD_LAST_DOC) === doc + 1) return;
  store<u32>(field, doc + 1, FIELD_LAST_DOC);
  push32(field + FIELD_DOCS, doc);
}

/** Starts a text value; returns the position of its first token. */
export function startText(field: usize, doc: u32): u32 {
  present(field, doc);
  if (load<u32>(field, FIELD_TEXT_DOC) === doc + 1)
    return load<u32>(field, FIELD_NEXT_POSITION) + load<u32>(field, FIELD_POSITION_GAP);
  store<u32>(field, doc + 1, FIELD_TEXT_DOC);
  store<u32>(field, 0, FIELD_TEXT_LENGTH);
  store<u32>(field, 0, FIELD_NEXT_POSITION);
  return 0;
}

/** Ends a text value of `tokens` tokens; `next` is the position that follows. */
export function endText(field: usize, doc: u32, tokens: u32, next: u32): void {
  const total = load<u32>(field, FIELD_TEXT_LENGTH) + tokens;
  store<u32>(field, total, FIELD_TEXT_LENGTH);
  store<u32>(field, next, FIELD_NEXT_POSITION);
  if ((load<u32>(field, FIELD_FLAGS) & FLAG_NORMS) === 0) return;
  padNorms(field, doc + 1);
  store<u8>(at(field + FIELD_NORMS) + doc, normOf(total));
}

/** Fills the norms of documents below `docCount` that have none with zeros. */
export function padNorms(field: usize, docCount: u32): void {
  const norms = field + FIELD_NORMS;
  const used = length(norms);
  if (used >= docCount) return;
  reserve(norms, docCount - used);
  const from = at(norms);
  // Most often one.
  for (let doc = used; doc < docCount; doc++) store<u8>(from + doc, 0);
  setLength(norms, docCount);
}

/** Field length in one byte; the twin is similarity.ts. */
function normOf(tokens: u32): u8 {
  if (tokens < FREE_NORMS) return tokens as u8;
  const value = tokens - FREE_NORMS;
  const bits = 32 - clz(value);
  if (bits < 4) return (FREE_NORMS + value) as u8;
  const shift = bits - 4;
  return (FREE_NORMS + (((value >>> shift) & 7) | ((shift + 1) << 3))) as u8;
}

/** Adds a number to the field's column. */
export function addNumber(field: usize, doc: u32, value: f64): void {
  present(field, doc);
  push32(field + FIELD_VALUE_DOCS, doc);
  push64(field + FIELD_VALUES, value);
}

/** Smallest differences of coordinates, in degrees. The twins are latitudeSteps and longitudeSteps. */
const LATITUDE_STEP: f64 = 180 / 4294967296.0;
const LONGITUDE_STEP: f64 = 360 / 4294967296.0;

/** Adds a point in degrees to the field's column. */
export function addPoint(field: usize, doc: u32, latitude: f64, longitude: f64): void {
  addNumber(field, doc, floor(min(latitude, 90 - LATITUDE_STEP) / LATITUDE_STEP));
  push64(field + FIELD_LONGITUDES, floor(min(longitude, 180 - LONGITUDE_STEP) / LONGITUDE_STEP));
}

/** Adds a keyword of less than 65,536 bytes; up to 7 bytes behind it are read. */
export function addKeyword(pool: usize, field: usize, doc: u32, text: usize, count: u32): void {
  reserveOccurrences(pool, 1, count);
  const flags = load<u32>(field, FIELD_FLAGS);
  const term = internTerm(pool, load<u32>(field, FIELD_NUMBER), text, count);
  if (flags & FLAG_INDEXED) addOccurrence(pool, term, doc, -1);
  if (flags & FLAG_COLUMN) addNumber(field, doc, ((term - at(pool + POOL_TERMS)) / TERM_BYTES) as f64);
  else present(field, doc);
}

/** Puts the ordinal of each term in the place of its id, in a list of f64. */
export function toOrdinals(pool: usize, values: usize, count: u32): void {
  const terms = at(pool + POOL_TERMS);
  for (let place = values; place < values + count * 8; place += 8) {
    const term = terms + (load<f64>(place) as u32) * TERM_BYTES;
    store<f64>(place, load<u32>(term, TERM_ORDINAL) as f64);
  }
}

/** Adds one token of an analyzer's to a text value that was started. */
export function addToken(pool: usize, field: usize, doc: u32, text: usize, count: u32, position: u32): void {
  reserveOccurrences(pool, 1, count);
  addOccurrence(pool, internTerm(pool, load<u32>(field, FIELD_NUMBER), text, count), doc, position);
}
