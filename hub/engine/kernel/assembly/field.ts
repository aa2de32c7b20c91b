/** What a segment buffer holds of one field beside its terms. The twin is test/oracles/engine/field-buffer.ts. */

import { at, end, length, push32, push64, reserve, setEnd, setLength } from "./buffer";
import {
  BUFFER_AT,
  BUFFER_LENGTH,
  FIELD_DOCS,
  FIELD_FLAGS,
  FIELD_IDS,
  FIELD_LAST_DOC,
  FIELD_LONGITUDES,
  FIELD_NEXT_POSITION,
  FIELD_NORMS,
  FIELD_NUMBER,
  FIELD_POSITION_GAP,
  FIELD_RUNS,
  FIELD_TEXT_DOC,
  FIELD_TEXT_LENGTH,
  FIELD_VALUE_DOCS,
  FIELD_VALUES,
  FLAG_NORMS,
  RUN_DOC,
  RUN_POSITION,
  RUN_START,
  TOKEN_RUN_BYTES,
} from "./layout";
import { internTerm, reserveTerms } from "./terms";

/** Lengths below this are stored exactly; longer ones share norms. */
const FREE_NORMS: u32 = 24;

/** Records that `doc` has the field. */
function present(field: usize, doc: u32): void {
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

/** Adds a keyword of less than 65,536 bytes and returns the number of its term; up to 31 bytes after it are read. */
export function addKeyword(pool: usize, field: usize, doc: u32, text: usize, count: u32): u32 {
  reserveTerms(pool, 1, count);
  const term = internTerm(pool, load<u32>(field, FIELD_NUMBER), text, count);
  addKnownTerm(field, doc, term);
  return term;
}

/** Adds a keyword whose term is known. */
export function addKnownTerm(field: usize, doc: u32, term: u32): void {
  present(field, doc);
  push32(field + FIELD_VALUE_DOCS, doc);
  push32(field + FIELD_IDS, term);
}

/** Reserves space for `count` words of a text that have `textBytes` bytes together. */
export function reserveWords(pool: usize, field: usize, count: u32, textBytes: u32): void {
  reserveTerms(pool, count, textBytes);
  reserve(field + FIELD_IDS, count * 4);
}

/** Begins words at positions that follow each other, the first at `position`. */
export function startRun(field: usize, doc: u32, position: u32): void {
  const runs = field + FIELD_RUNS;
  reserve(runs, TOKEN_RUN_BYTES);
  const run = end(runs);
  store<u32>(run, doc, RUN_DOC);
  store<u32>(run, position, RUN_POSITION);
  store<u32>(run, length(field + FIELD_IDS) >>> 2, RUN_START);
  setEnd(runs, run + TOKEN_RUN_BYTES);
}

/** Adds the next word of the last run. Space must have been reserved. */
@inline
export function addWord(pool: usize, field: usize, number: u32, text: usize, count: u32): void {
  const id = internTerm(pool, number, text, count);
  const used = load<u32>(field + FIELD_IDS, BUFFER_LENGTH);
  store<u32>((load<u32>(field + FIELD_IDS, BUFFER_AT) as usize) + used, id);
  store<u32>(field + FIELD_IDS, used + 4, BUFFER_LENGTH);
}

/** Adds one token of an analyzer's to a text value that was started. */
export function addToken(pool: usize, field: usize, doc: u32, text: usize, count: u32, position: u32): void {
  reserveWords(pool, field, 1, count);
  if (!continuesRun(field, doc, position)) startRun(field, doc, position);
  addWord(pool, field, load<u32>(field, FIELD_NUMBER), text, count);
}

/** Whether the last run continues with a word of `doc` at `position`. */
function continuesRun(field: usize, doc: u32, position: u32): bool {
  if (length(field + FIELD_RUNS) === 0) return false;
  const run = end(field + FIELD_RUNS) - TOKEN_RUN_BYTES;
  const words = (length(field + FIELD_IDS) >>> 2) - load<u32>(run, RUN_START);
  return load<u32>(run, RUN_DOC) === doc && load<u32>(run, RUN_POSITION) + words === position;
}
