/** Which shard a document belongs to. */

import { AppError } from "#proto/kit/errors.ts";

/** Returns the shard of a document, 0..numberOfShards-1: murmur3 of `routing` or the id, as 6.5 clients expect it. */
export function shardOf(id: string, routing: string, numberOfShards: number): number {
  if (numberOfShards === 1) return 0;
  if (numberOfShards < 1) throw new AppError("internal", `an index with ${numberOfShards} shards`);
  return floorMod(murmur3(routing === "" ? id : routing), numberOfShards);
}

/** The same for an ASCII id in bytes[from..to). */
export function shardOfAscii(bytes: Uint8Array, from: number, to: number, numberOfShards: number): number {
  const pairs = from + ((to - from) & ~1);
  let hash = 0;
  for (let at = from; at < pairs; at += 2) hash = hashPair(hash, mixedPair(bytes[at]!, bytes[at + 1]!));
  if (pairs < to) hash ^= mix(bytes[pairs]!);
  return floorMod(finish(hash, to - from), numberOfShards);
}

/** MurmurHash3 x86 32-bit with seed 0 over the UTF-16LE bytes of `text`; signed. */
function murmur3(text: string): number {
  const pairs = text.length & ~1;
  let hash = 0;
  for (let at = 0; at < pairs; at += 2)
    hash = hashPair(hash, mixedPair(text.charCodeAt(at), text.charCodeAt(at + 1)));
  if (pairs < text.length) hash ^= mix(text.charCodeAt(pairs));
  return finish(hash, text.length);
}

/** Two characters in the form that `hashPair` takes. */
export function mixedPair(first: number, second: number): number {
  return mix(first | (second << 16));
}

/** One step of the hash of a text, two characters at a time: begins at 0; each step takes the previous step's result. */
export function hashPair(before: number, mixed: number): number {
  const hash = before ^ mixed;
  return (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
}

/** Shard of an id of `characters` characters, an even number, whose pairs have this hash. */
export function shardOfHash(hash: number, characters: number, numberOfShards: number): number {
  return floorMod(finish(hash, characters), numberOfShards);
}

function finish(before: number, characters: number): number {
  let hash = before ^ (2 * characters);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function floorMod(value: number, divisor: number): number {
  const rest = (value % divisor) | 0;
  return rest < 0 ? rest + divisor : rest;
}

function mix(block: number): number {
  const scaled = Math.imul(block, 0xcc9e2d51);
  return Math.imul((scaled << 15) | (scaled >>> 17), 0x1b873593);
}
