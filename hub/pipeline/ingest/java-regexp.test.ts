import assert from "node:assert/strict";
import { test } from "node:test";
import { javaRegexp } from "./java-regexp.ts";

/** Each match in angle brackets. */
function marked(pattern: string, text: string): string {
  const expression = javaRegexp(pattern);
  return text.replace(new RegExp(expression, `${expression.flags}g`), (found) => `<${found}>`);
}

test("flags in front of an expression mean what they mean in Java", () => {
  const rows: [pattern: string, text: string, marked: string][] = [
    ["(?s)a.b", "a\nb", "<a\nb>"],
    ["(?m)^x", "x\nx", "<x>\n<x>"],
    ["(?m)a.b", "a\nb", "a\nb"],
    ["(?is)A.B", "a\nb", "<a\nb>"],
    ["(?mi)^a++", "Aa\naA", "<Aa>\n<aA>"],
    ["(?u)a", "a", "<a>"],
    ["(?x) a b ", "ab", "<ab>"],
  ];
  for (const [pattern, text, expected] of rows) assert.equal(marked(pattern, text), expected, pattern);
});

test("escapes mean what they mean in Java", () => {
  const rows: [pattern: string, text: string, marked: string][] = [
    ["\\h", "a\tb", "a<\t>b"],
    ["[\\h,]+", "a\t, b", "a<\t, >b"],
    ["\\H", "\ta", "\t<a>"],
    ["\\v", "a\rb", "a<\r>b"],
    ["\\s", "a\u00a0b", "a\u00a0b"],
    ["\\S", " \u00a0", " <\u00a0>"],
    ["\\x{1F600}", "a😀", "a<😀>"],
    ["\\0101", "A", "<A>"],
    ["\\pL+", "é1", "<é>1"],
    ["\\p{IsAlphabetic}", "é1", "<é>1"],
    ["\\p{Alpha}+", "aé", "<a>é"],
    ["[^\\p{Punct}]", "!a", "!<a>"],
    ["\\P{Digit}", "1a", "1<a>"],
    ["\\Qa.b\\E", "a.b acb", "<a.b> acb"],
  ];
  for (const [pattern, text, expected] of rows) assert.equal(marked(pattern, text), expected, pattern);
  assert.throws(() => javaRegexp("[\\H]"), /\\H in a class isn't supported/);
  assert.throws(() => javaRegexp("[a-z&&[^b]]"), /&& in a class/);
});
