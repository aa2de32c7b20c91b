import assert from "node:assert/strict";
import { test } from "node:test";
import { MISSING_COLOUR, OTHERS_COLOUR, SERIES_COLOURS, seriesColours } from "./series-colours.ts";

/** Returns the colours of values. */
const coloursOf = (names: readonly string[]): number[] =>
  seriesColours(names.map((name) => ({ name, part: "value" })));

test("a value keeps its colour when its rank changes", () => {
  const names = ["web-1", "web-2", "web-3", "db-1"];
  const byName = (order: readonly string[]): Map<string, number> => {
    const colours = coloursOf(order);
    return new Map(order.map((name, at) => [name, colours[at]!]));
  };
  const [first, second] = [byName(names), byName(names.toReversed())];
  for (const name of names) assert.equal(first.get(name), second.get(name), name);
});

test("series of one chart have different colours as long as there are enough", () => {
  const names = Array.from({ length: SERIES_COLOURS }, (_, at) => `value ${at}`);
  assert.equal(new Set(coloursOf(names)).size, SERIES_COLOURS);
  assert.equal(coloursOf([...names, "one more"]).length, SERIES_COLOURS + 1);
});

test("levels have the same colours in every chart", () => {
  const [error, info] = coloursOf(["error", "info"]);
  assert.deepEqual(
    coloursOf(["zeta", "INFO", "alpha", "ERROR"]).filter((_, at) => at % 2 === 1),
    [info, error],
  );
  assert.notEqual(error, info);
});

test("a chart without a split is drawn in the first colour", () => {
  assert.deepEqual(coloursOf(["Number of lines"]), [0]);
});

test("a status has the same colour with and without others beside it", () => {
  const [success, notFound, failure] = coloursOf(["200", "404", "502"]);
  assert.deepEqual(coloursOf(["502", "404"]), [failure, notFound]);
  assert.deepEqual(coloursOf(["500"]), [failure]);
  assert.equal(new Set([success, notFound, failure]).size, 3);
  assert.equal(new Set(coloursOf(["403", "404"])).size, 2);
});

test("lines without a value, and those of further values, are grey", () => {
  const series = [
    { name: "(no value)", part: "missing" },
    { name: "web-1", part: "value" },
    { name: "Others", part: "others" },
  ] as const;
  assert.deepEqual(seriesColours(series), [MISSING_COLOUR, ...coloursOf(["web-1"]), OTHERS_COLOUR]);
});
