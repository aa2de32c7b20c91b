import assert from "node:assert/strict";
import { test } from "node:test";
import { floatText } from "./number-text.ts";

const TEXTS: readonly (readonly [number, string])[] = [
  [1, "1.0"],
  [0, "0.0"],
  [-2.5, "-2.5"],
  [0.4991762936115265, "0.4991763"],
  [2.5980031490325928, "2.5980031"],
  [Math.fround(0.1), "0.1"],
  [16_777_216, "1.6777216E7"],
  [1e10, "1.0E10"],
  [0.0005, "5.0E-4"],
  [0.001, "0.001"],
];

for (const [value, text] of TEXTS) test(`${value} is ${text}`, () => assert.equal(floatText(value), text));

test("a text is read as the same number of single precision", () => {
  for (let at = 1; at < 2_000; at++) {
    const value = Math.fround(Math.sin(at) * 10 ** ((at % 40) - 20));
    assert.equal(Math.fround(Number(floatText(value))), value);
  }
});
