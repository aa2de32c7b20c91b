import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "./clock.ts";

test("an aborted wait ends immediately, before or during it", async () => {
  const before = systemClock.monotonic();
  await systemClock.sleep(60_000, AbortSignal.abort());
  const controller = new AbortController();
  const waiting = systemClock.sleep(60_000, controller.signal);
  controller.abort();
  await waiting;
  assert.ok(systemClock.monotonic() - before < 10_000);
});

test("a wait lasts at least as long as asked for", async () => {
  const before = systemClock.monotonic();
  await systemClock.sleep(15);
  assert.ok(systemClock.monotonic() - before >= 14);
});
