/** Similar words, as Lucene's FuzzyQuery finds them. */

/** Returns whether a term is found for `wanted`: at most `edits` from it, beginning alike. */
export function isSimilar(
  term: string,
  wanted: string,
  edits: number,
  prefixLength: number,
  transpositions = true,
): boolean {
  const prefix = wanted.slice(0, prefixLength);
  if (!term.startsWith(prefix)) return false;
  if (edits === 0 || prefixLength >= wanted.length) return term === wanted;
  return distance(term, wanted, transpositions) <= edits;
}

/** Returns edits between two words: letters added, removed, replaced, and neighbours swapped if `transpositions`. */
export function distance(a: string, b: string, transpositions: boolean): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, rows[i - 1]![j]! + 1, row[j - 1]! + 1);
      if (transpositions && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

/** Edits of fuzziness AUTO for a word. */
export function automaticEdits(word: string): number {
  return word.length < 3 ? 0 : word.length < 6 ? 1 : 2;
}
