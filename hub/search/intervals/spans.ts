/** Joins spans that are bound to a shard. */

import { AppError } from "#proto/kit/errors.ts";
import type { Intervals } from "./algebra.ts";
import { candidatesOfAll, candidatesOfAny, combined, type IntervalSource, leavesOf } from "./source.ts";
import {
  anySpan,
  containingSpans,
  orderedSpans,
  remainingSpans,
  type SpanPart,
  spansWithin,
  unorderedSpans,
} from "./span-algebra.ts";
import type { BoundSpan } from "./span-node.ts";

/** Any positions between two spans of ordered ones. */
export interface SpanGap {
  /** As the request names it. */
  readonly field: string;
  readonly gap: number;
}

/** Returns the width of a gap; undefined for another clause. */
export function gapOf(clause: object): number | undefined {
  return "gap" in clause && typeof clause.gap === "number" ? clause.gap : undefined;
}

interface NearOptions {
  /** Positions between the spans at most; below 0: they must overlap. */
  readonly slop: number;
  readonly inOrder: boolean;
}

/** Returns spans around one of each clause. Throws query_shard if they are of several fields. */
export function nearSpan(
  clauses: readonly (BoundSpan | SpanGap)[],
  { slop, inOrder }: NearOptions,
): BoundSpan {
  const field = commonField(clauses);
  const spans = clauses.filter((each): each is BoundSpan => "source" in each);
  const sources = spans.map(({ source }) => source);
  const gaps = clauses.map(gapOf);
  const join = (lists: readonly Intervals[]): Intervals => {
    if (!inOrder) return unorderedSpans(lists, slop);
    let at = 0;
    const parts = gaps.map((gap): SpanPart => (gap === undefined ? lists[at++]! : { gap }));
    return orderedSpans(parts, slop);
  };
  const texts = clauses.map((each) => ("source" in each ? each.text : `SpanGap(${each.gap})`));
  const source = spanSource(sources, true, candidatesOfAll(sources), join);
  return { field, scoredField: field, text: `spanNear([${texts.join(", ")}], ${slop}, ${inOrder})`, source };
}

/** Returns the spans of all clauses. Throws query_shard if they are of several fields. */
export function eitherSpan(clauses: readonly BoundSpan[]): BoundSpan {
  const field = commonField(clauses);
  const sources = clauses.map(({ source }) => source);
  const text = `spanOr([${clauses.map((each) => each.text).join(", ")}])`;
  return {
    field,
    scoredField: field,
    text,
    source: spanSource(sources, false, candidatesOfAny(sources), anySpan),
  };
}

/** Returns the spans of `include` that none of `exclude` overlaps or is that near to, in positions. */
export function remainingSpan(
  include: BoundSpan,
  exclude: BoundSpan,
  { before, after }: { readonly before: number; readonly after: number },
): BoundSpan {
  commonField([include, exclude]);
  const { candidates, leaves } = include.source;
  const sources = [include.source, exclude.source];
  const source = combined({
    sources,
    needsAll: false,
    candidates,
    minExtent: 1,
    leaves,
    join: ([included, excluded]) => remainingSpans(included!, excluded!, before, after),
  });
  return { ...include, text: `spanNot(${include.text}, ${exclude.text}, ${before}, ${after})`, source };
}

/** Returns the spans of `match` that end before position `end`. */
export function firstSpan(match: BoundSpan, end: number): BoundSpan {
  const { candidates } = match.source;
  const join = ([list]: readonly Intervals[]): Intervals => list!.filter((each) => each.end < end);
  const source = spanSource([match.source], true, candidates, join);
  return { ...match, text: `spanFirst(${match.text}, ${end})`, source };
}

/** Returns the big spans that hold a little one. Throws query_shard if they are of several fields. */
export function containingSpan(big: BoundSpan, little: BoundSpan): BoundSpan {
  return containment("SpanContaining", big, little, containingSpans);
}

/** Returns the little spans that a big one holds. Throws query_shard if they are of several fields. */
export function spanWithin(big: BoundSpan, little: BoundSpan): BoundSpan {
  return containment("SpanWithin", big, little, spansWithin);
}

function containment(name: string, big: BoundSpan, little: BoundSpan, find: typeof spansWithin): BoundSpan {
  const field = commonField([big, little]);
  const sources = [big.source, little.source];
  const join = ([around, within]: readonly Intervals[]): Intervals => find(around!, within!);
  const source = spanSource(sources, true, candidatesOfAll(sources), join);
  return { field, scoredField: field, text: `${name}(${big.text}, ${little.text})`, source };
}

function spanSource(
  sources: readonly IntervalSource[],
  needsAll: boolean,
  candidates: IntervalSource["candidates"],
  join: (lists: readonly Intervals[]) => Intervals,
): IntervalSource {
  return combined({ sources, needsAll, candidates, minExtent: 1, leaves: leavesOf(sources), join });
}

/** Returns the field of all clauses. */
function commonField(clauses: readonly { readonly field: string }[]): string {
  const [{ field } = { field: "" }, ...others] = clauses;
  if (others.every((each) => each.field === field)) return field;
  throw new AppError("query_shard", "failed to create query: Clauses must have same field.");
}
