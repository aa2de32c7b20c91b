/** FNV-1a, a short hash that is fast for short texts. */

/** Basis and prime of 32 bits (Fowler, Noll, Vo; draft-eastlake-fnv §5). */
const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * Returns FNV-1a of 32 bits over the UTF-16 units of a text, 0..2^32 - 1. `seed` is mixed into the basis. Its low bits are
 * poor for texts that differ at the end: who needs few bits mixes them in a way of its own.
 */
export function fnv1a(text: string, seed = 0): number {
  let hash = BASIS ^ seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return hash >>> 0;
}
