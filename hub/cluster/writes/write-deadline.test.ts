import assert from "node:assert/strict";
import { test } from "node:test";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { WritePatience } from "./write-deadline.ts";

const OPTIONS = { refresh: "false", timeoutMs: 60_000, signal: new AbortController().signal } as const;

test("the writes of a request stand still no longer than its time together, and those that get on count nothing", async () => {
  const clock = new StillClock();
  const patience = new WritePatience(OPTIONS, clock);
  const given: number[] = [];
  const write = (tookMs: number) =>
    patience.during(async ({ timeoutMs }) => {
      given.push(timeoutMs);
      await clock.advance(tookMs);
    });
  for (const tookMs of [900, 900, 40_000, 900]) await write(tookMs);
  assert.deepEqual(given, [60_000, 60_000, 60_000, 20_000]);
  patience.renew();
  await write(30_000);
  await patience.during(async ({ onWritten }) => {
    onWritten!();
    await clock.advance(40_000);
  });
  await assert.rejects(
    write(29_500).then(() => write(0)),
    { code: "timeout" },
  );
  patience.renew();
  await assert.rejects(write(0), { code: "timeout" });
  assert.deepEqual(given.slice(4), [60_000, 30_000]);
});

test("the wait for a request's turn is part of its time", async () => {
  const clock = new StillClock();
  const patience = new WritePatience(OPTIONS, clock);
  const left: number[] = [];
  const wait = (tookMs: number) =>
    patience.whileWaiting(async (leftMs) => {
      left.push(leftMs);
      await clock.advance(tookMs);
    });
  await wait(900);
  await wait(45_000);
  await patience.during(({ timeoutMs }) => Promise.resolve(left.push(timeoutMs)));
  await wait(15_000);
  assert.deepEqual(left, [60_000, 60_000, 15_000, 15_000]);
  await assert.rejects(
    patience.during(() => Promise.resolve()),
    { code: "timeout" },
  );
  // A write may take a little longer than it may: no wait is shorter than none.
  await wait(5_000);
  await wait(0);
  assert.deepEqual(left.slice(4), [0, 0]);
});
