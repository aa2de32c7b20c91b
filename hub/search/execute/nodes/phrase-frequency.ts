/** How often a phrase occurs in a document, from the positions of its terms. */

/** The positions of one part of the phrase. */
export interface PhrasePlace {
  /** Distance from the phrase's first part. */
  readonly offset: number;
  /** Ascending, in the first `length` places. */
  readonly positions: Int32Array;
  readonly length: number;
}

/** Returns the number of places where all parts stand exactly as in the phrase. */
export function exactFrequency(places: readonly PhrasePlace[]): number {
  const [lead, ...others] = places;
  if (lead === undefined) return 0;
  const at = new Int32Array(others.length);
  let frequency = 0;
  search: for (let index = 0; index < lead.length; index++) {
    const start = lead.positions[index]! - lead.offset;
    for (let each = 0; each < others.length; each++) {
      const other = others[each]!;
      const wanted = start + other.offset;
      let next = at[each]!;
      while (next < other.length && other.positions[next]! < wanted) next++;
      at[each] = next;
      if (next === other.length) return frequency;
      if (other.positions[next] !== wanted) continue search;
    }
    frequency++;
  }
  return frequency;
}

/**
 * Returns the sum of 1 / (1 + distance) over the places where the parts stand within `slop` moves: the distance
 * is the spread of the parts' positions less their offsets.
 */
export function sloppyFrequency(places: readonly PhrasePlace[], slop: number): number {
  const at = new Int32Array(places.length);
  let frequency = 0;
  while (true) {
    let lowest = 0;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let each = 0; each < places.length; each++) {
      const place = places[each]!;
      if (at[each] === place.length) return frequency;
      const start = place.positions[at[each]!]! - place.offset;
      if (start < low) {
        low = start;
        lowest = each;
      }
      if (start > high) high = start;
    }
    if (high - low <= slop && isBest(places, at, lowest, high)) frequency += 1 / (1 + high - low);
    at[lowest]!++;
  }
}

/** True where the lowest part has no later position that is nearer to the others and two parts don't share a token. */
function isBest(places: readonly PhrasePlace[], at: Int32Array, lowest: number, high: number): boolean {
  const place = places[lowest]!;
  const next = at[lowest]! + 1;
  if (next < place.length && place.positions[next]! - place.offset <= high) return false;
  const seen = new Set<number>();
  for (let each = 0; each < places.length; each++) seen.add(places[each]!.positions[at[each]!]!);
  return seen.size === places.length;
}
