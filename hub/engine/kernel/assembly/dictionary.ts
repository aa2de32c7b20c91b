/**
 * Sorted terms of one field: front-coded blocks, postings of rare terms inside. The twin is
 * dictionary/dictionary-writer.ts.
 */

import { at, end, length, push32, putVarint, reserve, setEnd } from "./buffer";
import { copyShort } from "./copy";
import {
  FLUSH_BYTES,
  KEEP_DOCS,
  KEEP_POSITIONS,
  OCCURRENCE_BYTES,
  POOL_TERMS,
  POOL_TEXT,
  SCRATCH_DOCS,
  SCRATCH_POSITIONS,
  SEAL_BLOCKS,
  SEAL_BLOCKS_FLUSHED,
  SEAL_DOC_FREQ,
  SEAL_ENDS,
  SEAL_FLUSHED,
  SEAL_INDEX,
  SEAL_KEPT,
  SEAL_NORMS,
  SEAL_OCCURRENCES,
  SEAL_POSTINGS,
  SEAL_PREVIOUS,
  SEAL_PREVIOUS_LENGTH,
  SEAL_SIZE,
  SEAL_TOTAL_TERM_FREQ,
  TERM_BYTES,
  TERMS_PER_BLOCK,
} from "./layout";
import { docCount, endPostings, listOccurrences, totalFreq } from "./postings";
import { scratch } from "./scratch";
import { textAt, textBytes } from "./terms";

/** Bytes of the numbers of an entry beside its text and its inlined positions. */
const ENTRY_BYTES: u32 = 64;

/**
 * Adds the terms `ids` from number `from`, whose occurrences were gathered, to the dictionary `seal` until all are in or
 * FLUSH_BYTES of postings have come together; returns the number of the first that isn't in.
 */
export function addTerms(pool: usize, seal: usize, ids: usize, from: u32, count: u32): u32 {
  const kept = load<u32>(seal, SEAL_KEPT);
  const ends = at(seal + SEAL_ENDS);
  const terms = at(pool + POOL_TERMS);
  let start: u32 = from === 0 ? 0 : load<u32>(ends + ((from - 1) << 2));
  for (let index = from; index < count; index++) {
    if (length(seal + SEAL_POSTINGS) >= (FLUSH_BYTES as u32)) return index;
    const term = terms + load<u32>(ids + (index << 2)) * TERM_BYTES;
    const stop = load<u32>(ends + (index << 2));
    // Most terms of a log occur in one document, once.
    if (stop - start === 1) addSingle(pool, seal, term, start, kept);
    else {
      listOccurrences(seal, start, stop, kept);
      putTerm(seal, textAt(term, at(pool + POOL_TEXT)), textBytes(term), kept === KEEP_POSITIONS);
    }
    start = stop;
  }
  return count;
}

/** Adds a term with one occurrence. */
function addSingle(pool: usize, seal: usize, term: usize, occurrence: u32, kept: u32): void {
  const bytes = textBytes(term);
  const text = textAt(term, at(pool + POOL_TEXT));
  reserve(seal + SEAL_BLOCKS, bytes + ENTRY_BYTES);
  let address = putText(seal, text, bytes, end(seal + SEAL_BLOCKS));
  store<f64>(seal, load<f64>(seal, SEAL_TOTAL_TERM_FREQ) + 1, SEAL_TOTAL_TERM_FREQ);
  store<f64>(seal, load<f64>(seal, SEAL_DOC_FREQ) + 1, SEAL_DOC_FREQ);
  const occurrences = at(seal + SEAL_OCCURRENCES);
  const from = kept === KEEP_DOCS ? occurrences + (occurrence << 2) : occurrences + occurrence * OCCURRENCE_BYTES;
  store<u8>(address, 1);
  address = putVarint(address + 1, load<u32>(from));
  store<u8>(address++, 1);
  if (kept === KEEP_POSITIONS) address = putVarint(address, load<u32>(from, 4));
  setEnd(seal + SEAL_BLOCKS, address);
}

/**
 * Adds a term that one document has: `number`, its frequency, and, from `rest` on, what the entry says after the number.
 */
export function putSingle(
  seal: usize,
  text: usize,
  bytes: u32,
  number: u32,
  freq: u32,
  rest: usize,
  restBytes: u32,
): void {
  reserve(seal + SEAL_BLOCKS, bytes + ENTRY_BYTES + restBytes);
  let address = putText(seal, text, bytes, end(seal + SEAL_BLOCKS));
  store<f64>(seal, load<f64>(seal, SEAL_TOTAL_TERM_FREQ) + (freq as f64), SEAL_TOTAL_TERM_FREQ);
  store<f64>(seal, load<f64>(seal, SEAL_DOC_FREQ) + 1, SEAL_DOC_FREQ);
  store<u8>(address, 1);
  address = putVarint(address + 1, number);
  copyShort(address, rest, restBytes);
  setEnd(seal + SEAL_BLOCKS, address + restBytes);
}

/** Adds the term whose documents were listed last (postings.ts). */
export function putTerm(seal: usize, text: usize, bytes: u32, withPositions: bool): void {
  const inlined = docCount === 1;
  reserve(seal + SEAL_BLOCKS, bytes + ENTRY_BYTES + (inlined ? totalFreq * 5 : 0));
  let address = putText(seal, text, bytes, end(seal + SEAL_BLOCKS));
  store<f64>(seal, load<f64>(seal, SEAL_TOTAL_TERM_FREQ) + (totalFreq as f64), SEAL_TOTAL_TERM_FREQ);
  store<f64>(seal, load<f64>(seal, SEAL_DOC_FREQ) + (docCount as f64), SEAL_DOC_FREQ);
  address = putVarint(address, docCount);
  if (inlined) {
    address = putVarint(address, load<u32>(at(scratch + SCRATCH_DOCS)));
    address = putVarint(address, totalFreq);
    if (withPositions) {
      const gaps = at(scratch + SCRATCH_POSITIONS);
      for (let index: u32 = 0; index < totalFreq; index++)
        address = putVarint(address, load<u32>(gaps + index * 4));
    }
  } else if (docCount > 1) {
    const before = length(seal + SEAL_POSTINGS);
    const freqs = totalFreq - docCount;
    const size = endPostings(load<u32>(seal, SEAL_NORMS), withPositions, seal + SEAL_POSTINGS);
    address = putVarint(address, freqs);
    address = putVarint(address, size);
    if (withPositions) address = putVarint(address, length(seal + SEAL_POSTINGS) - before - size);
  }
  setEnd(seal + SEAL_BLOCKS, address);
}

/** Writes where a block's postings begin, for its first term, and the text, front-coded for all others. */
function putText(seal: usize, text: usize, bytes: u32, from: usize): usize {
  const number = load<u32>(seal, SEAL_SIZE);
  store<u32>(seal, number + 1, SEAL_SIZE);
  let address = from;
  let shared: u32 = 0;
  if (number % TERMS_PER_BLOCK === 0) {
    push32(seal + SEAL_INDEX, load<u32>(seal, SEAL_BLOCKS_FLUSHED) + ((from - at(seal + SEAL_BLOCKS)) as u32));
    address = putVarint(address, load<u32>(seal, SEAL_FLUSHED) + length(seal + SEAL_POSTINGS));
  } else {
    shared = sharedPrefix(load<u32>(seal, SEAL_PREVIOUS), load<u32>(seal, SEAL_PREVIOUS_LENGTH), text, bytes);
    address = putVarint(address, shared);
  }
  store<u32>(seal, text as u32, SEAL_PREVIOUS);
  store<u32>(seal, bytes, SEAL_PREVIOUS_LENGTH);
  address = putVarint(address, bytes - shared);
  copyShort(address, text + shared, bytes - shared);
  return address + (bytes - shared);
}

/** Bytes that two texts have in common; up to 7 bytes after each are read. */
function sharedPrefix(a: usize, aLength: u32, b: usize, bLength: u32): u32 {
  const common = min(aLength, bLength);
  for (let index: u32 = 0; index < common; index += 8) {
    const difference = load<u64>(a + index) ^ load<u64>(b + index);
    if (difference !== 0) return min(common, index + ((ctz(difference) >>> 3) as u32));
  }
  return common;
}
