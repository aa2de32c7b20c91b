import assert from "node:assert/strict";
import { test } from "node:test";
import { describeRange, rangeFault } from "./range-labels.ts";
import { absoluteRange, isRelative, moveRange, resolveRange, resolveTime } from "./time-range.ts";

const NOW = Date.parse("2026-03-11T10:20:30.400Z");
const MINUTE = 60_000;

const TIMES: readonly (readonly [string, number | undefined])[] = [
  ["now", NOW],
  ["now-15m", NOW - 15 * MINUTE],
  ["now+1h", NOW + 60 * MINUTE],
  ["now-1h-30m", NOW - 90 * MINUTE],
  ["now-2w", NOW - 14 * 1_440 * MINUTE],
  ["now/m", Date.parse("2026-03-11T10:20:00.000Z")],
  ["now/s", Date.parse("2026-03-11T10:20:30.000Z")],
  ["2026-03-11T10:00:00Z", Date.parse("2026-03-11T10:00:00Z")],
  ["2026-03-11T10:00:00.123+02:00", Date.parse("2026-03-11T08:00:00.123Z")],
  ["yesterday", undefined],
  ["now-15", undefined],
  ["now-m", undefined],
  ["5", undefined],
  ["", undefined],
];

test("ISO times and date maths are read, anything else isn't", () => {
  for (const [text, expected] of TIMES) assert.equal(resolveTime(text, NOW), expected, text);
});

test("roundings go to the start of the local day, week, month and year", () => {
  const at = (text: string): Date => new Date(resolveTime(text, NOW)!);
  assert.deepEqual([at("now/d").getHours(), at("now/d").getMinutes()], [0, 0]);
  assert.equal(at("now/w").getDay(), 1);
  assert.equal(at("now/M").getDate(), 1);
  assert.deepEqual([at("now/y").getMonth(), at("now/y").getDate()], [0, 1]);
});

test("a range that can't be says why", () => {
  assert.match(rangeFault({ from: "soon", to: "now" }, NOW)!, /Start “soon”/);
  assert.match(rangeFault({ from: "now", to: "soon" }, NOW)!, /End “soon”/);
  assert.match(rangeFault({ from: "now", to: "now-1m" }, NOW)!, /later/);
  assert.equal(rangeFault({ from: "now-1m", to: "now" }, NOW), undefined);
  assert.equal(resolveRange({ from: "now", to: "now" }, NOW), undefined);
});

test("ranges are described in words where they have some", () => {
  const describe = (from: string, to: string): string =>
    describeRange({ from, to }, (atMs) => `@${atMs}`, NOW);
  assert.equal(describe("now-15m", "now"), "Last 15 minutes");
  assert.equal(describe("now-45m", "now"), "Last 45 minutes");
  assert.equal(describe("now-1d", "now"), "Last day");
  assert.equal(describe("1970-01-01T00:00:01Z", "now"), "@1000 → now");
});

test("a range moves by its length and grows around its middle", () => {
  const range = { fromMs: 1_000_000, toMs: 1_060_000 };
  assert.deepEqual(moveRange(range, -1), absoluteRange(940_000, 1_000_000));
  assert.deepEqual(moveRange(range, 1), absoluteRange(1_060_000, 1_120_000));
  assert.deepEqual(moveRange(range, 0, 2), absoluteRange(970_000, 1_090_000));
  assert.equal(isRelative(absoluteRange(0, 1)), false);
  assert.equal(isRelative({ from: "now-1m", to: "now" }), true);
});
