import assert from "node:assert/strict";
import { test } from "node:test";
import { Decimal } from "#hub/scripts/values/values.ts";
import { parseJson } from "./json.ts";
import { parseJsonSteps } from "./json-steps.ts";

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

test("numbers with a fraction in the params of a script are Decimals, also where they are whole", () => {
  const script = `{"source": "7 / params.d", "params": {"d": 2.0, "list": [1e3, 4, 1.5]}}`;
  const expected = { d: new Decimal(2), list: [new Decimal(1000), 4, 1.5] };
  assert.deepEqual(parseJson(script), { source: "7 / params.d", params: expected });
  const long = `{"a": "${"x".repeat(40_000)}", "size": 5.0, "params": {"d": 2.0}, "s": {"script": ${script}}}`;
  for (const found of [parseJson(long), parseJsonSteps(long).next().value]) {
    const { size, params, s } = found as Record<string, unknown>;
    assert.deepEqual({ size, params }, { size: 5, params: { d: 2 } });
    assert.deepEqual(s, { script: { source: "7 / params.d", params: expected } });
  }
});
