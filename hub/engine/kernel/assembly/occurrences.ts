/**
 * Puts what a field recorded in the order of its documents into the order of its terms: a count for each term, then one
 * pass that takes every occurrence to its term's (counting sort). The twin's slices of test/oracles/engine/term-pool.ts
 * give the same lists.
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

/** Replaces the ids that a field recorded with the ordinals of the terms, by id at `ordinals`. */
export function toOrdinals(field: usize, ordinals: usize): void {
  const ids = at(field + FIELD_IDS);
  const stop = ids + length(field + FIELD_IDS);
  for (let address = ids; address < stop; address += 4)
    store<u32>(address, load<u32>(ordinals + ((load<u32>(address) as usize) << 2)));
}

/** Gathers the words of a text field, whose ids are ordinals now, for the seal of its `terms` terms. */
export function gatherWords(field: usize, seal: usize, terms: u32): void {
  const count = length(field + FIELD_IDS) >>> 2;
  const starts = startIndexes(field, seal, terms);
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
      const slot = starts + (load<u32>(ids + (index << 2)) << 2);
      const target = load<u32>(slot);
      store<u32>(slot, target + 1);
      store<u64>(out + target * OCCURRENCE_BYTES, doc | ((position as u64) << 32));
      position++;
    }
  }
}

/** Gathers the documents of a keyword field, whose ids are ordinals now, for the seal of its `terms` terms. */
export function gatherValues(field: usize, seal: usize, terms: u32): void {
  const count = length(field + FIELD_IDS) >>> 2;
  const starts = startIndexes(field, seal, terms);
  reserve(seal + SEAL_OCCURRENCES, count * 4);
  const out = at(seal + SEAL_OCCURRENCES);
  const ids = at(field + FIELD_IDS);
  const docs = at(field + FIELD_VALUE_DOCS);
  for (let index: u32 = 0; index < count; index++) {
    const slot = starts + (load<u32>(ids + (index << 2)) << 2);
    const target = load<u32>(slot);
    store<u32>(slot, target + 1);
    store<u32>(out + (target << 2), load<u32>(docs + (index << 2)));
  }
}

/** Leaves the terms of a field without occurrences: it has no postings. */
export function gatherNothing(seal: usize, terms: u32): void {
  reserve(seal + SEAL_ENDS, terms * 4);
  setLength(seal + SEAL_ENDS, terms * 4);
  memory.fill(at(seal + SEAL_ENDS), 0, terms * 4);
}

/**
 * Counts the occurrences of each term and returns the address of the index of the first one of each, u32 by
 * ordinal.
 */
function startIndexes(field: usize, seal: usize, terms: u32): usize {
  gatherNothing(seal, terms);
  const starts = at(seal + SEAL_ENDS);
  const ids = at(field + FIELD_IDS);
  const stop = ids + length(field + FIELD_IDS);
  for (let id = ids; id < stop; id += 4) {
    const slot = starts + (load<u32>(id) << 2);
    store<u32>(slot, load<u32>(slot) + 1);
  }
  let sum: u32 = 0;
  for (let slot = starts; slot < starts + (terms << 2); slot += 4) {
    const count = load<u32>(slot);
    store<u32>(slot, sum);
    sum += count;
  }
  return starts;
}
