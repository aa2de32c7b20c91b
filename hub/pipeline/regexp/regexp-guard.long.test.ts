import assert from "node:assert/strict";
import { test } from "node:test";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import { RegexpGuard, RegexpTimeout } from "./regexp-guard.ts";

/** Longer than an expression stays suspect. */
const LIMIT_MS = 2_100;
/** What is spent at most, in limits: one for each expression, and less for the attempts that find them. */
const MOST_LIMITS = 8;

test("expressions that backtrack too long by turns are found, however long their limits are", () => {
  const startMs = threadCpuMs();
  const onTimeout = (): void => assert.ok(threadCpuMs() - startMs < MOST_LIMITS * LIMIT_MS, "in vain");
  const guard = new RegexpGuard({ onTimeout });
  guard.expect(LIMIT_MS);
  const expressions = [/^(?:a+)+$/, /^(?:b|b)+$/];
  const texts = ["a", "b", "a", "b"].map((letter, place) => `${letter.repeat(40 + place)}!`);
  const found = guard.runBatch(() =>
    texts.map((text) => {
      try {
        return expressions.map((each) => guard.exec(each, text, LIMIT_MS));
      } catch (error) {
        if (!(error instanceof RegexpTimeout)) throw error;
        return "late";
      }
    }),
  );
  assert.deepEqual(found, ["late", "late", "late", "late"]);
});
