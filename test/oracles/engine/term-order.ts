/** Puts the terms of a buffer in the order of their bytes. The twin of the kernel's sort.ts. */

/** Where the texts of terms stand, by the terms' ids. */
export interface TermTexts {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly lengths: Uint16Array;
}

/** Places of terms that a key has space for beside four bytes: both fit 53 bits. */
const KEY_PLACES = 2 ** 21;

/** Sorts `ids` by the first four bytes as one number, then each run of equal ones byte by byte. */
export function sortTerms(ids: Uint32Array, texts: TermTexts): void {
  const compare = (a: number, b: number) => compareTerms(texts, a, b);
  if (ids.length > KEY_PLACES) {
    ids.sort(compare);
    return;
  }
  // A key holds the prefix above and the place in `ids` below.
  const keys = Float64Array.from(ids, (id, index) => prefixOf(texts, id) * KEY_PLACES + index);
  keys.sort();
  const source = ids.slice();
  for (let index = 0; index < ids.length; index++) ids[index] = source[keys[index]! % KEY_PLACES]!;
  for (let from = 0; from < ids.length; ) {
    const prefix = Math.floor(keys[from]! / KEY_PLACES);
    let to = from + 1;
    while (to < ids.length && Math.floor(keys[to]! / KEY_PLACES) === prefix) to++;
    if (to - from > 1) ids.subarray(from, to).sort(compare);
    from = to;
  }
}

function prefixOf({ bytes, starts, lengths }: TermTexts, id: number): number {
  const at = starts[id]!;
  const length = lengths[id]!;
  let prefix = 0;
  for (let index = 0; index < 4; index++) prefix = prefix * 256 + (index < length ? bytes[at + index]! : 0);
  return prefix;
}

function compareTerms({ bytes, starts, lengths }: TermTexts, a: number, b: number): number {
  const length = Math.min(lengths[a]!, lengths[b]!);
  for (let index = 0; index < length; index++) {
    const difference = bytes[starts[a]! + index]! - bytes[starts[b]! + index]!;
    if (difference !== 0) return difference;
  }
  return lengths[a]! - lengths[b]!;
}
