import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRegexp } from "./regexp-parser.ts";
import { beginsWithAnything, holdsLiterals, requiredLiterals } from "./required-literals.ts";
import { translateRubyRegexp } from "./ruby-regexp.ts";

const CASES: readonly (readonly [expression: string, literals: readonly string[]])[] = [
  ["abc", ["abc"]],
  ["a.c", ["a", "c"]],
  ["^a\\[b$", ["a[b"]],
  ["a(?:b|c)d", ["a", "d"]],
  ["ab?c", ["a", "c"]],
  ["a(?:bc)+d", ["abc", "d"]],
  ["a(?:bc){0,2}d", ["a", "d"]],
  ["(?i:abc)d", ["d"]],
  ["(?=x)a(?!y)b", ["ab"]],
  ["(?<n>ab)(?>c+)", ["abc"]],
  ["\\d+ \\w+", []],
  ["a\\tb", ["a\tb"]],
  ["1.22.333.4444.55555.666666.7777777", ["22", "333", "4444", "55555", "666666", "7777777"]],
];

test("what every match holds is found, in its order", () => {
  for (const [expression, literals] of CASES)
    assert.deepEqual(requiredLiterals(parseRegexp(expression, false)), literals, expression);
});

test("a text passes only with all literals, one after another", () => {
  assert.ok(holdsLiterals("..ab..c", ["ab", "c"]));
  assert.ok(!holdsLiterals("..c..ab", ["ab", "c"]));
  assert.ok(!holdsLiterals("aa", ["a", "a", "a"]));
  assert.ok(holdsLiterals("", []));
});

test("an expression that begins with anything is tried once, and finds the same", () => {
  for (const [expression, expected] of [
    [".*x", true],
    ["(?<a>.*?) x", true],
    ["(?:.*a|.*?b)", true],
    [".+x", false],
    ["a.*", false],
    ["(?:.*a|b)", false],
  ] as const) {
    assert.equal(beginsWithAnything(parseRegexp(expression, false)), expected, expression);
    const translated = translateRubyRegexp(expression, { dotAll: true });
    for (const text of ["one x", "a\nb x", "nothing", "b"]) {
      const plain = new RegExp(expression, "s").exec(text);
      assert.equal(translated.expression(text).exec(text)?.[0], plain?.[0], `${expression} on ${text}`);
    }
  }
});
