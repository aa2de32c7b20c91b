/** Postings of one term as bytes. The twin is postings/postings-writer.ts; the grammar is that of the segment format. */

import { at, end, length, putVarint, reserve, setEnd, setLength } from "./buffer";
import { copyShort } from "./copy";
import {
  BLOCK_HEADER_BYTES,
  GROUP,
  KEEP_DOCS,
  OCCURRENCE_BYTES,
  SCRATCH_BLOCKS,
  SCRATCH_DOCS,
  SCRATCH_FREQS,
  SCRATCH_HEADERS,
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

/** Documents of the term that was listed last, those packed before among them, and their frequencies together. */
export let docCount: u32 = 0;
export let totalFreq: u32 = 0;

/** Of the term at hand: documents that were packed, the last of them, and gaps that the last call took of the list. */
let packedDocs: u32 = 0;
let lastPacked: u32 = 0xffff_ffff;
export let packedGaps: u32 = 0;

/**
 * Lists the occurrences `start` to `stop` of `seal` in scratch: documents, how often the term is in each, and positions as
 * gaps within each document.
 */
export function listOccurrences(seal: usize, start: u32, stop: u32, kept: u32): void {
  const count = stop - start;
  beginPostings();
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

/** Begins the postings of a term. */
export function beginPostings(): void {
  setLength(scratch + SCRATCH_HEADERS, 0);
  setLength(scratch + SCRATCH_BLOCKS, 0);
  setLength(scratch + SCRATCH_POSITIONS_OUT, 0);
  packedDocs = 0;
  packedGaps = 0;
  lastPacked = 0xffff_ffff;
}

/**
 * Packs the first documents of the list in scratch, `count` full groups of them, which follow those that were packed
 * before. What is left can be moved to the beginning: a term takes no more space than its packed bytes and the list at
 * hand.
 */
export function packGroups(count: u32, norms: usize, withPositions: bool): void {
  const headers = scratch + SCRATCH_HEADERS;
  const packed = scratch + SCRATCH_BLOCKS;
  const positionsOut = scratch + SCRATCH_POSITIONS_OUT;
  reserve(headers, count * BLOCK_HEADER_BYTES);
  reserve(packed, count * 2 * (GROUP_BYTES as u32));
  packedGaps = 0;
  for (let group: u32 = 0; group < count; group++) {
    const docs = at(scratch + SCRATCH_DOCS) + group * GROUP * 4;
    const freqs = at(scratch + SCRATCH_FREQS) + group * GROUP * 4;
    const header = end(headers);
    const last = load<u32>(docs, GROUP * 4 - 4);
    store<u32>(header, last);
    store<u32>(header, length(packed), 4);
    store<u32>(header, length(positionsOut), 8);
    store<u8>(header, maxFreq(freqs, GROUP), 14);
    store<u8>(header, minNorm(docs, GROUP, norms), 15);
    if (withPositions) packedGaps = writePositions(freqs, GROUP, packedGaps, positionsOut);
    const docBits = bitsOf(toGaps(docs, lastPacked));
    const freqsAt = packGroup(docs, docBits, end(packed));
    const freqBits = bitsOf(lessOne(freqs));
    setEnd(packed, packGroup(freqs, freqBits, freqsAt));
    store<u8>(header, docBits, 12);
    store<u8>(header, freqBits, 13);
    lastPacked = last;
    setEnd(headers, header + BLOCK_HEADER_BYTES);
  }
  packedDocs += count * GROUP;
}

/** Appends the term to `out`, with what was listed last; returns how many bytes it takes without the positions after them. */
export function endPostings(norms: usize, withPositions: bool, out: usize): u32 {
  const left = docCount - packedDocs;
  const groups = left / GROUP;
  packGroups(groups, norms, withPositions);
  const headers = length(scratch + SCRATCH_HEADERS);
  const packed = length(scratch + SCRATCH_BLOCKS);
  const positionsOut = scratch + SCRATCH_POSITIONS_OUT;
  reserve(out, headers + packed + (left % GROUP) * 2 * VARINT_BYTES + 64);
  const from = end(out);
  memory.copy(from, at(scratch + SCRATCH_HEADERS), headers);
  memory.copy(from + headers, at(scratch + SCRATCH_BLOCKS), packed);
  const address = writeTail(groups * GROUP, left % GROUP, norms, from + headers + packed, positionsOut);
  setEnd(out, address);
  if (withPositions) {
    const freqs = at(scratch + SCRATCH_FREQS) + groups * GROUP * 4;
    writePositions(freqs, left % GROUP, packedGaps, positionsOut);
  }
  const positions = length(positionsOut);
  const bytes = (address - from) as u32;
  reserve(out, positions);
  copyShort(end(out), at(positionsOut), positions);
  setEnd(out, end(out) + positions);
  return bytes;
}

/** The `count` documents after the last full block, from number `start` of the list on. */
function writeTail(start: u32, count: u32, norms: usize, from: usize, positionsOut: usize): usize {
  if (count === 0) return from;
  const docs = at(scratch + SCRATCH_DOCS) + start * 4;
  const freqs = at(scratch + SCRATCH_FREQS) + start * 4;
  store<u8>(from, maxFreq(freqs, count));
  store<u8>(from, minNorm(docs, count, norms), 1);
  let address = putVarint(from + 2, length(positionsOut));
  let before = lastPacked;
  for (let index: u32 = 0; index < count; index++) {
    const doc = load<u32>(docs + index * 4);
    const freq = load<u32>(freqs + index * 4);
    address = putVarint(address, (doc - before - 1) * 2 + (freq === 1 ? 1 : 0));
    if (freq !== 1) address = putVarint(address, freq);
    before = doc;
  }
  return address;
}

/** Positions of `count` documents from gap number `from` on: groups, then varints; returns the next gap's number. */
function writePositions(freqs: usize, count: u32, from: u32, out: usize): u32 {
  let left: u32 = 0;
  for (let index: u32 = 0; index < count; index++) left += load<u32>(freqs + index * 4);
  const next = from + left;
  reserve(out, left * VARINT_BYTES + GROUP);
  let gaps = at(scratch + SCRATCH_POSITIONS) + from * 4;
  let address = end(out);
  for (; left >= (GROUP as u32); left -= GROUP) {
    const bits = bitsOf(orAll(gaps));
    store<u8>(address, bits);
    address = packGroup(gaps, bits, address + 1);
    gaps += GROUP * 4;
  }
  for (; left > 0; left--) {
    address = putVarint(address, load<u32>(gaps));
    gaps += 4;
  }
  setEnd(out, address);
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
