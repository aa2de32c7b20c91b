/** Random numbers that are the same for the same text and seed. */

import { fnv1a } from "#proto/codec/fnv1a.ts";

/** Returns a number from 0 inclusive to 1 exclusive of 24 bits; `start`: of `randomStart`. */
export function randomScore(text: string, start: number): number {
  return (hash(text, start) >>> 8) / 2 ** 24;
}

/** Returns the start of a seed. */
export function randomStart(seed: string): number {
  return hash(seed, 0);
}

/** FNV-1a with a last mixing, so that neighbouring ids differ in all bits. */
function hash(value: string, start: number): number {
  let state = fnv1a(value, start);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}
