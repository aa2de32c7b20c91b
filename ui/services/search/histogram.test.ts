import assert from "node:assert/strict";
import { test } from "node:test";
import { bucketEndMs, drawnRange, type Histogram } from "./histogram.ts";

const MINUTE = 60_000;

function histogramOf(fromMs: number, toMs: number, startsMs: readonly number[]): Histogram {
  const levels = [1, 0, 0, 0, 0, 0, 0];
  return {
    range: { fromMs, toMs },
    intervalMs: MINUTE,
    interval: { text: "1m", ms: MINUTE },
    buckets: startsMs.map((startMs) => ({ startMs, total: 1, levels })),
  };
}

test("a histogram is drawn from the start of its first step to the end of its last", () => {
  const starts = [0, MINUTE, 2 * MINUTE];
  const rows: readonly (readonly [fromMs: number, toMs: number])[] = [
    [0, 3 * MINUTE],
    [20_000, 2 * MINUTE + 10_000],
    [59_999, 2 * MINUTE + 1],
  ];
  for (const [fromMs, toMs] of rows)
    assert.deepEqual(drawnRange(histogramOf(fromMs, toMs, starts)), { fromMs: 0, toMs: 3 * MINUTE });
});

test("a histogram without steps is drawn over the range that was searched", () => {
  assert.deepEqual(drawnRange(histogramOf(5, 10, [])), { fromMs: 5, toMs: 10 });
});

test("a step ends where the next begins, the last after an interval", () => {
  const histogram = histogramOf(0, 5 * MINUTE, [0, 2 * MINUTE]);
  assert.equal(bucketEndMs(histogram, 0), 2 * MINUTE);
  assert.equal(bucketEndMs(histogram, 1), 3 * MINUTE);
});
