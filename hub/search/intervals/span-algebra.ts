/**
 * Spans of one document: lists of intervals by start, then end, in which one may contain another or occur twice. The
 * rules are those of Lucene 7's package `search.spans`; `gaps` of a span is its width, by which it counts less.
 */

import type { Interval, Intervals } from "./algebra.ts";

/** Returns the spans of all lists. */
export function anySpan(lists: readonly Intervals[]): Intervals {
  if (lists.length <= 1) return lists[0] ?? [];
  return lists.flat().sort(inOrder);
}

function inOrder(a: Interval, b: Interval): number {
  return a.start - b.start || a.end - b.end;
}

/** A part of ordered spans: one of a list, or any `gap` positions. */
export type SpanPart = Intervals | { readonly gap: number };

/**
 * Returns the spans in which one of each part follows the one before it, with `slop` positions between all of them at most.
 * The first part isn't a gap.
 */
export function orderedSpans([lead, ...parts]: readonly SpanPart[], slop: number): Intervals {
  const at = parts.map(() => 0);
  const found: Interval[] = [];
  for (const first of lead as Intervals) {
    let { end } = first;
    let width = 0;
    for (let each = 0; each < parts.length; each++) {
      const part = parts[each]!;
      if ("gap" in part) {
        end += part.gap;
        continue;
      }
      while (at[each]! < part.length && part[at[each]!]!.start <= end) at[each]!++;
      const next = part[at[each]!];
      if (next === undefined) return found;
      width += next.start - end - 1;
      end = next.end;
    }
    if (width <= slop) found.push({ start: first.start, end, gaps: width });
  }
  return found;
}

/** Returns the stretches that hold one of each list, in any order, with `slop` positions that belong to none at most. */
export function unorderedSpans(lists: readonly Intervals[], slop: number): Intervals {
  const window = new Window(lists);
  const found: Interval[] = [];
  do {
    const { start } = window.first;
    const width = window.end + 1 - start;
    if (width - window.length <= slop) found.push({ start, end: window.end, gaps: width });
  } while (window.advance());
  return found;
}

/** One span of each list: a heap by their order. Lists aren't empty. */
class Window {
  /** Last position of all spans that have been in the window. */
  end = -1;
  /** Positions of the spans in the window, common ones counted twice. */
  length = 0;
  readonly #lists: readonly Intervals[];
  readonly #at: number[];
  /** Lists, that with the first span on top. */
  readonly #heap: number[];

  constructor(lists: readonly Intervals[]) {
    this.#lists = lists;
    this.#at = lists.map(() => 0);
    this.#heap = lists.map((_, list) => list);
    for (const list of lists) this.#add(list[0]!);
    for (let index = lists.length >> 1; index >= 0; index--) this.#sink(index);
  }

  get first(): Interval {
    return this.#span(0);
  }

  /** Takes the next span of the list with the first one; false if there is none. */
  advance(): boolean {
    const { start, end } = this.first;
    const list = this.#heap[0]!;
    const next = this.#lists[list]![++this.#at[list]!];
    if (next === undefined) return false;
    this.length -= end + 1 - start;
    this.#add(next);
    this.#sink(0);
    return true;
  }

  #add({ start, end }: Interval): void {
    this.length += end + 1 - start;
    if (end > this.end) this.end = end;
  }

  #span(index: number): Interval {
    const list = this.#heap[index]!;
    return this.#lists[list]![this.#at[list]!]!;
  }

  #sink(from: number): void {
    const heap = this.#heap;
    for (let index = from; ; ) {
      let least = index;
      for (let child = 2 * index + 1; child <= 2 * index + 2 && child < heap.length; child++)
        if (inOrder(this.#span(child), this.#span(least)) < 0) least = child;
      if (least === index) return;
      [heap[index], heap[least]] = [heap[least]!, heap[index]!];
      index = least;
    }
  }
}

/**
 * Returns the spans that no excluded one overlaps, also not within `before` positions before and `after` after them.
 */
export function remainingSpans(
  included: Intervals,
  excluded: Intervals,
  before: number,
  after: number,
): Intervals {
  let at = 0;
  return included.filter(({ start, end }) => {
    while (at < excluded.length && excluded[at]!.end < start - before) at++;
    return at === excluded.length || end + after < excluded[at]!.start;
  });
}

/** Returns the big spans that hold a little one. */
export function containingSpans(big: Intervals, little: Intervals): Intervals {
  const found: Interval[] = [];
  let at = 0;
  for (const each of big) {
    while (at < little.length && little[at]!.start < each.start) at++;
    if (at === little.length) return found;
    if (each.end >= little[at]!.end) found.push(each);
  }
  return found;
}

/** Returns the little spans that a big one holds. */
export function spansWithin(big: Intervals, little: Intervals): Intervals {
  const found: Interval[] = [];
  let at = 0;
  for (const each of little) {
    while (at < big.length && big[at]!.end < each.end) at++;
    if (at === big.length) return found;
    if (big[at]!.start <= each.start) found.push(each);
  }
  return found;
}
