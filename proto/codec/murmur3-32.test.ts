import assert from "node:assert/strict";
import { test } from "node:test";
import { murmur32 } from "./murmur3-32.ts";

/** Of the implementation in smhasher. */
const VECTORS: readonly (readonly [text: string, seed: number, hash: number])[] = [
  ["", 0, 0],
  ["", 1, 0x514e28b7],
  ["test", 0, 0xba6bd213],
  ["test", 0x9747b28c, 0x704b81dc],
  ["Hello, world!", 0, 0xc0363e43],
  ["The quick brown fox jumps over the lazy dog", 0x9747b28c, 0x2fa826cd],
];

for (const [text, seed, hash] of VECTORS) {
  test(`"${text}" with seed ${seed} has the published hash`, () => {
    assert.equal(murmur32(Buffer.from(text), seed) >>> 0, hash);
  });
}

test("bytes anywhere in a buffer have the hash of the bytes alone", () => {
  const all = Buffer.from("xxabcdefg");
  assert.equal(murmur32(all.subarray(2), 0), murmur32(Buffer.from("abcdefg"), 0));
});
