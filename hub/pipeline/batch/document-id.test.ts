import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DocumentIds } from "./document-id.ts";

suite("the id of an event's first result is the same as bytes and as text", () => {
  const ids = new DocumentIds("0198c0de-agent/2049-1234-99/7", "default");
  const offsets = [
    0,
    1,
    255,
    256,
    65_535,
    65_536,
    2 ** 24 + 3,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 40 + 5,
    2 ** 48 - 1,
  ];
  for (const offset of offsets)
    test(`at ${offset}`, () => {
      assert.equal(Buffer.from(ids.first(offset)).toString("latin1"), ids.of(offset, 0));
    });
});

test("results of one event have ids of their own", () => {
  const ids = new DocumentIds("agent/file/1", "default");
  assert.equal(new Set([0, 1, 254, 255, 256, 70_000].map((child) => ids.of(12, child))).size, 6);
});
