/** Buckets of `histogram` and `date_histogram`: gap filling, order, rendering. */

import { bucketsByKey } from "#hub/search/aggregations/buckets/terms-state.ts";
import type { AggregationTree, BucketBudget, TreeState } from "#hub/search/aggregations/tree/aggregation.ts";
import { emptyTree, mergeTree, renderTree } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { type BucketOrder, compareBuckets } from "#hub/search/aggregations/tree/bucket-order.ts";
import { type Steps, sortedSteps } from "#hub/search/aggregations/tree/steps.ts";
import { commonFormat, printValue, type ValueFormat } from "#hub/search/columns/value-format.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { doubleText, fraction, type NumberText } from "#proto/kit/number-text.ts";

export interface NumberBucket {
  readonly key: number;
  readonly count: number;
  readonly below: TreeState;
}

/** JSON-able; buckets ascending by key. */
export interface HistogramState {
  readonly buckets: readonly NumberBucket[];
  readonly format: ValueFormat;
  /** What is below a bucket that fills a gap: bounds of ranges are read by the mapping, which only shards have. */
  readonly nothing?: TreeState;
}

export interface HistogramShape {
  readonly below: AggregationTree;
  readonly minDocCount: number;
  readonly order: readonly BucketOrder[];
  readonly keyed: boolean;
  /** The key after one, for filling gaps. */
  next(key: number): number;
  /** Of times: how many months a bucket is long, undefined for other lengths. */
  readonly times?: { readonly months: number | undefined };
  /** First and last key that always exist. */
  readonly bounds: HistogramBounds | undefined;
}

export interface HistogramBounds {
  readonly min?: number;
  readonly max?: number;
}

/** Maximum ratio of the lengths of two buckets: months have 28 to 31 days, days 23 to 25 hours. */
const LONGEST_BUCKET = 1.2;

/** Makes bounds of what the option `name` gave. Throws request_invalid if they are the wrong way round. */
export function histogramBounds(
  json: JsonObject,
  read: (value: unknown) => number,
  name = "extended_bounds",
): HistogramBounds {
  const [min, max] = [json["min"], json["max"]].map((value) =>
    value === undefined || value === null ? undefined : read(value),
  );
  if (min !== undefined && max !== undefined && min > max) {
    throw new AppError(
      "request_invalid",
      `[${name}.min][${String(json["min"])}] cannot be greater than [${name}.max][${String(json["max"])}]`,
    );
  }
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
}

/** Throws request_invalid if buckets that must always exist are outside the limits. */
export function checkLimits(bounds: HistogramBounds | undefined, limits: HistogramBounds | undefined): void {
  if (bounds === undefined || limits === undefined) return;
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = limits;
  const isInside = (key: number | undefined): boolean => key === undefined || (key >= min && key <= max);
  if (isInside(bounds.min) && isInside(bounds.max)) return;
  const print = (each: HistogramBounds): string => `[${each.min ?? ""}--${each.max ?? ""}]`;
  throw new AppError(
    "request_invalid",
    `Extended bounds have to be inside hard bounds, hard bounds: ${print(limits)}, extended bounds: ${print(bounds)}`,
  );
}

/** Merges states of shards. */
export function* mergeHistograms(
  states: readonly HistogramState[],
  below: AggregationTree,
): Steps<HistogramState> {
  if (states.length === 1) return states[0]!;
  const buckets: NumberBucket[] = [];
  for (const [key, same] of yield* bucketsByKey(states)) {
    yield;
    buckets.push({
      key,
      count: same.reduce((total, bucket) => total + bucket.count, 0),
      below:
        same.length === 1
          ? same[0]!.below
          : yield* mergeTree(
              below,
              same.map((bucket) => bucket.below),
            ),
    });
  }
  const format = states.map((state) => state.format).reduce(commonFormat);
  const nothing = states.map((state) => state.nothing).filter((state) => state !== undefined);
  return {
    buckets: yield* sortedSteps(buckets, (a, b) => a.key - b.key),
    format,
    ...(nothing.length > 0 && { nothing: yield* mergeTree(below, nothing) }),
  };
}

interface RenderedBucket extends JsonObject {
  readonly key: NumberText | number;
  readonly key_as_string?: string;
}

/** Returns the answer of a bucket without documents and aggregations. */
export function emptyBucket(key: number, format: ValueFormat): RenderedBucket {
  const printed = printValue(format, key);
  return { ...(printed === undefined ? {} : { key_as_string: printed }), key, doc_count: 0 };
}

/** Renders `buckets` with gaps filled and in order. Throws too_many_buckets. */
export function* renderHistogram(
  state: HistogramState,
  shape: HistogramShape,
  budget: BucketBudget,
): Steps<JsonObject> {
  const kept = shape.minDocCount === 0 ? yield* fillGaps(state, shape, budget) : state.buckets;
  const wanted = kept.filter((bucket) => bucket.count >= shape.minDocCount);
  if (shape.minDocCount !== 0) budget.add(wanted.length);
  const ordered =
    shape.order.length === 0 ? wanted : yield* sortedSteps(wanted, compareBuckets(shape.order, shape.below));
  const { period } = budget;
  const rendered: RenderedBucket[] = [];
  for (const { key, count, below } of ordered) {
    yield;
    if (shape.times !== undefined)
      budget.period = { startMs: key, endMs: shape.next(key), months: shape.times.months };
    const printed = printValue(state.format, key);
    rendered.push({
      ...(printed === undefined ? {} : { key_as_string: printed }),
      key: shape.times === undefined ? fraction(key) : key,
      doc_count: count,
      ...(yield* renderTree(shape.below, below, budget)),
    });
  }
  budget.period = period;
  if (!shape.keyed) return { buckets: rendered };
  return {
    buckets: Object.fromEntries(
      rendered.map((bucket) => [bucket.key_as_string ?? doubleText(Number(bucket.key)), bucket]),
    ),
  };
}

function* fillGaps(
  { buckets: found, nothing }: HistogramState,
  shape: HistogramShape,
  budget: BucketBudget,
): Steps<NumberBucket[]> {
  const first = Math.min(
    found[0]?.key ?? Number.POSITIVE_INFINITY,
    shape.bounds?.min ?? Number.POSITIVE_INFINITY,
  );
  const last = Math.max(
    found.at(-1)?.key ?? Number.NEGATIVE_INFINITY,
    shape.bounds?.max ?? Number.NEGATIVE_INFINITY,
  );
  // Far too many buckets are refused before any is made.
  budget.checkCapacity((last - first) / longestStep(first, shape));
  const filled: NumberBucket[] = [];
  let at = 0;
  for (let key = first; key <= last; ) {
    yield;
    budget.add();
    const present = found[at];
    if (present !== undefined && present.key <= key) {
      filled.push(present);
      at++;
      key = shape.next(present.key);
      continue;
    }
    filled.push({ key, count: 0, below: nothing ?? emptyTree(shape.below) });
    const next = shape.next(key);
    if (!(next > key))
      throw new AppError("request_invalid", "[interval] is too small for the values of the field");
    // A bucket that is there wins over one that the arithmetic puts beside it.
    key = present !== undefined && next > present.key ? present.key : next;
  }
  return filled;
}

/** Longer than any bucket after `first`; Infinity if that isn't known. */
function longestStep(first: number, shape: HistogramShape): number {
  const second = shape.next(first);
  // A bucket in which the clock changes may be short; the one beside it isn't.
  const step = Math.max(second - first, shape.next(second) - second);
  return step > 0 ? LONGEST_BUCKET * step : Number.POSITIVE_INFINITY;
}
