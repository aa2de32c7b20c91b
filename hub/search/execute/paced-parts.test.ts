import assert from "node:assert/strict";
import { test } from "node:test";
import { nextSize } from "./paced-parts.ts";

test("steps become larger as long as they are short, and smaller when they take long", () => {
  assert.equal(nextSize(8, 0.1, 1, 1024), 16);
  assert.equal(nextSize(8, 0.7, 1, 1024), 8);
  assert.equal(nextSize(8, 3, 1, 1024), 4);
});

test("steps stay within their bounds", () => {
  assert.equal(nextSize(1024, 0, 1, 1024), 1024);
  assert.equal(nextSize(8, 3, 8, 1024), 8);
  assert.equal(nextSize(128, 0.7, 8, 32), 32, "what a document may cost has risen");
});
