import assert from "node:assert/strict";
import { test } from "node:test";
import { hashCode, hashOrder } from "./hash-order.ts";

const ORDERS: readonly (readonly [why: string, given: readonly string[], wanted: readonly string[]])[] = [
  ["single letters are their own buckets", ["c", "a", "b"], ["a", "b", "c"]],
  ["beyond 12 keys the table has 32 buckets", "nmlkjihgfedcba".split(""), "abcdefghijklmn".split("")],
  ["keys of one bucket stay as they were", ["BB", "Aa"], ["BB", "Aa"]],
  [
    "of long names the high bits count too",
    ["latency_ms", "price", "bytes"],
    ["price", "bytes", "latency_ms"],
  ],
];

for (const [why, given, wanted] of ORDERS) {
  test(why, () => {
    assert.deepEqual(
      hashOrder(given, (key) => key),
      wanted,
    );
  });
}

test("the hash of a text is Java's", () => {
  assert.deepEqual(["", "a", "Aa", "BB", "hello world"].map(hashCode), [0, 97, 2112, 2112, 1_794_106_052]);
});
