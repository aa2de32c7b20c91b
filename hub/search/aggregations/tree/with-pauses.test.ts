import assert from "node:assert/strict";
import { test } from "node:test";
import { SearchControl } from "#hub/search/query/search-control.ts";
import type { AppError } from "#proto/kit/errors.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { type Steps, withPauses } from "./steps.ts";

test("steps of a search that ends in a pause give back what they hold", async () => {
  const clock = new StillClock();
  const gone = new AbortController();
  let holds = false;
  function* steps(): Steps<void> {
    holds = true;
    try {
      // Longer than a slice.
      void clock.advance(10);
      gone.abort();
      yield;
    } finally {
      holds = false;
    }
  }
  const search = withPauses(steps(), new SearchControl(clock, gone.signal, undefined));
  assert.equal(holds, true);
  await assert.rejects(search, (error: AppError) => error.code === "cancelled");
  assert.equal(holds, false);
});

test("a step that waits pauses although its time is not over", async () => {
  const control = new SearchControl(new StillClock(), new AbortController().signal, undefined);
  let isFree = false;
  function* steps(): Generator<"waits", string> {
    while (!isFree) yield "waits";
    return "done";
  }
  const search = withPauses(steps(), control);
  isFree = true;
  assert.equal(await search, "done");
});
