import assert from "node:assert/strict";
import { test } from "node:test";
import { shardOf, shardOfAscii } from "./routing.ts";

// Hashes of the same texts in the test of the function that 6.5 routes with.
for (const [text, hash] of [
  ["hell", 0x5a0cb7c3],
  ["hello", 0xd7c31989],
  ["hello w", 0x22ab2984],
  ["hello wo", 0xdf0ca123],
  ["hello wor", 0xe7744d61],
  ["The quick brown fox jumps over the lazy dog", 0xe07db09c],
  ["The quick brown fox jumps over the lazy cog", 0x4e63d2ad],
] as const) {
  test(`"${text}" is routed as 6.5 does`, () => {
    for (const shards of [2, 5, 7]) {
      const expected = (((hash | 0) % shards) + shards) % shards;
      assert.equal(shardOf(text, "", shards), expected);
      assert.equal(shardOf("another id", text, shards), expected);
      assert.equal(shardOfAscii(Buffer.from(`-${text}-`), 1, 1 + text.length, shards), expected);
    }
  });
}
