import assert from "node:assert/strict";
import { test } from "node:test";
import { javaRegexp } from "./java-regexp.ts";

/** Each match in angle brackets. */
function marked(pattern: string, text: string): string {
  return text.replace(new RegExp(javaRegexp(pattern).expression, "gv"), (found) => `<${found}>`);
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
    ["(?sx) a . b # c", "a\nb", "<a\nb>"],
    ["(?mx) ^ a ", "b\na", "b\n<a>"],
    ["(?d).", "\r\n", "<\r>\n"],
    ["a\\n(?m)^b", "a\nb", "<a\nb>"],
    ["a(?:(?i)b|c)d", "aBd aCd aBD", "<aBd> <aCd> aBD"],
    ["(?i)a(?-i)b", "Ab AB", "<Ab> AB"],
    ["(?i)[^b]+É", "aBxÉxé", "aB<xÉ>xé"],
    ["(?i)[a-c]+\\Q.X\\E", "aB.x", "<aB.x>"],
    ["(?iu)[а-я]+é", "аЯÉ", "<аЯÉ>"],
    ["(?i)(a)\\1", "aA", "<aA>"],
    ["(?i)\\p{Lower}\\p{Lu}", "aBcD", "<aB><cD>"],
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
    ["\\Qab\\E+", "abb", "<abb>"],
    ["C:\\\\Quar.*", "C:\\Quarantine", "<C:\\Quarantine>"],
    ["\\x{1F600}\\-.", "😀-😀", "<😀-😀>"],
    ['\\"\\_\\<', '"_<', '<"_<>'],
    ["\\e\\[\\d+m\\R", "\x1b[31m\r\n", "<\x1b[31m\r\n>"],
    ["(a)\\11", "aa1", "<aa1>"],
    ["\\p{IsLatin}+", "aéα", "<aé>α"],
    ["a}]", "a}]", "<a}]>"],
  ];
  for (const [pattern, text, expected] of rows) assert.equal(marked(pattern, text), expected, pattern);
  for (const pattern of [
    "\\G",
    "\\X",
    "\\p{None}",
    "(?U)\\w",
    "(?<=a++)b",
    "a(",
    "a)",
    "*a",
    "[a",
    "(?i)*",
    "a{2}{2}",
    "a+*",
    "[a&&&b]",
    "\\",
  ])
    assert.throws(() => javaRegexp(pattern), Error, pattern);
});

test("classes are those of Java", () => {
  const rows: [pattern: string, text: string, marked: string][] = [
    ["[a-z&&[^b]]", "abc", "<a>b<c>"],
    ["[\\w&&\\D]", "a1", "<a>1"],
    ["[&&a]", "a&", "<a>&"],
    ["[a-c[x-z]]+", "abxyd", "<abxy>d"],
    ["[]a]+[^]]", "a]b", "<a]b>"],
    ["[\\H\\S]", "\ta", "\t<a>"],
    ["[a\\Q-\\Ez]", "a-mz", "<a><->m<z>"],
    ["[+--]+[\\w-.]", "+,-.", "<+,-.>"],
    ["[😀-😂]", "😁", "<😁>"],
    ["[(/|{&]", "(/|{&", "<(></><|><{><&>"],
  ];
  for (const [pattern, text, expected] of rows) assert.equal(marked(pattern, text), expected, pattern);
});

test("ends of lines are those of Java", () => {
  const rows: [pattern: string, text: string, marked: string][] = [
    ["a$", "a\n", "<a>\n"],
    ["a\\Z", "a\r\n", "<a>\r\n"],
    ["a\\z", "a\n", "a\n"],
    ["(?m)^", "a\r\nb\n", "<>a\r\n<>b\n"],
    ["(?m)b$", "b\r\nb", "<b>\r\n<b>"],
    ["^a\\-", "\na-", "\na-"],
    [".", "a\x85", "<a>\x85"],
  ];
  for (const [pattern, text, expected] of rows) assert.equal(marked(pattern, text), expected, pattern);
});

test("words begin and end where they do in Java up to 18", () => {
  const rows: [pattern: string, text: string, marked: string][] = [
    ["\\b", "é a", "<>é<> <>a<>"],
    ["\\b\\w+\\b", "été foo", "été <foo>"],
    ["\\bfoo\\b", "éfoo foo", "éfoo <foo>"],
    ["\\b", "_1\u0663\u2167\u00b2", "<>_1\u0663<>\u2167\u00b2"],
    ["\\b", "a_ß\u03081 \u0308x", "<>a_ß\u03081<> \u0308<>x<>"],
    ["\\b", "_\u0308", "<>_<>\u0308"],
    ["\\b", "\u{10400}\u0308a\u{1d167}", "<>\u{10400}<>\u0308<>a\u{1d167}"],
    ["\\B", "éa \u0308_\u0308 ª²", "é<>a <>\u0308_\u0308<> ª²<>"],
    ["(?<=\\b)x", "éx x", "éx <x>"],
    ["\\b+a", "a", "<a>"],
  ];
  for (const [pattern, text, expected] of rows) assert.equal(marked(pattern, text), expected, pattern);
});

test("where a character of a word follows, only what comes before says whether a word begins", () => {
  const known = [
    "\\d+",
    "[0-9]{2}",
    "\\w",
    "x",
    "_",
    "[a-z_]x",
    "[\\d-]?",
    "é",
    "x?",
    "[^x]",
    "\\d{0,2}",
    "[A-z]",
    "(?:1)",
  ];
  const texts = ["12 x12 é12 _1", "ß\u03081 \u03081", "x_x éx-x [12 ^x", "\u{10400}x \u{1d167}1"];
  for (const each of known)
    for (const boundary of ["\\b", "\\B"])
      for (const text of texts)
        assert.equal(
          marked(boundary + each, text),
          marked(`(?x)${boundary}${each}`, text),
          `${boundary}${each}`,
        );
  const lookAheads = (pattern: string): number =>
    javaRegexp(pattern).expression.source.split("(?=").length - 1;
  assert.deepEqual(
    known.map((each) => lookAheads(`\\b${each}`)),
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1],
  );
});

test("what is possessive or atomic isn't given back", () => {
  const rows: [pattern: string, text: string, marked: string][] = [
    ["\\d{1,3}+", "12345", "<123><45>"],
    ["a*+a", "aaa", "aaa"],
    ["(?>a|ab)c", "abc", "abc"],
    ["(?:a|b)++c", "abc", "<abc>"],
  ];
  for (const [pattern, text, expected] of rows) assert.equal(marked(pattern, text), expected, pattern);
});
