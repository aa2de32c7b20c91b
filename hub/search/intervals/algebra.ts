/**
 * Intervals of token positions in one document. Lists hold minimal intervals only (none contains another), so starts and
 * ends both ascend; operations on lists return such lists (Clarke, Cormack & Burkowski 1995).
 */

/** Positions `start` to `end`, both inclusive; `gaps` of them belong to no part. */
export interface Interval {
  readonly start: number;
  readonly end: number;
  readonly gaps: number;
}

export type Intervals = readonly Interval[];

/** Returns the intervals of a term by its positions: ascending, in the first `length` entries. */
export function ofPositions(positions: Int32Array, length: number): Intervals {
  const list: Interval[] = [];
  for (let at = 0; at < length; at++) list.push({ start: positions[at]!, end: positions[at]!, gaps: 0 });
  return list;
}

/** Returns the minimal intervals of any of the lists. */
export function anyOf(lists: readonly Intervals[]): Intervals {
  if (lists.length <= 1) return lists[0] ?? [];
  const all = lists.flat().sort((a, b) => a.start - b.start || b.end - a.end);
  return minimal(all);
}

/** Returns the smallest stretches that hold one of each list in their order, without overlaps. */
export function ordered(lists: readonly Intervals[]): Intervals {
  const at = lists.map(() => 0);
  const found: Interval[] = [];
  for (const first of lists[0]!) {
    let end = first.end;
    let width = first.end - first.start + 1;
    for (let each = 1; each < lists.length; each++) {
      const list = lists[each]!;
      while (at[each]! < list.length && list[at[each]!]!.start <= end) at[each]!++;
      const next = list[at[each]!];
      if (next === undefined) return minimal(found);
      end = next.end;
      width += next.end - next.start + 1;
    }
    found.push({ start: first.start, end, gaps: end - first.start + 1 - width });
  }
  return minimal(found);
}

/** Returns the smallest stretches that hold one of each list, in any order; they may overlap. */
export function unordered(lists: readonly Intervals[]): Intervals {
  const at = lists.map(() => 0);
  const found: Interval[] = [];
  for (;;) {
    let lowest = 0;
    let end = -1;
    let width = 0;
    for (let each = 0; each < lists.length; each++) {
      const part = lists[each]![at[each]!];
      if (part === undefined) return minimal(found);
      const low = lists[lowest]![at[lowest]!]!;
      if (part.start < low.start || (part.start === low.start && part.end > low.end)) lowest = each;
      end = Math.max(end, part.end);
      width += part.end - part.start + 1;
    }
    const { start } = lists[lowest]![at[lowest]!]!;
    found.push({ start, end, gaps: Math.max(0, end - start + 1 - width) });
    at[lowest]!++;
  }
}

/** Returns the stretches in which one of each list follows the one before it at once. */
export function adjacent(lists: readonly Intervals[]): Intervals {
  const at = lists.map(() => 0);
  const found: Interval[] = [];
  starts: for (const first of lists[0]!) {
    let { end } = first;
    for (let each = 1; each < lists.length; each++) {
      const list = lists[each]!;
      while (at[each]! < list.length && list[at[each]!]!.start <= end) at[each]!++;
      const next = list[at[each]!];
      if (next === undefined) return minimal(found);
      if (next.start !== end + 1) continue starts;
      end = next.end;
    }
    found.push({ start: first.start, end, gaps: 0 });
  }
  return minimal(found);
}

/** Returns the intervals as they are with `before` further positions in front of them. */
export function extended(list: Intervals, before: number): Intervals {
  return list.map(({ start, end, gaps }) => ({ start: start - before, end, gaps }));
}

/** Relations of an interval to one of another list. */
export const RELATIONS = {
  containing: (a, b) => a.start <= b.start && a.end >= b.end,
  contained_by: (a, b) => b.start <= a.start && b.end >= a.end,
  overlapping: (a, b) => a.start <= b.end && a.end >= b.start,
  before: (a, b) => a.end < b.start,
  after: (a, b) => a.start > b.end,
} as const satisfies Record<string, (a: Interval, b: Interval) => boolean>;

export type Relation = keyof typeof RELATIONS;

/** Returns the intervals that have the relation to one of `others`; `negated`: to none of them. */
export function related(list: Intervals, others: Intervals, relation: Relation, negated: boolean): Intervals {
  const fits = RELATIONS[relation];
  return list.filter((each) => someNear(each, others, relation, fits) !== negated);
}

/** Examines only the others that may have the relation: their starts and ends ascend. */
function someNear(
  each: Interval,
  others: Intervals,
  relation: Relation,
  fits: (a: Interval, b: Interval) => boolean,
): boolean {
  if (relation === "before") return others.length > 0 && fits(each, others.at(-1)!);
  if (relation === "after") return others.length > 0 && fits(each, others[0]!);
  // The first that ends after the interval's start, by halves; those before it neither overlap nor hold it.
  let [low, high] = [0, others.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (others[middle]!.end < each.start) low = middle + 1;
    else high = middle;
  }
  for (let at = low; at < others.length && others[at]!.start <= each.end; at++)
    if (fits(each, others[at]!)) return true;
  return false;
}

/** Leaves out intervals that hold another one; starts ascend, longer ones first among the same. */
function minimal(list: readonly Interval[]): Intervals {
  const kept: Interval[] = [];
  for (const each of list) {
    let last = kept.at(-1);
    if (last !== undefined && last.start === each.start && last.end <= each.end) continue;
    while (last !== undefined && last.end >= each.end) {
      kept.pop();
      last = kept.at(-1);
    }
    kept.push(each);
  }
  return kept;
}
