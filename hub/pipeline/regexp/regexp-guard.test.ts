import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { RegexpGuard, RegexpTimeout } from "./regexp-guard.ts";

const ASTRAY = /^(?:a+)+$/;
const ALSO_ASTRAY = /^(?:b|b)+$/;
const LIMIT_MS = 100;

/** Takes years. */
const evil = (letter: string, length = 40): string => `${letter.repeat(length)}!`;

/** Runs each expression over each text, as a batch of events does; what was given up is "late". */
function batchOf(guard: RegexpGuard, texts: readonly string[], expressions: readonly RegExp[]) {
  return () =>
    texts.map((text) => {
      try {
        return expressions.map((each) => guard.exec(each, text, LIMIT_MS) !== null);
      } catch (error) {
        if (!(error instanceof RegexpTimeout)) throw error;
        return "late";
      }
    });
}

test("a text on which an expression backtracks too long is given up, and those beside it are not", () => {
  const guard = new RegexpGuard();
  guard.expect(LIMIT_MS);
  const batch = batchOf(guard, ["aa", evil("a"), "b"], [ASTRAY]);
  assert.deepEqual(guard.runBatch(batch), [[true], "late", [false]]);
});

test("two expressions that backtrack too long in one batch are both found", () => {
  const guard = new RegexpGuard();
  guard.expect(LIMIT_MS);
  const batch = batchOf(guard, [evil("a"), evil("b"), "aa"], [ASTRAY, ALSO_ASTRAY]);
  assert.deepEqual(guard.runBatch(batch), ["late", "late", [true, false]]);
});

test("an expression that backtracks too long is found in a batch where another one reached the limit too", () => {
  const guard = new RegexpGuard();
  guard.expect(LIMIT_MS);
  guard.runBatch(batchOf(guard, [evil("a")], [ASTRAY]));
  // Nothing stops what happens outside of V8.
  const waits = () => spawnSync("sleep", ["0.3"]);
  const found = guard.runBatch(() => {
    assert.throws(() => guard.run(ASTRAY, "waits", LIMIT_MS, waits), RegexpTimeout);
    return batchOf(guard, [evil("b")], [ALSO_ASTRAY])();
  });
  assert.deepEqual(found, ["late"]);
});

test("further texts of the kind don't take the whole limit each", () => {
  const guard = new RegexpGuard();
  guard.expect(LIMIT_MS * 4);
  const texts = Array.from({ length: 15 }, (_, place) => evil("a", 40 + place));
  const before = process.threadCpuUsage();
  const found = guard.runBatch(() =>
    texts.map((text) => {
      try {
        return guard.exec(ASTRAY, text, LIMIT_MS * 4);
      } catch {
        return "late";
      }
    }),
  );
  assert.deepEqual(new Set(found), new Set(["late"]));
  const tookMs = process.threadCpuUsage(before).user / 1_000;
  assert.ok(tookMs < texts.length * LIMIT_MS * 2, `${tookMs} ms`);
});

test("a batch that is merely long is done again with more time, and no expression is blamed", () => {
  let timeouts = 0;
  const guard = new RegexpGuard({ onTimeout: () => timeouts++ });
  let attempts = 0;
  const found = guard.runBatch(() => {
    attempts++;
    const endMs = performance.now() + 60;
    while (performance.now() < endMs) guard.exec(ASTRAY, "aa", LIMIT_MS);
    return "done";
  }, 20);
  assert.equal(found, "done");
  // An expression that had to wait for a processor is stopped and begun again, too.
  assert.ok(attempts > 1 && timeouts >= attempts - 1, `${attempts} attempts, ${timeouts} time-outs`);
  assert.deepEqual(guard.runBatch(batchOf(guard, ["aa"], [ASTRAY])), [[true]]);
});

test("a careful guard needs no batch around it", () => {
  const guard = new RegexpGuard({ careful: true });
  assert.throws(() => guard.exec(ASTRAY, evil("a"), LIMIT_MS), RegexpTimeout);
  assert.deepEqual(guard.exec(ASTRAY, "aa", LIMIT_MS)?.[0], "aa");
});
