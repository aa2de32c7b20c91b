/**
 * Puts what a field noted in the order of its documents into the order of its terms: a count for each term, then one pass
 * that takes every occurrence to its term's (counting sort). The twin's slices of test/oracles/engine/term-pool.ts give the same lists.
 */

import { at, length, reserve, setLength } from "./buffer";
import {
  FIELD_IDS,
  FIELD_RUNS,
  FIELD_VALUE_DOCS,
  OCCURRENCE_BYTES,
  RUN_DOC,
  RUN_POSITION,
  RUN_START,
  SEAL_ENDS,
  SEAL_OCCURRENCES,
  TOKEN_RUN_BYTES,
} from "./layout";

/** Puts the ordinals of terms, by id at `ordinals`, in the place of the ids that a field noted. */
export function toOrdinals(field: usize, ordinals: usize): void {
  const ids = at(field + FIELD_IDS);
  const stop = ids + length(field + FIELD_IDS);
  for (let place = ids; place < stop; place += 4)
    store<u32>(place, load<u32>(ordinals + ((load<u32>(place) as usize) << 2)));
}

/** Gathers the words of a text field, whose ids are ordinals now, for the seal of its `terms` terms. */
export function gatherWords(field: usize, seal: usize, terms: u32): void {
  const count = length(field + FIELD_IDS) >>> 2;
  const places = startPlaces(field, seal, terms);
  reserve(seal + SEAL_OCCURRENCES, count * OCCURRENCE_BYTES);
  const out = at(seal + SEAL_OCCURRENCES);
  const ids = at(field + FIELD_IDS);
  const runs = at(field + FIELD_RUNS);
  const runsEnd = runs + length(field + FIELD_RUNS);
  for (let run = runs; run < runsEnd; run += TOKEN_RUN_BYTES) {
    const doc = load<u32>(run, RUN_DOC) as u64;
    let position = load<u32>(run, RUN_POSITION);
    const stop = run + TOKEN_RUN_BYTES < runsEnd ? load<u32>(run, TOKEN_RUN_BYTES + RUN_START) : count;
    for (let index = load<u32>(run, RUN_START); index < stop; index++) {
      const slot = places + (load<u32>(ids + (index << 2)) << 2);
      const place = load<u32>(slot);
      store<u32>(slot, place + 1);
      store<u64>(out + place * OCCURRENCE_BYTES, doc | ((position as u64) << 32));
      position++;
    }
  }
}

/** Gathers the documents of a keyword field, whose ids are ordinals now, for the seal of its `terms` terms. */
export function gatherValues(field: usize, seal: usize, terms: u32): void {
  const count = length(field + FIELD_IDS) >>> 2;
  const places = startPlaces(field, seal, terms);
  reserve(seal + SEAL_OCCURRENCES, count * 4);
  const out = at(seal + SEAL_OCCURRENCES);
  const ids = at(field + FIELD_IDS);
  const docs = at(field + FIELD_VALUE_DOCS);
  for (let index: u32 = 0; index < count; index++) {
    const slot = places + (load<u32>(ids + (index << 2)) << 2);
    const place = load<u32>(slot);
    store<u32>(slot, place + 1);
    store<u32>(out + (place << 2), load<u32>(docs + (index << 2)));
  }
}

/** Leaves the terms of a field without occurrences: it has no postings. */
export function gatherNothing(seal: usize, terms: u32): void {
  reserve(seal + SEAL_ENDS, terms * 4);
  setLength(seal + SEAL_ENDS, terms * 4);
  memory.fill(at(seal + SEAL_ENDS), 0, terms * 4);
}

/** Counts the occurrences of each term and returns where the place of each one's first stands, u32 by ordinal. */
function startPlaces(field: usize, seal: usize, terms: u32): usize {
  gatherNothing(seal, terms);
  const places = at(seal + SEAL_ENDS);
  const ids = at(field + FIELD_IDS);
  const stop = ids + length(field + FIELD_IDS);
  for (let id = ids; id < stop; id += 4) {
    const slot = places + (load<u32>(id) << 2);
    store<u32>(slot, load<u32>(slot) + 1);
  }
  let sum: u32 = 0;
  for (let slot = places; slot < places + (terms << 2); slot += 4) {
    const count = load<u32>(slot);
    store<u32>(slot, sum);
    sum += count;
  }
  return places;
}
