import assert from "node:assert/strict";
import { test } from "node:test";
import { SERIES_COLOURS, seriesColours } from "./series-colours.ts";

test("a value keeps its colour when its rank changes", () => {
  const names = ["web-1", "web-2", "web-3", "db-1"];
  const byName = (order: readonly string[]): Map<string, number> => {
    const colours = seriesColours(order);
    return new Map(order.map((name, at) => [name, colours[at]!]));
  };
  const [first, second] = [byName(names), byName(names.toReversed())];
  for (const name of names) assert.equal(first.get(name), second.get(name), name);
});

test("series of one chart have different colours as long as there are enough", () => {
  const names = Array.from({ length: SERIES_COLOURS }, (_, at) => `value ${at}`);
  assert.equal(new Set(seriesColours(names)).size, SERIES_COLOURS);
  assert.equal(seriesColours([...names, "one more"]).length, SERIES_COLOURS + 1);
});

test("levels have the same colours in every chart", () => {
  const [error, info] = seriesColours(["error", "info"]);
  assert.deepEqual(
    seriesColours(["zeta", "INFO", "alpha", "ERROR"]).filter((_, at) => at % 2 === 1),
    [info, error],
  );
  assert.notEqual(error, info);
});

test("a chart without a split is drawn in the first colour", () => {
  assert.deepEqual(seriesColours(["Number of lines"]), [0]);
});
