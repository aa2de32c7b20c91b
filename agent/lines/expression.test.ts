import assert from "node:assert/strict";
import { test } from "node:test";
import { compileExpression } from "./expression.ts";

for (const [expression, matching, other] of [
  ["^[[:space:]]", " x", "x"],
  ["(?i)ERROR", "error", "warn"],
  ["(?P<level>WARN)", "WARN", "INFO"],
  [String.raw`\Aa+\z`, "aa", "ab"],
  [String.raw`^\pL+$`, "é", "pL1"],
  [String.raw`^\PL+$`, "12", "ab"],
  [String.raw`^\p{Greek}+$`, "α", "a"],
  [String.raw`^\x{41}\x{1F600}$`, "A😀", "x"],
  [String.raw`^\<\d`, "<1", "1"],
] as const)
  test(`an expression as other shippers take it: ${expression}`, () => {
    const compiled = compileExpression("include_lines", expression);
    assert.deepEqual([compiled.test(matching), compiled.test(other)], [true, false]);
  });

for (const expression of ["(", String.raw`\p{Klingon}`, String.raw`\p{L}\<`])
  test(`an expression that can't be taken as it is meant is refused: ${expression}`, () => {
    assert.throws(() => compileExpression("exclude_lines", expression), {
      code: "settings_invalid",
      message: /^exclude_lines: ".*" isn't a regular expression: /,
    });
  });
