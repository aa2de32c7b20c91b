/** Which shard a document belongs to. */

import { AppError } from "#proto/kit/errors.ts";

/** Returns the shard of a document, 0..numberOfShards-1: murmur3 of `routing` or the id, as 6.5 clients expect it. */
export function shardOf(id: string, routing: string, numberOfShards: number): number {
  if (numberOfShards === 1) return 0;
  if (numberOfShards < 1) throw new AppError("internal", `an index with ${numberOfShards} shards`);
  return floorMod(murmur3(routing === "" ? id : routing), numberOfShards);
}

/** The same of an id that is ASCII and stands in bytes[from..to). */
export function shardOfAscii(bytes: Uint8Array, from: number, to: number, numberOfShards: number): number {
  const pairs = from + ((to - from) & ~1);
  let hash = 0;
  for (let at = from; at < pairs; at += 2) hash = step(hash, bytes[at]! | (bytes[at + 1]! << 16));
  if (pairs < to) hash ^= mix(bytes[pairs]!);
  return floorMod(finish(hash, to - from), numberOfShards);
}

/** MurmurHash3 x86 32-bit with seed 0 over the UTF-16LE bytes of `text`; signed. */
function murmur3(text: string): number {
  const pairs = text.length & ~1;
  let hash = 0;
  for (let at = 0; at < pairs; at += 2)
    hash = step(hash, text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16));
  if (pairs < text.length) hash ^= mix(text.charCodeAt(pairs));
  return finish(hash, text.length);
}

function step(before: number, block: number): number {
  const hash = before ^ mix(block);
  return (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(before: number, characters: number): number {
  let hash = before ^ (2 * characters);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function floorMod(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

function mix(block: number): number {
  const scaled = Math.imul(block, 0xcc9e2d51);
  return Math.imul((scaled << 15) | (scaled >>> 17), 0x1b873593);
}
