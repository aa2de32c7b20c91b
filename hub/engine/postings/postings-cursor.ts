/** Reads postings (see postings-writer.ts) block by block; each part is decoded when it is needed. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { ByteReader, grown, readU32 } from "#hub/engine/bytes/byte-buffer.ts";
import { unpackAscending, unpackWords } from "#hub/engine/encoding/bit-packing.ts";
import { searchKernel } from "#hub/engine/kernel/search-kernel.ts";
import {
  type ImpactBound,
  NO_MORE_DOCS,
  POSTINGS_BLOCK,
  type PostingsCursor,
} from "#hub/engine/searcher/searcher.ts";
import { BLOCK_HEADER_BYTES, IMPACT_FREQ_LIMIT } from "./postings-writer.ts";

/** Documents of a term from which on the kernel makes a set of them: it copies the set in and out. */
const KERNEL_POSTINGS = 4096;

const NOTHING = new Int32Array(0);

/** A dictionary's entry for a term's postings. */
interface PostingsData {
  readonly docFreq: number;
  readonly totalTermFreq: number;
  /** Headers, blocks and tail. */
  readonly postings: Uint8Array;
  /** After them; empty if they aren't needed. */
  readonly positions: Uint8Array;
  /** Documents of the segment: the upper bound for what a damaged file may hold. */
  readonly docCount: number;
}

/** Cursor over a term with two documents or more. */
export class BlockPostingsCursor implements PostingsCursor {
  readonly docFreq: number;
  readonly totalTermFreq: number;
  doc = -1;
  impactEnd = -1;
  impactMaxFreq = 1;
  impactMinNorm = 0;
  readonly #bytes: Uint8Array;
  readonly #positionBytes: Uint8Array;
  readonly #docCount: number;
  readonly #blockCount: number;
  /** Made for the first block: of many terms only the impacts are looked at. */
  #docs = NOTHING;
  #freqs = NOTHING;
  #positions = NOTHING;
  /** Block in memory; #blockCount: the tail. */
  #block = -1;
  #size = 0;
  #index = 0;
  #hasFreqs = false;
  #impactBlock = 0;
  /** Positions of the block in #blockPositions; those of document #positionIndex start at #positionStart. */
  #blockPositions = NOTHING;
  #positionsBlock = -1;
  #positionIndex = 0;
  #positionStart = 0;
  #tailPositionsOffset = 0;

  constructor(data: PostingsData) {
    this.docFreq = data.docFreq;
    this.totalTermFreq = data.totalTermFreq;
    this.#bytes = data.postings;
    this.#positionBytes = data.positions;
    this.#docCount = data.docCount;
    this.#blockCount = Math.floor(data.docFreq / POSTINGS_BLOCK);
  }

  get freq(): number {
    if (!this.#hasFreqs) this.#decodeFreqs();
    return this.#freqs[this.#index]!;
  }

  next(): number {
    if (++this.#index < this.#size) return (this.doc = this.#docs[this.#index]!);
    if (!this.#load(this.#block + 1)) return (this.doc = NO_MORE_DOCS);
    return (this.doc = this.#docs[0]!);
  }

  advance(target: number): number {
    if (this.doc >= target) return this.doc;
    if (this.#size === 0 || target > this.#docs[this.#size - 1]!) {
      const block = this.#findBlock(target, Math.max(0, this.#block + 1));
      if (!this.#load(block)) return (this.doc = NO_MORE_DOCS);
    }
    const docs = this.#docs;
    let low = this.#index;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (docs[middle]! < target) low = middle + 1;
      else high = middle;
    }
    this.#index = low;
    if (low < this.#size) return (this.doc = docs[low]!);
    if (!this.#load(this.#block + 1)) return (this.doc = NO_MORE_DOCS);
    return (this.doc = docs[0]!);
  }

  positions(): Int32Array {
    if (this.#positionsBlock !== this.#block) this.#decodePositions();
    if (!this.#hasFreqs) this.#decodeFreqs();
    const freqs = this.#freqs;
    while (this.#positionIndex < this.#index) this.#positionStart += freqs[this.#positionIndex++]!;
    const freq = freqs[this.#index]!;
    this.#positions = grown(this.#positions, freq);
    let position = 0;
    for (let index = 0; index < freq; index++) {
      position += this.#blockPositions[this.#positionStart + index]!;
      this.#positions[index] = position;
    }
    return this.#positions;
  }

  addTo(set: Bitset): void {
    const { docFreq } = this;
    const isKernels = docFreq >= KERNEL_POSTINGS;
    if (isKernels && searchKernel().addPostings(this.#bytes, docFreq, this.#docCount, set.words)) return;
    const bytes = { postings: this.#bytes, positions: new Uint8Array(0) };
    const cursor = new BlockPostingsCursor({
      ...bytes,
      docFreq,
      totalTermFreq: docFreq,
      docCount: this.#docCount,
    });
    const docs = new Int32Array(POSTINGS_BLOCK);
    for (let length = cursor.nextBlock(docs, null); length > 0; length = cursor.nextBlock(docs, null)) {
      for (let at = 0; at < length; at++) set.add(docs[at]!);
    }
  }

  toSet(): Bitset {
    const isKernels = this.docFreq >= KERNEL_POSTINGS;
    const words = isKernels ? searchKernel().postings(this.#bytes, this.docFreq, this.#docCount) : null;
    if (words !== null) return new Bitset(this.#docCount, words);
    const set = new Bitset(this.#docCount);
    this.addTo(set);
    return set;
  }

  nextBlock(docs: Int32Array, freqs: Int32Array | null): number {
    let from = this.#index + 1;
    if (this.#block < 0 || from >= this.#size) {
      if (!this.#load(this.#block + 1)) {
        this.doc = NO_MORE_DOCS;
        return 0;
      }
      from = 0;
    }
    const count = this.#size - from;
    docs.set(from === 0 && count === POSTINGS_BLOCK ? this.#docs : this.#docs.subarray(from, this.#size));
    if (freqs !== null) {
      if (!this.#hasFreqs) this.#decodeFreqs();
      freqs.set(this.#freqs.subarray(from, this.#size));
    }
    this.#index = this.#size - 1;
    this.doc = this.#docs[this.#index]!;
    return count;
  }

  seekImpact(target: number): void {
    if (target > this.impactEnd) this.#openImpact(this.#findBlock(target, this.#impactBlock));
  }

  seekUseful(target: number, bound: ImpactBound): number {
    const first = target <= this.impactEnd ? this.#impactBlock : this.#findBlock(target, this.#impactBlock);
    const block = this.#findUseful(first, bound.leastFreqs, bound);
    this.#openImpact(block);
    if (block === this.#blockCount && !this.#isTailUseful(bound)) return NO_MORE_DOCS;
    return block === first ? target : this.#lastDoc(block - 1) + 1;
  }

  /** First block at or after `from` that passes, #blockCount where none does: nearly all that a search by score does. */
  #findUseful(from: number, leastFreqs: Uint16Array, bound: ImpactBound): number {
    const bytes = this.#bytes;
    for (let block = from; block < this.#blockCount; block++) {
      const at = block * BLOCK_HEADER_BYTES + 14;
      const norm = bytes[at + 1]!;
      if (bytes[at]! >= (leastFreqs[norm]! || bound.find(norm))) return block;
    }
    return this.#blockCount;
  }

  #isTailUseful(bound: ImpactBound): boolean {
    if (this.docFreq % POSTINGS_BLOCK === 0) return false;
    return Math.min(this.impactMaxFreq, IMPACT_FREQ_LIMIT) >= bound.find(this.impactMinNorm);
  }

  /** Makes a block, or the tail, the impact window. */
  #openImpact(block: number): void {
    this.#impactBlock = block;
    if (block < this.#blockCount) {
      const header = block * BLOCK_HEADER_BYTES;
      this.impactEnd = readU32(this.#bytes, header);
      this.#setImpact(this.#bytes[header + 14]!, this.#bytes[header + 15]!);
      return;
    }
    const tail = this.#tailStart();
    this.impactEnd = NO_MORE_DOCS;
    if (this.docFreq % POSTINGS_BLOCK === 0) this.#setImpact(1, 255);
    else this.#setImpact(this.#bytes[tail] ?? 0, this.#bytes[tail + 1] ?? 0);
  }

  #setImpact(maxFreq: number, minNorm: number): void {
    this.impactMaxFreq = maxFreq >= IMPACT_FREQ_LIMIT ? 0x7fff_ffff : maxFreq;
    this.impactMinNorm = minNorm;
  }

  /** First block at or after `from` whose last document is at or after `target`: galloping, then bisecting. */
  #findBlock(target: number, from: number): number {
    let step = 1;
    let low = from;
    while (low + step < this.#blockCount && this.#lastDoc(low + step) < target) {
      low += step;
      step *= 2;
    }
    let high = Math.min(this.#blockCount, low + step);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#lastDoc(middle) < target) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #lastDoc(block: number): number {
    return readU32(this.#bytes, block * BLOCK_HEADER_BYTES);
  }

  /** Decodes the documents of a block (or the tail); false after the last. */
  #load(block: number): boolean {
    this.#block = block;
    this.#index = 0;
    this.#hasFreqs = false;
    this.#size = 0;
    if (block > this.#blockCount) return false;
    if (this.#docs.length === 0) {
      this.#docs = new Int32Array(POSTINGS_BLOCK);
      this.#freqs = new Int32Array(POSTINGS_BLOCK);
    }
    if (block === this.#blockCount) return this.#loadTail();
    const header = block * BLOCK_HEADER_BYTES;
    const at = this.#blockCount * BLOCK_HEADER_BYTES + readU32(this.#bytes, header + 4);
    const bits = Math.min(32, this.#bytes[header + 12]!);
    const before = block === 0 ? -1 : this.#lastDoc(block - 1);
    unpackAscending(this.#bytes, at, bits, before, this.#docs);
    this.#size = POSTINGS_BLOCK;
    // Below 0: damage led beyond 2^31.
    const last = this.#docs[POSTINGS_BLOCK - 1]!;
    return last >= 0 && last < this.#docCount;
  }

  #tailStart(): number {
    if (this.#blockCount === 0) return 0;
    const header = (this.#blockCount - 1) * BLOCK_HEADER_BYTES;
    const bits = this.#bytes[header + 12]! + this.#bytes[header + 13]!;
    return this.#blockCount * BLOCK_HEADER_BYTES + readU32(this.#bytes, header + 4) + 16 * bits;
  }

  #loadTail(): boolean {
    const count = this.docFreq % POSTINGS_BLOCK;
    if (count === 0) return false;
    const reader = new ByteReader(this.#bytes, this.#tailStart() + 2);
    this.#tailPositionsOffset = reader.varint();
    let doc = this.#blockCount === 0 ? -1 : this.#lastDoc(this.#blockCount - 1);
    for (let index = 0; index < count; index++) {
      const code = reader.varint();
      doc += Math.floor(code / 2) + 1;
      this.#docs[index] = doc;
      this.#freqs[index] = code & 1 ? 1 : reader.varint();
    }
    this.#hasFreqs = true;
    this.#size = count;
    return doc < this.#docCount;
  }

  #decodeFreqs(): void {
    const header = this.#block * BLOCK_HEADER_BYTES;
    const docBits = this.#bytes[header + 12]!;
    const at = this.#blockCount * BLOCK_HEADER_BYTES + readU32(this.#bytes, header + 4) + 16 * docBits;
    unpackWords(this.#bytes, at, Math.min(32, this.#bytes[header + 13]!), this.#freqs, 0);
    for (let index = 0; index < POSTINGS_BLOCK; index++) this.#freqs[index]!++;
    this.#hasFreqs = true;
  }

  #decodePositions(): void {
    if (!this.#hasFreqs) this.#decodeFreqs();
    let total = 0;
    for (let index = 0; index < this.#size; index++) total += this.#freqs[index]!;
    // A sum beyond what the bytes can hold comes from damage.
    total = Math.min(total, 128 * this.#positionBytes.length + POSTINGS_BLOCK);
    this.#blockPositions = grown(this.#blockPositions, total);
    const isTail = this.#block === this.#blockCount;
    const start = isTail
      ? this.#tailPositionsOffset
      : readU32(this.#bytes, this.#block * BLOCK_HEADER_BYTES + 8);
    readPositions(this.#positionBytes, start, total, this.#blockPositions);
    this.#positionsBlock = this.#block;
    this.#positionIndex = 0;
    this.#positionStart = 0;
  }
}

/** Reads `count` distances of positions to `out`: whole groups packed, the rest varints. */
function readPositions(bytes: Uint8Array, start: number, count: number, out: Int32Array): void {
  let at = start;
  let done = 0;
  for (; done + POSTINGS_BLOCK <= count; done += POSTINGS_BLOCK) {
    const bits = Math.min(32, bytes[at] ?? 0);
    unpackWords(bytes, at + 1, bits, out, done);
    at += 1 + 16 * bits;
  }
  const reader = new ByteReader(bytes, at);
  for (; done < count; done++) out[done] = reader.varint();
}
