/** Finds terms within a few edits of a given term. */

/**
 * Returns a function that counts the edits from `term` to a text; `limit + 1` for more than `limit`. `swaps`: two
 * transposed letters are one edit, else two.
 */
export function editsFrom(term: string, limit: number, swaps = true): (text: string) => number {
  const wanted = Array.from(term, (character) => character.codePointAt(0)!);
  return (text) => {
    const given = Array.from(text, (character) => character.codePointAt(0)!);
    return Math.abs(given.length - wanted.length) > limit ? limit + 1 : distance(wanted, given, limit, swaps);
  };
}

/** Returns a test for texts with a beginning that is within `edits` of `prefix`. */
export function beginsWithinEdits(prefix: string, edits: number): (text: string) => boolean {
  const wanted = Array.from(prefix, (character) => character.codePointAt(0)!);
  return (text) => {
    const given = Array.from(text, (character) => character.codePointAt(0)!);
    for (let length = Math.max(0, wanted.length - edits); length <= wanted.length + edits; length++) {
      if (length > given.length) return false;
      if (distance(wanted, given.slice(0, length), edits) <= edits) return true;
    }
    return false;
  };
}

/** Returns a test for terms within `edits` insertions, deletions, replacements and swaps of adjacent letters. */
export function withinEdits(term: string, edits: number): (text: string) => boolean {
  const from = editsFrom(term, edits);
  return (text) => from(text) <= edits;
}

/** Returns the edits that fuzziness AUTO allows for a term: 0 up to 2 characters, 1 up to 5, else 2. */
export function automaticEdits(term: string): number {
  const length = Array.from(term).length;
  return length < 3 ? 0 : length < 6 ? 1 : 2;
}

/** Optimal string alignment distance, without `swaps` Levenshtein's; stops early with limit + 1. */
function distance(a: readonly number[], b: readonly number[], limit: number, swaps = true): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      let edits = Math.min(row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1), row[j]! + 1, next[j - 1]! + 1);
      if (swaps && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        edits = Math.min(edits, before[j - 2]! + 1);
      next.push(edits);
      if (edits < best) best = edits;
    }
    if (best > limit) return limit + 1;
    before = row;
    row = next;
  }
  return row[b.length]!;
}
