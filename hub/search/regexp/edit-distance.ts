/** Terms that differ from a given one by few edits. */

/** Returns a test for terms within `edits` insertions, deletions, replacements and swaps of neighbours. */
export function withinEdits(term: string, edits: number): (text: string) => boolean {
  const wanted = Array.from(term, (character) => character.codePointAt(0)!);
  return (text) => {
    const given = Array.from(text, (character) => character.codePointAt(0)!);
    return Math.abs(given.length - wanted.length) <= edits && distance(wanted, given, edits) <= edits;
  };
}

/** Returns the edits that fuzziness AUTO allows for a term: 0 up to 2 characters, 1 up to 5, else 2. */
export function automaticEdits(term: string): number {
  const length = Array.from(term).length;
  return length < 3 ? 0 : length < 6 ? 1 : 2;
}

/** Optimal string alignment distance; stops early with limit + 1. */
function distance(a: readonly number[], b: readonly number[], limit: number): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      let edits = Math.min(row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1), row[j]! + 1, next[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
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
