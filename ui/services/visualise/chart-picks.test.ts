import assert from "node:assert/strict";
import { test } from "node:test";
import { addClause, isComputedPick, pickClause } from "./chart-picks.ts";
import type { Group, Series } from "./series.ts";
import { DEFAULT_VISUALISATION, type Visualisation } from "./visualisation.ts";

const BY_PATH: Visualisation = {
  ...DEFAULT_VISUALISATION,
  by: { kind: "terms", field: "url", size: 5 },
  split: { field: "code", size: 5 },
};
const BY_STEPS: Visualisation = { ...BY_PATH, by: { kind: "steps", field: "took", interval: 10 } };
const BY_RANGES: Visualisation = {
  ...DEFAULT_VISUALISATION,
  by: { kind: "ranges", field: "took", bounds: [100, 500] },
};
const BY_QUERIES: Visualisation = { ...DEFAULT_VISUALISATION, by: { kind: "filters", queries: ["a OR b"] } };
const group = (key: number | string, part: Group["part"] = "value"): Group => ({
  key,
  label: String(key),
  part,
});
const series = (value: string, part: Series["part"] = "value"): Series => ({
  name: value,
  value,
  part,
  values: [],
});

const PICKS: readonly (readonly [
  shown: Visualisation,
  group: Group | undefined,
  series: Series | undefined,
  found: string | undefined,
  left: string | undefined,
])[] = [
  [BY_PATH, group("/a b"), undefined, 'url:"/a b"', 'NOT url:"/a b"'],
  [BY_PATH, group("(no value)", "missing"), undefined, "NOT url:*", "url:*"],
  [BY_PATH, group("Others", "others"), undefined, undefined, undefined],
  [BY_PATH, undefined, series("500"), "code:500", "NOT code:500"],
  [BY_PATH, group("x"), series("500"), "url:x AND code:500", "NOT (url:x AND code:500)"],
  [BY_STEPS, group(20), undefined, "took:[20 TO 30}", "NOT took:[20 TO 30}"],
  [BY_RANGES, group("< 100"), undefined, "took:[* TO 100}", "NOT took:[* TO 100}"],
  [BY_RANGES, group("≥ 500"), undefined, "took:[500 TO *]", "NOT took:[500 TO *]"],
  [BY_QUERIES, group("a OR b"), undefined, "(a OR b)", "NOT (a OR b)"],
  [DEFAULT_VISUALISATION, group(1_000), undefined, undefined, undefined],
];

test("a part of a chart stands for the lines that have its values", () => {
  for (const [shown, one, other, found, left] of PICKS) {
    assert.equal(pickClause(shown, { group: one, series: other, exclude: false }), found);
    assert.equal(pickClause(shown, { group: one, series: other, exclude: true }), left);
  }
});

test("a part is computed where a script of its visualisation makes one of its fields", () => {
  const scripts = "took: long = 1";
  const [one, other] = [group(20), series("500")];
  assert.equal(isComputedPick({ ...BY_STEPS, scripts }, { group: one, series: other, exclude: false }), true);
  assert.equal(
    isComputedPick({ ...BY_STEPS, scripts }, { group: undefined, series: other, exclude: false }),
    false,
  );
  const split = { field: "took", size: 5 };
  const parts = { ...BY_PATH, split, scripts };
  assert.equal(isComputedPick(parts, { group: one, series: other, exclude: false }), true);
  assert.equal(isComputedPick(parts, { group: one, series: undefined, exclude: false }), false);
  assert.equal(isComputedPick(BY_STEPS, { group: one, series: other, exclude: false }), false);
});

test("a clause joins the query once, around alternatives", () => {
  assert.equal(addClause("", "a:1"), "a:1");
  assert.equal(addClause("*", "a:1"), "a:1");
  assert.equal(addClause("error", "a:1"), "error AND a:1");
  assert.equal(addClause("error AND a:1", "a:1"), "error AND a:1");
  assert.equal(addClause("x OR y", "a:1"), "(x OR y) AND a:1");
});
