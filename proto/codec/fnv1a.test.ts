import assert from "node:assert/strict";
import { test } from "node:test";
import { fnv1a } from "./fnv1a.ts";

test("the hash of ASCII is that of the published vectors", () => {
  const vectors = [
    ["", 0x811c9dc5],
    ["a", 0xe40c292c],
    ["foobar", 0xbf9cf968],
  ] as const;
  assert.deepEqual(
    vectors.map(([text]) => fnv1a(text)),
    vectors.map(([, hash]) => hash),
  );
});

test("texts have another hash for each seed", () => {
  assert.equal(new Set([0, 1, 2, 2 ** 31].map((seed) => fnv1a("id", seed))).size, 4);
});
