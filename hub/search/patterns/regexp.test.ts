import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileRegexp } from "./automaton.ts";
import { automaticEdits, withinEdits } from "./edit-distance.ts";
import { parseRegexpFlags } from "./regexp-flags.ts";
import { compileWildcard } from "./wildcard.ts";

/** Returns 60 characters a to d, the same ones for the same number. */
function randomText(seed: number): string {
  let state = seed + 1;
  return Array.from({ length: 60 }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return "abcd"[(state >>> 9) & 3]!;
  }).join("");
}

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

  test("of nested complements match the same after their positions were dropped", () => {
    const rows = ["~(~(.*a.{13}))", "~(~(.*a.{13})&.*b.{5})", "~(~(~(.*a.{12})))"];
    for (const pattern of rows) {
      const used = compileRegexp(pattern, false, undefined, 100_000);
      let nth = 0;
      for (; used.work < 400_000; nth++) {
        const text = randomText(nth);
        const result = used.matches(text);
        if (nth % 4 === 0) assert.equal(result, compileRegexp(pattern).matches(text), `${pattern} ${text}`);
      }
      assert.ok(nth > 20, `${nth} texts`);
    }
  });

  test("keep what work of 1.5 million found, and then start again", () => {
    const compiled = compileRegexp("~(~(.*a.{13}))");
    const workOf = (nth: number): number => {
      const before = compiled.work;
      compiled.matches(randomText(nth));
      return compiled.work - before;
    };
    workOf(0);
    let nth = 1;
    for (let kept = compiled.work; kept <= 1_400_000; kept = compiled.work) workOf(nth++);
    assert.equal(workOf(0), 60, "known");
    while (compiled.work <= 1_500_000) workOf(nth++);
    assert.ok(workOf(0) > 60 * 16, "forgotten");
  });

  test("that take too long for a term are refused there, and match the next one", () => {
    const choices = [5, 9, 14].map((count) => `~(.*[ab].{${count}}[c-d].*e)`).join("|");
    const compiled = compileRegexp(`(${choices})*x`);
    const long = Array.from({ length: 50 }, (_, nth) => randomText(nth)).join("");
    assert.throws(() => compiled.matches(long), {
      code: "request_invalid",
      message: /takes too long for a term/,
    });
    assert.equal(compiled.matches("abx"), true);
    assert.equal(compiled.matches("abc"), false);
  });

  test("count their work: the length of terms, and more where a term leads to new states", () => {
    const compiled = compileRegexp(".*a.{9}");
    compiled.matches(randomText(1));
    const first = compiled.work;
    assert.ok(first > 60 * 16, `${first}`);
    compiled.matches(randomText(1));
    assert.equal(compiled.work - first, 60);
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
    "~",
    "<1>",
    "<a-b>",
    "~(a{1000}){1000}~(b{1000}){1000}~(c{1000}){1000}(d{1000}){1000}",
    "((a{500}){500}){500}",
  ]) {
    test(`/${pattern}/ is refused`, () => {
      assert.throws(() => compileRegexp(pattern), { code: "request_invalid" });
    });
  }
});

describe("optional operators of regular expressions", () => {
  /** Terms that 6.5.4 finds of these. */
  const TERMS = ["abc", "a@b.de", "x#y", "007", "42", "abd", "foo", "quick", "a@", "~abc", "<1-50>"];
  const ROWS: readonly (readonly [pattern: string, flags: string, found: readonly string[]])[] = [
    ["x#y", "ALL", []],
    ["x#y", "NONE", ["x#y"]],
    ["<1-50>", "ALL", ["007", "42"]],
    ["<001-100>", "ALL", ["007"]],
    ["<1-50>", "NONE", ["<1-50>"]],
    ["ab~c", "ALL", ["abd"]],
    ["a.*&.*c", "ALL", ["abc"]],
    ["a~(bc)", "ALL", ["a@b.de", "abd", "a@"]],
    ["@&~(ab.)&~(.*[@#<~].*)", "ALL", ["007", "42", "foo", "quick"]],
    ["~~abc", "COMPLEMENT", ["abc"]],
    ["(~(ab))*c", "ALL", ["abc", "~abc"]],
    ["a@", "NONE", ["a@"]],
    ["a@", "ANYSTRING|INTERVAL", ["abc", "a@b.de", "abd", "a@"]],
    ["~abc", "NONE", ["~abc"]],
  ];
  for (const [pattern, flags, found] of ROWS)
    test(`/${pattern}/ with ${flags} matches ${found.join(", ")}`, () => {
      const compiled = compileRegexp(pattern, false, parseRegexpFlags(flags));
      assert.deepEqual(
        TERMS.filter((term) => compiled.matches(term)),
        found,
      );
    });

  test("of intervals match the numbers of the range alone", () => {
    for (const [least, most] of [
      [0, 0],
      [3, 7],
      [9, 1200],
      [15, 15],
      [99, 101],
      [120, 45],
    ] as const) {
      const compiled = compileRegexp(`<${least}-${most}>`);
      for (let number = 0; number < 1300; number++) {
        const isIn = number >= Math.min(least, most) && number <= Math.max(least, most);
        assert.equal(compiled.matches(String(number)), isIn, `${number} in <${least}-${most}>`);
      }
    }
  });

  test("keep few positions, however many terms and characters they see", () => {
    const compiled = compileRegexp("~(.*(ab|cd){3,9}.*)&.*x.*");
    for (let at = 0; at < 300; at++) {
      const text = `${"ab".repeat(at % 7)}${"c".repeat(at)}x`;
      assert.equal(compiled.matches(text), at % 7 < 3, text);
    }
  });

  test("that aren't there are named", () => {
    assert.throws(() => parseRegexpFlags("FOO"), { message: "Unknown regexp flag [FOO]" });
  });
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
