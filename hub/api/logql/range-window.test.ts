import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { overSeries } from "./metric-math.ts";
import { Pace } from "./pace.ts";
import { overRange } from "./range-window.ts";

const pace = (signal = new AbortController().signal): Pace => new Pace(signal, systemClock, 60_000);

/** What a function makes of the values of one window. */
const FUNCTIONS: Readonly<Record<string, (values: number[]) => number>> = {
  sum_over_time: (values) => values.reduce((a, b) => a + b),
  avg_over_time: (values) => values.reduce((a, b) => a + b) / values.length,
  min_over_time: (values) => Math.min(...values),
  max_over_time: (values) => Math.max(...values),
  rate: (values) => (values.reduce((a, b) => a + b) * 1000) / 70,
};

test("each function counts the samples of (step - range, step]", async () => {
  const times = Array.from({ length: 300 }, (_, n) => (n * 7919) % 1000);
  const values = times.map((time) => ((time * 31) % 101) - 50);
  const steps = Array.from({ length: 60 }, (_, n) => n * 20);
  for (const [name, of] of Object.entries(FUNCTIONS)) {
    const { points } = await overRange({ labels: {}, times, values }, name, 70, steps, pace());
    const expected = steps.map((step) => {
      const inside = values.filter((_, at) => times[at]! > step - 70 && times[at]! <= step);
      return inside.length === 0 ? undefined : of(inside);
    });
    assert.deepEqual(points, expected, name);
  }
});

test("an infinite value is gone with its place in the window", async () => {
  const samples = { labels: {}, times: [1, 2, 3], values: [0.1, Number.POSITIVE_INFINITY, 0.3] };
  const { points } = await overRange(samples, "sum_over_time", 1, [1, 2, 3, 4], pace());
  assert.deepEqual(points, [0.1, Number.POSITIVE_INFINITY, 0.3, undefined]);
});

test("200,000 samples in each of 11,000 windows are counted while other work runs", {
  timeout: 30_000,
}, async () => {
  const times = Array.from({ length: 200_000 }, (_, n) => n);
  const steps = Array.from({ length: 11_000 }, (_, n) => 200_000 + n);
  const samples = { labels: {}, times, values: times };
  const { points } = await overRange(samples, "max_over_time", 1e6, steps, pace());
  assert.equal(points.length, steps.length);
  assert.ok(points.every((point) => point === 199_999));
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
