import assert from "node:assert/strict";
import { test } from "node:test";
import type { TailStats } from "#proto/live.ts";
import { formatRate } from "#ui/services/text/format.ts";
import { compileRules } from "./colour-rules.ts";
import { HISTORY_SECONDS, RateHistory, TailLog } from "./tail-log.ts";

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

test("a rate is that of the last second, or of the last minute where less than a line a second came", () => {
  const log = new TailLog();
  const show = (second: number, matched: number): string => {
    const stats = { matched, sent: 0, skipped: 0, lagMs: 0 } as unknown as TailStats;
    log.addStats(stats, NOW + 1_000 * second);
    return formatRate(log.matchedRate);
  };
  assert.equal(show(0, 100), "0/s");
  let shown = "";
  for (let second = 1; second <= 120; second++) shown = show(second, 100 + Math.floor(second / 10));
  assert.equal(shown, "6/min");
  assert.equal(show(121, 10_112), "10K/s");
  assert.equal(show(122, 10_112), "0/s");
  for (let second = 123; second <= 181; second++) shown = show(second, 10_112);
  assert.equal(shown, "0/s");
  assert.equal(show(182, 10_113), "1/min");
  assert.equal(show(183, 5), "1/min", "another hub counts anew");
  assert.equal(show(184, 8), "3/s");
  log.reset(NOW + 200_000);
  assert.equal(show(210, 1), "6/min", "a tail begins with no lines");
});

test("a clock that is set back loses no counts", () => {
  const history = new RateHistory();
  history.add(1, 0, NOW);
  history.add(2, 0, NOW - 60_000);
  assert.deepEqual(history.seconds(NOW).at(-1), { lines: 3, errors: 0 });
});
