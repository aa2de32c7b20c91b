/** Postings of one term as bytes. The twin is postings/postings-writer.ts; the grammar is that of the segment format. */

import { at, end, putVarint, reserve, setEnd, setLength } from "./buffer";
import { copyShort } from "./copy";
import {
  BLOCK_HEADER_BYTES,
  GROUP,
  KEEP_DOCS,
  OCCURRENCE_BYTES,
  SCRATCH_DOCS,
  SCRATCH_FREQS,
  SCRATCH_POSITIONS,
  SCRATCH_POSITIONS_OUT,
  SEAL_OCCURRENCES,
} from "./layout";
import { bitsOf, packGroup } from "./packing";
import { scratch } from "./scratch";

/** Bytes of a group that is not packed. */
const GROUP_BYTES: usize = GROUP * 4;

/** Frequencies at and above it are kept as it. */
const IMPACT_FREQ_LIMIT: u32 = 255;

/** Bytes that a document or a position can take beside its share of a packed group. */
const VARINT_BYTES: u32 = 5;

/** Documents of the term that was listed last, and their frequencies together. */
export let docCount: u32 = 0;
export let totalFreq: u32 = 0;

/**
 * Lists the occurrences `start` to `stop` of `seal` in scratch: documents, how often the term is in each, and positions as
 * gaps within each document.
 */
export function listOccurrences(seal: usize, start: u32, stop: u32, kept: u32): void {
  const count = stop - start;
  docCount = 0;
  totalFreq = 0;
  if (count === 0) return;
  reserve(scratch + SCRATCH_DOCS, count * 4);
  reserve(scratch + SCRATCH_FREQS, count * 4);
  const occurrences = at(seal + SEAL_OCCURRENCES);
  if (kept === KEEP_DOCS) {
    listDocs(occurrences + (start << 2), count);
    return;
  }
  reserve(scratch + SCRATCH_POSITIONS, count * 4);
  listWords(occurrences + start * OCCURRENCE_BYTES, count);
}

/** Takes what others listed in scratch: documents, their frequencies, gaps. */
export function takeList(docs: u32, freqs: u32): void {
  docCount = docs;
  totalFreq = freqs;
}

/** Documents with a keyword; one that has it several times counts once. */
function listDocs(from: usize, count: u32): void {
  const docs = at(scratch + SCRATCH_DOCS);
  const freqs = at(scratch + SCRATCH_FREQS);
  let before: u32 = 0xffff_ffff;
  let listed: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    const doc = load<u32>(from + (index << 2));
    store<u32>(docs + (listed << 2), doc);
    store<u32>(freqs + (index << 2), 1);
    listed += doc !== before ? 1 : 0;
    before = doc;
  }
  docCount = listed;
  totalFreq = listed;
}

function listWords(from: usize, count: u32): void {
  const docs = at(scratch + SCRATCH_DOCS);
  const freqs = at(scratch + SCRATCH_FREQS);
  const gaps = at(scratch + SCRATCH_POSITIONS);
  let before: u32 = 0xffff_ffff;
  let lastPosition: u32 = 0;
  let freq: u32 = 0;
  let listed: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    const doc = load<u32>(from + index * OCCURRENCE_BYTES);
    const position = load<u32>(from + index * OCCURRENCE_BYTES, 4);
    const isNext = doc !== before;
    lastPosition = isNext ? 0 : lastPosition;
    freq = isNext ? 1 : freq + 1;
    listed += isNext ? 1 : 0;
    store<u32>(docs + ((listed - 1) << 2), doc);
    store<u32>(freqs + ((listed - 1) << 2), freq);
    store<u32>(gaps + (index << 2), position - lastPosition);
    lastPosition = position;
    before = doc;
  }
  docCount = listed;
  totalFreq = count;
}

/** Appends the term that was listed to `out`; returns how many bytes it takes without the positions after them. */
export function writePostings(norms: usize, withPositions: bool, out: usize): u32 {
  const blocks = docCount / GROUP;
  const positionsOut = scratch + SCRATCH_POSITIONS_OUT;
  setLength(positionsOut, 0);
  const positionBytes = withPositions ? totalFreq * VARINT_BYTES + GROUP : 0;
  reserve(positionsOut, positionBytes);
  reserve(out, blocks * BLOCK_HEADER_BYTES + docCount * 2 * VARINT_BYTES + 64 + positionBytes);
  const from = end(out);
  let header = from;
  const body = from + blocks * BLOCK_HEADER_BYTES;
  let place: usize = body;
  let position: u32 = 0;
  let before: u32 = 0xffff_ffff;
  for (let block: u32 = 0; block < blocks; block++) {
    const docs = at(scratch + SCRATCH_DOCS) + block * GROUP * 4;
    const freqs = at(scratch + SCRATCH_FREQS) + block * GROUP * 4;
    const last = load<u32>(docs, GROUP * 4 - 4);
    store<u32>(header, last);
    store<u32>(header, (place - body) as u32, 4);
    store<u32>(header, (end(positionsOut) - at(positionsOut)) as u32, 8);
    store<u8>(header, maxFreq(freqs, GROUP), 14);
    store<u8>(header, minNorm(docs, GROUP, norms), 15);
    if (withPositions) position = writePositions(freqs, GROUP, position, positionsOut);
    const docBits = bitsOf(toGaps(docs, before));
    place = packGroup(docs, docBits, place);
    const freqBits = bitsOf(lessOne(freqs));
    place = packGroup(freqs, freqBits, place);
    store<u8>(header, docBits, 12);
    store<u8>(header, freqBits, 13);
    before = last;
    header += BLOCK_HEADER_BYTES;
  }
  place = writeTail(blocks * GROUP, before, norms, place, positionsOut);
  if (withPositions) {
    const freqs = at(scratch + SCRATCH_FREQS) + blocks * GROUP * 4;
    writePositions(freqs, docCount - blocks * GROUP, position, positionsOut);
  }
  const positions = end(positionsOut) - at(positionsOut);
  copyShort(place, at(positionsOut), positions as u32);
  setEnd(out, place + positions);
  return (place - from) as u32;
}

/** Documents after the last full block. */
function writeTail(start: u32, last: u32, norms: usize, from: usize, positionsOut: usize): usize {
  const count = docCount - start;
  if (count === 0) return from;
  const docs = at(scratch + SCRATCH_DOCS) + start * 4;
  const freqs = at(scratch + SCRATCH_FREQS) + start * 4;
  store<u8>(from, maxFreq(freqs, count));
  store<u8>(from, minNorm(docs, count, norms), 1);
  let place = putVarint(from + 2, (end(positionsOut) - at(positionsOut)) as u32);
  let before = last;
  for (let index: u32 = 0; index < count; index++) {
    const doc = load<u32>(docs + index * 4);
    const freq = load<u32>(freqs + index * 4);
    place = putVarint(place, (doc - before - 1) * 2 + (freq === 1 ? 1 : 0));
    if (freq !== 1) place = putVarint(place, freq);
    before = doc;
  }
  return place;
}

/** Positions of `count` documents from gap number `from` on: groups, then varints; returns the next gap's number. */
function writePositions(freqs: usize, count: u32, from: u32, out: usize): u32 {
  let left: u32 = 0;
  for (let index: u32 = 0; index < count; index++) left += load<u32>(freqs + index * 4);
  const next = from + left;
  let gaps = at(scratch + SCRATCH_POSITIONS) + from * 4;
  let place = end(out);
  for (; left >= (GROUP as u32); left -= GROUP) {
    const bits = bitsOf(orAll(gaps));
    store<u8>(place, bits);
    place = packGroup(gaps, bits, place + 1);
    gaps += GROUP * 4;
  }
  for (; left > 0; left--) {
    place = putVarint(place, load<u32>(gaps));
    gaps += 4;
  }
  setEnd(out, place);
  return next;
}

function orAll(values: usize): u32 {
  let all = v128.load(values);
  for (let row: usize = 16; row < GROUP_BYTES; row += 16) all = v128.or(all, v128.load(values + row));
  return (i32x4.extract_lane(all, 0) |
    i32x4.extract_lane(all, 1) |
    i32x4.extract_lane(all, 2) |
    i32x4.extract_lane(all, 3)) as u32;
}

/** Makes gaps less one of 128 ascending documents, in place; returns all of them or-ed. */
function toGaps(docs: usize, before: u32): u32 {
  let last = before;
  let all: u32 = 0;
  for (let index: usize = 0; index < GROUP_BYTES; index += 4) {
    const doc = load<u32>(docs + index);
    const gap = doc - last - 1;
    store<u32>(docs + index, gap);
    all |= gap;
    last = doc;
  }
  return all;
}

function lessOne(freqs: usize): u32 {
  const one = i32x4.splat(1);
  for (let row: usize = 0; row < GROUP_BYTES; row += 16)
    v128.store(freqs + row, i32x4.sub(v128.load(freqs + row), one));
  return orAll(freqs);
}

function maxFreq(freqs: usize, count: u32): u32 {
  let most: u32 = 1;
  for (let index: u32 = 0; index < count; index++) most = max(most, load<u32>(freqs + index * 4));
  return min(most, IMPACT_FREQ_LIMIT);
}

function minNorm(docs: usize, count: u32, norms: usize): u32 {
  if (norms === 0) return 1;
  let least: u32 = 255;
  for (let index: u32 = 0; index < count; index++)
    least = min(least, load<u8>(norms + load<u32>(docs + index * 4)) as u32);
  return least;
}
