import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileRegexp } from "./automaton.ts";
import { automaticEdits, withinEdits } from "./edit-distance.ts";
import { compileWildcard } from "./wildcard.ts";

describe("regular expressions", () => {
  const PATTERNS = [
    "abc",
    "a.c",
    "a*",
    "(ab)*",
    "(a|b)+c",
    "a?b",
    "[a-c]{2,3}",
    "[^a]b*",
    "a{2}",
    "a{0,2}b",
    "(a*)*",
    "(a|ab)(c|bcd)?",
    "",
    "a{1,}",
    "[]a]",
    "\\.\\d\\w?",
  ];
  const TEXTS = [
    "",
    "a",
    "b",
    "c",
    "ab",
    "abc",
    "aac",
    "abab",
    "aaa",
    "bbc",
    "abbc",
    "abcd",
    "ccc",
    "]",
    ".5",
    ".5x",
    "aab",
    "xb",
    "xbb",
    "ü",
    "aüc",
  ];

  for (const pattern of PATTERNS) {
    test(`/${pattern}/ matches what JavaScript's does as a whole`, () => {
      const compiled = compileRegexp(pattern);
      const oracle = new RegExp(`^(?:${pattern.replace("[]a]", "[\\]a]")})$`, "u");
      for (const text of TEXTS) assert.equal(compiled.matches(text), oracle.test(text), text);
    });
  }

  test("return a text that is in every match", () => {
    const rows = [
      ["abc", "abc"],
      [".*timeout.*", "timeout"],
      ["[a-z]+ed to (open|read) file", "ed to "],
      ["(a|b)c", "c"],
      ["x(yz){2,}w", "yz"],
      ["x(yz)*", "x"],
      ["[^a]b?", ""],
      [".*", ""],
    ] as const;
    for (const [pattern, longest] of rows) assert.equal(compileRegexp(pattern).longest, longest, pattern);
  });

  test("that explode elsewhere take linear time", () => {
    const { matches } = { matches: (text: string) => compileRegexp("(a*)*(a*)*b").matches(text) };
    assert.equal(matches("a".repeat(5000)), false);
  });

  test("return the characters that all matches begin with", () => {
    assert.equal(compileRegexp("web-[12]").prefix, "web-");
    assert.equal(compileRegexp("a|b").prefix, "");
    assert.equal(compileRegexp("ab*").prefix, "a");
  });

  for (const pattern of [
    "(",
    ")",
    "a{2,1}",
    "[b-a]",
    "*a",
    "a\\",
    "[a",
    "a{99999}",
    "~a",
    "((a{500}){500}){500}",
  ]) {
    test(`/${pattern}/ is refused`, () => {
      assert.throws(() => compileRegexp(pattern), { code: "request_invalid" });
    });
  }
});

describe("wildcards", () => {
  const ROWS: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
    ["*", "", true],
    ["a*b*c", "aXbXc", true],
    ["a*b*c", "aXcXb", false],
    ["?", "ü", true],
    ["?", "", false],
    ["*.log", "x.log.log", true],
    ["a\\*", "a*", true],
    ["a\\*", "ab", false],
    ["**a", "bba", true],
  ];
  for (const [pattern, text, expected] of ROWS) {
    test(`${pattern} ${expected ? "matches" : "doesn't match"} "${text}"`, () => {
      assert.equal(compileWildcard(pattern).matches(text), expected);
    });
  }
});

describe("edits", () => {
  test("count insertions, deletions, replacements and swaps", () => {
    for (const near of ["quick", "qick", "quicks", "quack", "qucik"])
      assert.ok(withinEdits("quick", 1)(near), near);
    for (const far of ["qck", "kciuq", "quickest", ""]) assert.ok(!withinEdits("quick", 1)(far), far);
    assert.deepEqual(["ab", "abc", "abcdef"].map(automaticEdits), [0, 1, 2]);
  });
});
