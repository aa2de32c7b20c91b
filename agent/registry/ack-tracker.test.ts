import assert from "node:assert/strict";
import { test } from "node:test";
import { AckTracker, NO_ANCHOR } from "./ack-tracker.ts";

const anchor = (hash: string) => ({ bytes: 1, hash });

test("sent is the end of the first unbroken run of acknowledged ranges", () => {
  const tracker = new AckTracker(10, NO_ANCHOR);
  const first = tracker.begin(10, 20, anchor("a"));
  const second = tracker.begin(20, 30, anchor("b"));
  const third = tracker.begin(30, 40, anchor("c"));
  assert.equal(tracker.ack(second), false);
  assert.deepEqual([tracker.sent, tracker.anchor], [10, NO_ANCHOR]);
  assert.equal(tracker.ack(first), true);
  assert.deepEqual([tracker.sent, tracker.anchor, tracker.idle], [30, anchor("b"), false]);
  assert.equal(tracker.ack(third), true);
  assert.deepEqual([tracker.sent, tracker.anchor, tracker.idle], [40, anchor("c"), true]);
});

test("an acknowledgement of another tracker's range moves nothing", () => {
  const before = new AckTracker(0, NO_ANCHOR).begin(0, 100, anchor("a"));
  const tracker = new AckTracker(0, NO_ANCHOR);
  const after = tracker.begin(0, 50, anchor("b"));
  assert.equal(tracker.ack(before), false);
  assert.equal(tracker.sent, 0);
  assert.equal(tracker.ack(after), true);
  assert.equal(tracker.sent, 50);
});

test("acknowledging twice is the same as once", () => {
  const tracker = new AckTracker(0, NO_ANCHOR);
  const flight = tracker.begin(0, 5, NO_ANCHOR);
  assert.equal(tracker.ack(flight), true);
  assert.equal(tracker.ack(flight), false);
  assert.equal(tracker.sent, 5);
});
