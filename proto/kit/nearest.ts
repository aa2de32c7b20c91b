/** Finds the most similar known name, for "did you mean". */

/**
 * Returns the candidate of which `name` is the last part ("paths" of "input.paths"), else the one with the fewest edits,
 * if they are few enough to be a slip; else undefined.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const all = [...candidates];
  const longer = all.filter((candidate) => candidate.endsWith(`.${name}`));
  if (longer.length === 1) return longer[0];
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of all) {
    // So many letters have to be added or left out at least.
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns ", did you mean X?" or nothing, to be appended to a message. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? "" : `; did you mean "${nearest}"?`;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  const row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    // The value above and to the left.
    let corner = row[0]!;
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const above = row[j]!;
      const substitution = corner + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      row[j] = Math.min(substitution, above + 1, row[j - 1]! + 1);
      corner = above;
    }
  }
  return row[b.length]!;
}
