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
  [String.raw`^\w:\\PROD`, String.raw`C:\PROD`, "C:PROD"],
  [String.raw`^C:\\pX`, String.raw`C:\pX`, "C:X"],
  [String.raw`^C:\\Apps\\z`, String.raw`C:\Apps\z`, "C:"],
  [String.raw`^\\x{2}`, String.raw`\xx`, "\u0002"],
  [String.raw`^\\p{Lu}`, String.raw`\p{Lu}`, "A"],
  [String.raw`^C:\path`, "C:path", "C:ath"],
  [String.raw`^\[\p{Lu}+\] \"a\-b`, '[ÄB] "a-b', '[äb] "a-b'],
  [String.raw`^\pL[\w\-\"]+$`, 'é-"a', "é+"],
  [String.raw`^\p{Lu}{2,3} {"a":{}}`, 'ÄB {"a":{}}', 'Ä {"a":{}}'],
  [String.raw`^\p{L}\<`, "é<", "é"],
  [String.raw`^\[:alpha:]$`, "[:alpha:]", "a"],
] as const)
  test(`an expression as other shippers take it: ${expression}`, () => {
    const compiled = compileExpression("include_lines", expression);
    assert.deepEqual([compiled.test(matching), compiled.test(other)], [true, false]);
  });

for (const expression of ["(", String.raw`\p{Klingon}`, String.raw`\p{L}\y`])
  test(`an expression that can't be taken as it is meant is refused: ${expression}`, () => {
    assert.throws(() => compileExpression("exclude_lines", expression), {
      code: "settings_invalid",
      message: /^exclude_lines: ".*" isn't a regular expression: /,
    });
  });
