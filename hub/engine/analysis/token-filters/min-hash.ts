/**
 * `min_hash`: the smallest hashes of all words as terms, so that texts with many words in common have terms in common
 * (MinHash).
 */

import { type Options, readBoolean, readInteger } from "#hub/engine/analysis/parts/options.ts";
import type { Token, TokenFilter } from "#hub/engine/analysis/parts/token.ts";
import { murmur128 } from "#proto/codec/murmur3-128.ts";

/** Terms that a text may have: one word may make as many. Beyond it the settings are refused. */
const MAX_TERMS = 10_000;
/** Hashes of each word; beyond it the settings are refused. So many take 13 µs a word, four times as long as one. */
const MAX_HASHES = 128;

const BITS = 64n;
/** Hashes are put into buckets by their highest 32 of 128 bits. */
const BUCKET_SHIFT = 96n;
const FACTOR = 37n;

/** Throws RangeError for settings that make no terms, or too many. */
export function minHashFilter(options: Options): TokenFilter {
  const hashes = readInteger(options, "hash_count", 1);
  const buckets = readInteger(options, "bucket_count", 512);
  const size = readInteger(options, "hash_set_size", 1);
  const rotates = readBoolean(options, "with_rotation", buckets > 1);
  if (hashes < 1 || buckets < 1 || size < 1)
    throw new RangeError("hash_count, bucket_count and hash_set_size must be greater than zero");
  if (hashes * buckets * size > MAX_TERMS)
    throw new RangeError(
      `hash_count, bucket_count and hash_set_size make more than ${MAX_TERMS} terms of a text`,
    );
  if (hashes > MAX_HASHES)
    throw new RangeError(
      `hash_count must be at most ${MAX_HASHES}, as each word is hashed so many times; a bucket_count of as many costs one hash`,
    );
  const seeds = Array.from({ length: hashes }, (_, at) => hashOf(numberBytes(at)));
  const width = BigInt(Math.ceil(2 ** 32 / buckets));
  return (tokens) => {
    if (tokens.length === 0) return [];
    const words = [...new Set(tokens.map(({ text }) => text))].map((text) =>
      hashOf(Buffer.from(text, "utf16le")),
    );
    const made = seeds.flatMap((seed, at) => {
      const least = leastHashes(words, seed, { buckets, width, size });
      if (rotates && size === 1) fillEmpty(least);
      const head = hashes === 1 ? "" : units(BigInt(at), 32n);
      return least.flatMap((set) => set.map((hash) => head + termOf(hash, hashes === 1)));
    });
    const { endOffset } = tokens.at(-1)!;
    return made.map((text): Token => ({ text, startOffset: 0, endOffset, type: "MIN_HASH", position: 0 }));
  };
}

interface Buckets {
  readonly buckets: number;
  /** Hashes of a bucket, of their highest 32 bits. */
  readonly width: bigint;
  /** Hashes that a bucket keeps. */
  readonly size: number;
}

/** Returns the least hashes of each bucket, ascending. */
function leastHashes(words: readonly bigint[], seed: bigint, { buckets, width, size }: Buckets): bigint[][] {
  const sets: bigint[][] = Array.from({ length: buckets }, () => []);
  for (const word of words) {
    const hash = combined(word, seed);
    const set = sets[Number((hash >> BUCKET_SHIFT) / width)]!;
    // Most hashes of a long text are none of the least.
    if (set.length === size && hash >= set.at(-1)!) continue;
    const index = placeOf(hash, set);
    if (set[index] === hash) continue;
    set.splice(index, 0, hash);
    if (set.length > size) set.pop();
  }
  return sets;
}

/** Returns the index of a hash in an ascending list, or where to insert it. */
function placeOf(hash: bigint, set: readonly bigint[]): number {
  let [from, to] = [0, set.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (set[middle]! < hash) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** An empty bucket has what the next one that isn't empty has; the first comes after the last. */
function fillEmpty(sets: bigint[][]): void {
  let next = sets.find((set) => set.length > 0)!;
  for (let at = sets.length - 1; at >= 0; at--) {
    if (sets[at]!.length > 0) next = sets[at]!;
    else sets[at] = next;
  }
}

/** Returns a hash of 128 bits, the second half of MurmurHash3 first. */
function hashOf(bytes: Buffer): bigint {
  const hash = murmur128(bytes, 0n);
  return (hash.readBigUInt64LE(8) << BITS) | hash.readBigUInt64LE(0);
}

function combined(first: bigint, second: bigint): bigint {
  const half = (a: bigint, b: bigint): bigint => BigInt.asUintN(64, a * FACTOR + b);
  return (
    (half(first >> BITS, second >> BITS) << BITS) |
    half(BigInt.asUintN(64, first), BigInt.asUintN(64, second))
  );
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Returns the term of a hash, its bits as UTF-16 units; with several hashes without the last 32, as in Lucene. */
function termOf(hash: bigint, isWhole: boolean): string {
  return isWhole ? units(hash, 128n) : units(hash >> 32n, 96n);
}

function units(value: bigint, bits: bigint): string {
  let text = "";
  for (let shift = bits - 16n; shift >= 0n; shift -= 16n)
    text += String.fromCharCode(Number(BigInt.asUintN(16, value >> shift)));
  return text;
}
