/** Random pipeline aggregations, computed of the buckets that their histogram should have. */

import { HOUR_MS } from "#proto/kit/units.ts";
import { ABSENT, type Condition, near, within } from "./comparing.ts";
import type { Dice } from "./dice.ts";
import type { Json } from "./documents.ts";

/** A bucket with the number that pipelines read: undefined where a metric has none. */
export interface Bucket {
  readonly key: number;
  readonly count: number;
  readonly value: number | undefined;
  /** Buckets without documents have no value either; all have a number of documents. */
  readonly isCount: boolean;
}

/** What a pipeline adds to each bucket; ABSENT: nothing. */
export interface Parent {
  readonly body: Json;
  readonly expect: (buckets: readonly Bucket[]) => unknown[];
}

/** A pipeline beside the histogram. */
export interface Sibling {
  readonly body: Json;
  readonly expect: (buckets: readonly Bucket[]) => unknown;
}

/** A pipeline that leaves buckets out or changes their order. */
export interface Chooser {
  readonly body: Json;
  readonly choose: (buckets: readonly Bucket[]) => Bucket[];
}

type GapPolicy = "skip" | "insert_zeros";

/** The number that a pipeline gets; NaN: none. Of buckets without documents, or without a number, the policy decides. */
function resolved({ count, value, isCount }: Bucket, policy: GapPolicy): number {
  if ((isCount || count > 0) && value !== undefined) return value;
  return policy === "skip" ? Number.NaN : 0;
}

function shown(value: number): unknown {
  return { value: Number.isFinite(value) ? near(value, 1e-9, 1e-6) : null };
}

export function randomParent(dice: Dice, path: string): Parent {
  return dice.pick([derivative, cumulativeSum, serialDifference, movingFunction, bucketScript])(dice, path);
}

function gapPolicy(dice: Dice): GapPolicy {
  return dice.pick(["skip", "insert_zeros"]);
}

function derivative(dice: Dice, path: string): Parent {
  const policy = gapPolicy(dice);
  const unit = dice.chance(0.3) ? "1h" : undefined;
  return {
    body: { derivative: { buckets_path: path, gap_policy: policy, ...(unit === undefined ? {} : { unit }) } },
    expect: (buckets) =>
      buckets.map((bucket, at) => {
        const before = buckets[at - 1];
        if (before === undefined) return ABSENT;
        const change = resolved(bucket, policy) - resolved(before, policy);
        const hours = (bucket.key - before.key) / HOUR_MS;
        const normalized = Number.isFinite(change) ? near(change / hours, 1e-9, 1e-6) : undefined;
        return {
          ...(shown(change) as Json),
          ...(unit === undefined ? {} : { normalized_value: normalized }),
        };
      }),
  };
}

function cumulativeSum(_dice: Dice, path: string): Parent {
  return {
    body: { cumulative_sum: { buckets_path: path } },
    expect(buckets) {
      let sum = 0;
      return buckets.map((bucket) => shown((sum += resolved(bucket, "insert_zeros"))));
    },
  };
}

function serialDifference(dice: Dice, path: string): Parent {
  const lag = dice.between(1, 3);
  const policy = gapPolicy(dice);
  return {
    body: { serial_diff: { buckets_path: path, lag, gap_policy: policy } },
    expect: (buckets) =>
      buckets.map((bucket, at) => {
        const before = buckets[at - lag];
        const change =
          before === undefined ? Number.NaN : resolved(bucket, policy) - resolved(before, policy);
        return Number.isNaN(change) ? ABSENT : shown(change);
      }),
  };
}

const WINDOWS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  sum: (values) => values.reduce((sum, each) => sum + each, 0),
  unweightedAvg: (values) => values.reduce((sum, each) => sum + each, 0) / values.length,
  linearWeightedAvg: (values) => {
    // 6.5 begins to sum the weights at 1.
    const weighted = values.reduce((sum, each, at) => sum + each * (at + 1), 0);
    return weighted / ((values.length * (values.length + 1)) / 2 + 1);
  },
};

function movingFunction(dice: Dice, path: string): Parent {
  const [name, compute] = dice.pick(Object.entries(WINDOWS));
  const window = dice.between(1, 4);
  const policy = gapPolicy(dice);
  return {
    body: {
      moving_fn: {
        buckets_path: path,
        window,
        gap_policy: policy,
        script: `MovingFunctions.${name}(values)`,
      },
    },
    expect(buckets) {
      const values: number[] = [];
      return buckets.map((bucket) => {
        const value = resolved(bucket, policy);
        if (Number.isNaN(value)) return ABSENT;
        // What a function makes of an empty window isn't documented for each of them.
        const expected = values.length === 0 ? undefined : shown(compute(values.slice(-window)));
        values.push(value);
        return expected;
      });
    },
  };
}

export function bucketScript(dice: Dice, path: string): Parent {
  const policy = gapPolicy(dice);
  return {
    body: {
      bucket_script: {
        buckets_path: { value: path, count: "_count" },
        gap_policy: policy,
        script: "params.value * 2 + params.count",
      },
    },
    expect: (buckets) =>
      buckets.map((bucket) => {
        const value = resolved(bucket, policy);
        return Number.isNaN(value) ? ABSENT : shown(value * 2 + bucket.count);
      }),
  };
}

export function randomSibling(dice: Dice, path: string): Sibling {
  const policy = gapPolicy(dice);
  const kind = dice.pick([
    "avg_bucket",
    "sum_bucket",
    "min_bucket",
    "max_bucket",
    "stats_bucket",
    "percentiles_bucket",
  ]);
  const percents = kind === "percentiles_bucket" ? { percents: [25, 50, 100] } : {};
  return {
    body: { [kind]: { buckets_path: `buckets>${path}`, gap_policy: policy, ...percents } },
    expect: (buckets) =>
      ofSibling(
        kind,
        buckets.map((bucket) => resolved(bucket, policy)).filter((value) => !Number.isNaN(value)),
      ),
  };
}

function ofSibling(kind: string, values: readonly number[]): unknown {
  const sum = values.reduce((total, each) => total + each, 0);
  if (kind === "sum_bucket") return shown(sum);
  if (kind === "percentiles_bucket") return { values: percentiles(values) };
  if (kind === "stats_bucket" && values.length === 0) return { count: 0, min: null, max: null, avg: null };
  if (values.length === 0) return { value: null };
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (kind === "min_bucket") return shown(least);
  if (kind === "max_bucket") return shown(most);
  if (kind === "avg_bucket") return shown(sum / values.length);
  const number = (value: number): Condition => near(value, 1e-9, 1e-6);
  return {
    count: values.length,
    min: number(least),
    max: number(most),
    sum: number(sum),
    avg: number(sum / values.length),
  };
}

/** The value at the rank; versions round the rank in other ways. */
function percentiles(values: readonly number[]): Json {
  if (values.length === 0) return {};
  const ascending = values.toSorted((a, b) => a - b);
  const last = ascending.length - 1;
  const bounds = (percent: number): Condition => {
    const rank = (percent / 100) * last;
    const [low, high] = [
      ascending[Math.max(0, Math.floor(rank - 1))]!,
      ascending[Math.min(last, Math.ceil(rank + 1))]!,
    ];
    return within(low - 1e-6, high + 1e-6);
  };
  return { "25.0": bounds(25), "50.0": bounds(50), "100.0": bounds(100) };
}

export function randomChooser(dice: Dice, path: string): Chooser {
  return dice.pick([selector, sorter])(dice, path);
}

function selector(dice: Dice, path: string): Chooser {
  const policy = gapPolicy(dice);
  const limit = dice.between(-50, 50);
  return {
    body: {
      bucket_selector: {
        buckets_path: { value: path },
        gap_policy: policy,
        script: `params.value > ${limit}`,
      },
    },
    choose: (buckets) => buckets.filter((bucket) => resolved(bucket, policy) > limit),
  };
}

function sorter(dice: Dice, path: string): Chooser {
  const [from, size, order] = [dice.below(3), dice.between(1, 6), dice.pick(["asc", "desc"])];
  return {
    body: { bucket_sort: { sort: [{ [path]: { order } }, { _key: { order: "asc" } }], from, size } },
    choose(buckets) {
      // Each bucket has a key, so none is left out for its gap.
      const kept = buckets.toSorted((a, b) => {
        const [first, second] = [resolved(a, "skip"), resolved(b, "skip")];
        const byGap = Number(Number.isNaN(first)) - Number(Number.isNaN(second));
        const byValue =
          byGap !== 0 || Number.isNaN(first) ? byGap : order === "asc" ? first - second : second - first;
        return byValue || a.key - b.key;
      });
      return kept.slice(from, from + size);
    },
  };
}
