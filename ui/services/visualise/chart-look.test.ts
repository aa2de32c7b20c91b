import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ChartLook,
  formatAxis,
  formatValue,
  logScale,
  readLook,
  severityOf,
  writeLook,
} from "./chart-look.ts";

test("a look survives the address, and what it says wrongly is left out", () => {
  const look: ChartLook = { isLog: true, unit: "bytes", limits: [10, 50] };
  const parameters = new URLSearchParams();
  writeLook(look, parameters);
  assert.equal(parameters.toString(), "scale=log&unit=bytes&limits=10%2C50");
  assert.deepEqual(readLook(parameters), look);
  const wrong = new URLSearchParams("scale=x&unit=miles&limits=a,9,3,7");
  assert.deepEqual(readLook(wrong), { isLog: false, unit: "", limits: [3, 9] });
});

test("a number above the first of two limits is a warning, above the last an error", () => {
  assert.deepEqual(
    [1, 10, 11, 51].map((value) => severityOf(value, [10, 50])),
    [0, 0, 1, 2],
  );
  assert.deepEqual(
    [10, 11].map((value) => severityOf(value, [10])),
    [0, 2],
  );
  assert.equal(severityOf(5, []), 0);
});

test("numbers are written in their unit", () => {
  assert.equal(formatValue(1_400_000, "bytes"), "1.4 MB");
  assert.equal(formatValue(250, "ms"), "250 ms");
  assert.equal(formatValue(2_500, "ms"), "2.5 s");
  assert.equal(formatValue(0.125, "share"), "12.5 %");
  assert.equal(formatAxis(12_300, ""), "12.3K");
  assert.deepEqual(
    [1_000, 1_250, 1_500, 12_500].map((tick) => formatAxis(tick, "")),
    ["1K", "1.25K", "1.5K", "12.5K"],
  );
  assert.equal(formatAxis(0.5, "share"), "50 %");
});

test("a logarithmic scale shows zero, small and negative numbers, in order", () => {
  const { at, ticks } = logScale([0, 3, 40_000, -20]);
  assert.deepEqual(ticks, [-10, -1, 0, 1, 10, 100, 1_000, 10_000]);
  assert.equal(at(-20), 0);
  assert.equal(at(40_000), 1);
  const places = [-20, -1, 0, 1, 10, 40_000].map(at);
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.ok(at(10) - at(0) > 0.1);
  assert.deepEqual(logScale([]).ticks, [0, 1]);
  assert.deepEqual(logScale([0.002, 0.5]).ticks, [0, 0.001, 0.01, 0.1]);
});
