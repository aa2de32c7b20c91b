import assert from "node:assert/strict";
import { test } from "node:test";
import { parseJson } from "./json.ts";

test("whole numbers stay exact up to 1,000 digits, and longer numbers are refused", () => {
  const longest = "9".repeat(1_000);
  assert.deepEqual(parseJson(`[${longest}, -9007199254740993, 1.5]`), [
    BigInt(longest),
    -9_007_199_254_740_993n,
    1.5,
  ]);
  for (const number of [`${longest}9`, "9".repeat(1_000_000)])
    assert.throws(() => parseJson(`{"n": ${number}}`), { code: "parsing", message: /more than 1000$/ });
});
