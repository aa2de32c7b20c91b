import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { overSeries } from "./metric-math.ts";
import { Pace } from "./pace.ts";
import { overRange } from "./range-window.ts";

const pace = (signal = new AbortController().signal): Pace => new Pace(signal, systemClock, 60_000);

const range = (name: string, rangeMs: number) => ({ name, rangeMs, quantile: 0.9 });

const variance = (values: number[]): number => {
  const mean = values.reduce((a, b) => a + b) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
};

/** What a function makes of the values of one window. */
const FUNCTIONS: Readonly<Record<string, (values: number[]) => number>> = {
  sum_over_time: (values) => values.reduce((a, b) => a + b),
  avg_over_time: (values) => values.reduce((a, b) => a + b) / values.length,
  min_over_time: (values) => Math.min(...values),
  max_over_time: (values) => Math.max(...values),
  first_over_time: (values) => values[0]!,
  last_over_time: (values) => values.at(-1)!,
  stdvar_over_time: variance,
  stddev_over_time: (values) => Math.sqrt(variance(values)),
  quantile_over_time: (values) => {
    const sorted = values.toSorted((a, b) => a - b);
    const rank = 0.9 * (sorted.length - 1);
    const low = sorted[Math.floor(rank)]!;
    return low + (sorted[Math.ceil(rank)]! - low) * (rank - Math.floor(rank));
  },
  rate_counter: (values) => {
    const grown = values.slice(1).map((value, at) => (value < values[at]! ? value : value - values[at]!));
    return (grown.reduce((a, b) => a + b, 0) * 1000) / 70;
  },
  rate: (values) => (values.reduce((a, b) => a + b) * 1000) / 70,
};

/** Sums of squares are joined in another order than they are added up. */
const rounded = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : Math.round(value * 1e9) / 1e9;

test("each function counts the samples of (step - range, step]", async () => {
  const times = Array.from({ length: 300 }, (_, n) => (n * 7919) % 1000);
  const values = times.map((time) => ((time * 31) % 101) - 50);
  const steps = Array.from({ length: 60 }, (_, n) => n * 20);
  for (const [name, of] of Object.entries(FUNCTIONS)) {
    const { points } = await overRange({ labels: {}, times, values }, range(name, 70), steps, pace());
    const expected = steps.map((step) => {
      const inside = times
        .map((time, at) => ({ time, value: values[at]! }))
        .filter(({ time }) => time > step - 70 && time <= step)
        .sort((a, b) => a.time - b.time);
      return inside.length === 0 ? undefined : of(inside.map(({ value }) => value));
    });
    assert.deepEqual(points.map(rounded), expected.map(rounded), name);
  }
});

test("an infinite value is gone with its place in the window", async () => {
  const samples = { labels: {}, times: [1, 2, 3], values: [0.1, Number.POSITIVE_INFINITY, 0.3] };
  const { points } = await overRange(samples, range("sum_over_time", 1), [1, 2, 3, 4], pace());
  assert.deepEqual(points, [0.1, Number.POSITIVE_INFINITY, 0.3, undefined]);
});

test("200,000 samples in each of 11,000 windows are counted while other work runs", {
  timeout: 30_000,
}, async () => {
  const times = Array.from({ length: 200_000 }, (_, n) => n);
  const steps = Array.from({ length: 11_000 }, (_, n) => 200_000 + n);
  const samples = { labels: {}, times, values: times };
  const { points } = await overRange(samples, range("quantile_over_time", 1e6), steps, pace());
  assert.equal(points.length, steps.length);
  assert.ok(points.every((point) => Math.round(point!) === 179_999));
});

test("work over many series ends with its client", async () => {
  const stop = new AbortController();
  const series = Array.from({ length: 500 }, (_, n) => ({
    labels: { id: String(n) },
    points: Array.from({ length: 2_000 }, (_, at) => (at * n) % 97),
  }));
  const work = overSeries(series, "topk", undefined, 3, pace(stop.signal));
  stop.abort();
  await assert.rejects(work, (error) => error instanceof AppError && error.code === "cancelled");
});
