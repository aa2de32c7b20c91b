/**
 * Postings of one term as bytes: headers of full blocks, packed blocks of 128, a tail of varints, then positions.
 * Grammar: hub/engine/README.md, which names everything that writes or reads them. hub/engine/kernel/assembly/postings.ts
 * writes the same bytes for nearly all segments; this file does for merges that the kernel's memory is too small for, and
 * in tests of the kernel.
 */

import { type ByteBuffer, grown, writeU32 } from "#hub/engine/bytes/byte-buffer.ts";
import { bitsOf, GROUP, packGroup } from "#hub/engine/encoding/bit-packing.ts";

/** Bytes of the header of a full block: last doc u32, block offset u32, positions offset u32, bits and impact 4 x u8. */
export const BLOCK_HEADER_BYTES = 16;

/** Frequencies at and above it are kept as it in impacts and mean "any". */
export const IMPACT_FREQ_LIMIT = 255;

/** The documents of one term in memory; reused from term to term. */
export class PostingsList {
  docs = new Int32Array(256);
  freqs = new Int32Array(256);
  /** Positions of all documents, each document's own ascending and absolute. */
  positions = new Int32Array(256);
  count = 0;
  positionCount = 0;
  totalTermFreq = 0;

  clear(): void {
    this.count = 0;
    this.positionCount = 0;
    this.totalTermFreq = 0;
  }

  add(doc: number, freq: number): void {
    if (this.count === this.docs.length) {
      this.docs = grown(this.docs, this.count + 1);
      this.freqs = grown(this.freqs, this.count + 1);
    }
    this.docs[this.count] = doc;
    this.freqs[this.count++] = freq;
    this.totalTermFreq += freq;
  }

  addPosition(position: number): void {
    if (this.positionCount === this.positions.length)
      this.positions = grown(this.positions, this.positionCount + 1);
    this.positions[this.positionCount++] = position;
  }
}

const deltas = new Int32Array(GROUP);
const group = new Int32Array(GROUP);

/**
 * Appends the postings of `list` to `out` and returns how many bytes they take without the positions after them.
 * `norms`: norm byte per document or null; `withPositions`: the list has positions.
 */
export function writePostings(
  list: PostingsList,
  norms: Uint8Array | null,
  withPositions: boolean,
  out: ByteBuffer,
  positionsOut: ByteBuffer,
): number {
  const from = out.length;
  const blockCount = Math.floor(list.count / GROUP);
  const headers = out.length;
  out.reserve(blockCount * BLOCK_HEADER_BYTES);
  out.length += blockCount * BLOCK_HEADER_BYTES;
  const blocks = out.length;
  positionsOut.clear();
  let previous = -1;
  let position = 0;
  for (let block = 0; block < blockCount; block++) {
    const start = block * GROUP;
    const offset = out.length - blocks;
    const docBits = packDocs(list.docs, start, previous, out);
    const freqBits = packFreqs(list.freqs, start, out);
    previous = list.docs[start + GROUP - 1]!;
    const header = headers + block * BLOCK_HEADER_BYTES;
    writeU32(out.bytes, header, previous);
    writeU32(out.bytes, header + 4, offset);
    writeU32(out.bytes, header + 8, positionsOut.length);
    out.bytes[header + 12] = docBits;
    out.bytes[header + 13] = freqBits;
    out.bytes[header + 14] = maxFreq(list, start, start + GROUP);
    out.bytes[header + 15] = minNorm(list, start, start + GROUP, norms);
    if (withPositions) position = writePositions(list, start, start + GROUP, position, positionsOut);
  }
  writeTail(list, blockCount * GROUP, previous, norms, positionsOut.length, out);
  if (withPositions) writePositions(list, blockCount * GROUP, list.count, position, positionsOut);
  const length = out.length - from;
  out.append(positionsOut.bytes, 0, positionsOut.length);
  return length;
}

function packDocs(docs: Int32Array, start: number, previous: number, out: ByteBuffer): number {
  let before = previous;
  let all = 0;
  for (let index = 0; index < GROUP; index++) {
    const doc = docs[start + index]!;
    deltas[index] = doc - before - 1;
    all |= deltas[index]!;
    before = doc;
  }
  const bits = bitsOf(all);
  packGroup(deltas, 0, bits, out);
  return bits;
}

function packFreqs(freqs: Int32Array, start: number, out: ByteBuffer): number {
  let all = 0;
  for (let index = 0; index < GROUP; index++) {
    group[index] = freqs[start + index]! - 1;
    all |= group[index]!;
  }
  const bits = bitsOf(all);
  packGroup(group, 0, bits, out);
  return bits;
}

/** The documents after the last full block: impact, positions offset, then delta and frequency each. */
function writeTail(
  list: PostingsList,
  start: number,
  previous: number,
  norms: Uint8Array | null,
  positionsOffset: number,
  out: ByteBuffer,
): void {
  if (start === list.count) return;
  out.u8(maxFreq(list, start, list.count));
  out.u8(minNorm(list, start, list.count, norms));
  out.varint(positionsOffset);
  let before = previous;
  for (let index = start; index < list.count; index++) {
    const delta = list.docs[index]! - before - 1;
    const freq = list.freqs[index]!;
    out.varint(delta * 2 + (freq === 1 ? 1 : 0));
    if (freq !== 1) out.varint(freq);
    before = list.docs[index]!;
  }
}

/**
 * Positions of documents [start, end), from index `from` of the list: deltas within each document, groups then varints.
 */
function writePositions(
  list: PostingsList,
  start: number,
  end: number,
  from: number,
  out: ByteBuffer,
): number {
  let place = from;
  let filled = 0;
  for (let index = start; index < end; index++) {
    let before = 0;
    for (let left = list.freqs[index]!; left > 0; left--) {
      const position = list.positions[place++]!;
      group[filled++] = position - before;
      before = position;
      if (filled === GROUP) {
        writePositionGroup(out);
        filled = 0;
      }
    }
  }
  for (let index = 0; index < filled; index++) out.varint(group[index]!);
  return place;
}

function writePositionGroup(out: ByteBuffer): void {
  let all = 0;
  for (let index = 0; index < GROUP; index++) all |= group[index]!;
  const bits = bitsOf(all);
  out.u8(bits);
  packGroup(group, 0, bits, out);
}

function maxFreq(list: PostingsList, start: number, end: number): number {
  let max = 1;
  for (let index = start; index < end; index++) if (list.freqs[index]! > max) max = list.freqs[index]!;
  return Math.min(max, IMPACT_FREQ_LIMIT);
}

function minNorm(list: PostingsList, start: number, end: number, norms: Uint8Array | null): number {
  if (norms === null) return 1;
  let min = 255;
  for (let index = start; index < end; index++) {
    const norm = norms[list.docs[index]!]!;
    if (norm < min) min = norm;
  }
  return min;
}
