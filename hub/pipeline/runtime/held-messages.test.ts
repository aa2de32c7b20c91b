import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldMessages } from "./held-messages.ts";

test("cursors stay below the oldest message that is held, until what became of it is durable", () => {
  const held = new HeldMessages();
  assert.equal(held.heldFrom, Infinity);
  held.answered([1, 2], 1);
  assert.equal(held.heldFrom, 1);
  held.finished(1);
  held.finished(2);
  held.answered([3], undefined);
  assert.equal(held.heldFrom, 1, "message 3 let go of 1, but its own results aren't durable yet");
  held.finished(3);
  assert.equal(held.heldFrom, Infinity);
});

test("answers count in their order, however their results get durable", () => {
  const held = new HeldMessages();
  held.answered([1], 1);
  held.answered([2], undefined);
  held.finished(2);
  assert.equal(held.heldFrom, 1);
  held.finished(1);
  assert.equal(held.heldFrom, Infinity);
});
