import assert from "node:assert/strict";
import { test } from "node:test";
import { wordBreakClass, wordBreakClasses } from "./word-break.ts";

test("classes of all code points together are those of each", () => {
  const classes = wordBreakClasses(0x2_0000);
  assert.equal(classes.length, 0x2_0000);
  for (let point = 0; point < classes.length; point += point < 0x3000 ? 1 : 37) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    assert.equal(classes[point], wordBreakClass(point), `U+${point.toString(16)}`);
  }
});
