/**
 * From ids to documents: buckets by the high bits of a hash, in each a 16-bit fingerprint and the document. A look-up
 * of an absent id ends at the fingerprints in all but about one of four thousand cases; a hit is compared with the
 * stored id.
 */

import { randomInt } from "node:crypto";
import { readU32 } from "#hub/engine/bytes/byte-buffer.ts";
import type { Extent, SegmentFile, SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import { freeBytes } from "#proto/kit/large-bytes.ts";
import { hashTerm } from "../analysis/tokenizers/ascii-tokenizer.ts";

export interface IdIndexEntry {
  /** Seed of the hash; another one in each segment, so that chosen ids collide in none. */
  readonly seed: number;
  /** 2^bits buckets. */
  readonly bits: number;
  /** Start of each bucket u32, and the end. */
  readonly starts: Extent;
  /** Fingerprint u16 of each entry. */
  readonly fingerprints: Extent;
  /** Document u32 of each entry. */
  readonly docs: Extent;
}

/** Entries per bucket on average, as a power of two. */
const BUCKET_BITS = 4;

/** Hash of an id, as `writeIdIndex` takes it: 32 bits. */
export function hashId(ids: Uint8Array, from: number, to: number, seed: number): number {
  return hashTerm(ids, from, to - from, seed);
}

/** Returns a seed for the ids of a segment. */
export function newIdSeed(): number {
  return randomInt(2 ** 31);
}

/** Writes the index of ids: the hash of each document's by `seed`. */
export function writeIdIndex(
  file: SegmentFileWriter,
  seed: number,
  hashes: Int32Array | Uint32Array,
): IdIndexEntry {
  const count = hashes.length;
  const bits = Math.max(0, 32 - Math.clz32(count) - BUCKET_BITS);
  const starts = new Uint32Array(2 ** bits + 1);
  for (let doc = 0; doc < count; doc++) starts[bucketOf(hashes[doc]!, bits) + 1]!++;
  for (let bucket = 0; bucket < 2 ** bits; bucket++) starts[bucket + 1]! += starts[bucket]!;
  const next = starts.slice();
  const docs = new Uint32Array(count);
  const fingerprints = new Uint16Array(count);
  for (let doc = 0; doc < count; doc++) {
    const index = next[bucketOf(hashes[doc]!, bits)]!++;
    docs[index] = doc;
    fingerprints[index] = hashes[doc]! & 0xffff;
  }
  const entry = {
    seed,
    bits,
    starts: file.write(bytesOf(starts)),
    fingerprints: file.write(bytesOf(fingerprints)),
    docs: file.write(bytesOf(docs)),
  };
  for (const numbers of [starts, next, fingerprints, docs]) freeBytes(numbers);
  return entry;
}

/** Reads an id index. */
export class IdIndex {
  readonly #entry: IdIndexEntry;
  readonly #starts: Uint8Array;
  readonly #fingerprints: Uint8Array;
  readonly #docs: Uint8Array;

  constructor(file: SegmentFile, entry: IdIndexEntry) {
    this.#entry = entry;
    this.#starts = file.read(entry.starts);
    this.#fingerprints = file.read(entry.fingerprints);
    this.#docs = file.read(entry.docs);
  }

  /** Returns the first document that `matches` accepts among those that may have the id, or -1. */
  find(id: Uint8Array, matches: (doc: number) => boolean): number {
    const hash = hashId(id, 0, id.length, this.#entry.seed);
    const bucket = bucketOf(hash, this.#entry.bits);
    const end = readU32(this.#starts, 4 * bucket + 4);
    for (let index = readU32(this.#starts, 4 * bucket); index < end; index++) {
      const fingerprint = this.#fingerprints[2 * index]! | (this.#fingerprints[2 * index + 1]! << 8);
      if (fingerprint !== (hash & 0xffff)) continue;
      const doc = readU32(this.#docs, 4 * index);
      if (matches(doc)) return doc;
    }
    return -1;
  }
}

function bucketOf(hash: number, bits: number): number {
  return bits === 0 ? 0 : hash >>> (32 - bits);
}

/** The bytes of numbers, which the machines that Node runs on keep as the format does. */
function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Uint16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
