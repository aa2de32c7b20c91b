import assert from "node:assert/strict";
import { test } from "node:test";
import { TestClock } from "#test/support/agent/recording-output.ts";
import { RetryTimes } from "./retry-times.ts";

const ACK_TIMEOUT_MS = 30_000;

function begin(): { clock: TestClock; times: RetryTimes } {
  const clock = new TestClock();
  return { clock, times: new RetryTimes(clock, ACK_TIMEOUT_MS) };
}

test("the answer to the oldest batch is awaited four times as long as the slowest of late, 0.5 s at least", () => {
  const { times } = begin();
  const awaited = (): number => Math.round(times.answerMs(true));
  assert.equal(awaited(), 500);
  times.stored(1_000);
  assert.equal(awaited(), 4_000);
  times.stored(10);
  assert.equal(awaited(), 3_600, "a slow answer counts less with each one after it");
  times.stored(null);
  assert.equal(awaited(), 3_600, "of a batch that was sent twice nobody knows which was answered");
  times.stored(20_000);
  assert.equal(awaited(), ACK_TIMEOUT_MS);
});

test("the oldest batch waits as long as others after an answer that was only late", () => {
  const { times } = begin();
  times.wasLate();
  assert.equal(times.answerMs(true), ACK_TIMEOUT_MS);
});

test("other batches wait for their answers as long as is set", () => {
  assert.equal(begin().times.answerMs(false), ACK_TIMEOUT_MS);
});

for (const [name, failingMs, expected] of [
  ["while a leader may be elected", 14_999, { oldest: 500, answer: 500 }],
  ["for longer", 15_000, { oldest: 2_000, answer: ACK_TIMEOUT_MS }],
] as const)
  test(`the oldest of batches that fail ${name} is tried every ${expected.oldest} ms`, () => {
    const { clock, times } = begin();
    times.failed();
    clock.ms += failingMs;
    times.failed();
    assert.equal(times.failingMs, failingMs);
    assert.equal(times.waitMs("full", 2_000, true), expected.oldest);
    assert.equal(times.answerMs(true), expected.answer);
    times.stored(null);
    assert.equal(times.failingMs, undefined);
    assert.equal(times.waitMs("full", 2_000, true), 500);
  });

test("a refused batch waits as long as its lane says, one whose answer was awaited no longer", () => {
  const { times } = begin();
  assert.equal(times.waitMs("full", 2_000, false), 2_000);
  assert.equal(times.waitMs("full", 40, true), 40);
  assert.equal(times.waitMs("timeout", 2_000, false), 0);
});

test("the answer to a batch is lost where one that was sent 250 ms later is acknowledged", () => {
  const { times } = begin();
  assert.deepEqual([times.isOvertaken(1_000, 1_249), times.isOvertaken(1_000, 1_250)], [false, true]);
});
