import assert from "node:assert/strict";
import { test } from "node:test";
import { compileRules } from "./colour-rules.ts";
import { HISTORY_SECONDS, RateHistory } from "./tail-log.ts";

const NOW = 1_800_000_000_000;

test("the first rule that a line keeps gives it its colour", () => {
  const colourOf = compileRules([
    { text: "Timeout", colour: 3 },
    { text: "order", colour: 1 },
  ]);
  assert.equal(colourOf("order 7: TIMEOUT after 30 s"), 3);
  assert.equal(colourOf("order 7 done"), 1);
  assert.equal(colourOf("all is well"), 0);
  assert.equal(compileRules([])("order"), 0);
});

test("lines and errors are counted by the second, and seconds without any are empty", () => {
  const history = new RateHistory();
  history.add(10, 1, NOW);
  history.add(5, 0, NOW + 400);
  history.add(7, 2, NOW + 3_000);
  const seconds = history.seconds(NOW + 4_000);
  assert.equal(seconds.length, HISTORY_SECONDS);
  assert.deepEqual(
    seconds.slice(-5).map(({ lines, errors }) => [lines, errors]),
    [
      [15, 1],
      [0, 0],
      [0, 0],
      [7, 2],
      [0, 0],
    ],
  );
  assert.deepEqual(
    history.seconds(NOW + 3_600_000).filter(({ lines }) => lines > 0),
    [],
  );
});

test("a clock that is set back loses no counts", () => {
  const history = new RateHistory();
  history.add(1, 0, NOW);
  history.add(2, 0, NOW - 60_000);
  assert.deepEqual(history.seconds(NOW).at(-1), { lines: 3, errors: 0 });
});
