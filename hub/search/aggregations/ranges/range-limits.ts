/** Buckets of intervals: which of them the values of a document fall into. */

/** Limits of a bucket, `from` inclusive, `to` exclusive; null: open. */
export interface RangeLimits {
  readonly from: number | null;
  readonly to: number | null;
}

/** `count` values with the place of their document in the batch, ascending. */
export interface PlacedValues {
  readonly values: ArrayLike<number>;
  readonly places: ArrayLike<number>;
  readonly count: number;
}

/** True where a value is at or behind `from` and before `to`. */
export function inRange(value: number, { from, to }: RangeLimits): boolean {
  return (from === null || value >= from) && (to === null || value < to);
}

/** Puts each document into the buckets that one of its values falls into, once into each. */
export function putInRanges(
  { values, places, count }: PlacedValues,
  ranges: readonly RangeLimits[],
  put: (place: number, bucket: number) => void,
): void {
  for (let at = 0; at < count; ) {
    const place = places[at]!;
    let end = at + 1;
    while (end < count && places[end] === place) end++;
    for (let bucket = 0; bucket < ranges.length; bucket++) {
      const limits = ranges[bucket]!;
      for (let each = at; each < end; each++) {
        if (!inRange(values[each]!, limits)) continue;
        put(place, bucket);
        break;
      }
    }
    at = end;
  }
}
