import assert from "node:assert/strict";
import { test } from "node:test";
import { clearSpan, noSpan, setSpan } from "./span.ts";

const LINE = Buffer.from("host - --");

for (const [what, start, end, wanted] of [
  ["a word", 0, 4, [0, 4]],
  ["a single dash", 5, 6, [-1, -1]],
  ["two dashes", 7, 9, [7, 9]],
  ["no bytes", 4, 4, [-1, -1]],
] as const) {
  test(`${what} is ${wanted[0] < 0 ? "no part" : "a part"} of a line`, () => {
    const span = noSpan();
    setSpan(span, LINE, start, end);
    assert.deepEqual([span.start, span.end], wanted);
    clearSpan(span);
    assert.deepEqual(span, noSpan());
  });
}
