import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { translateRubyRegexp } from "./ruby-regexp.ts";

/** Returns what the captures of the first match hold; undefined where there is none. */
function captured(pattern: string, text: string): Record<string, string> | undefined {
  const regexp = translateRubyRegexp(pattern, { dotAll: true });
  const match = regexp.expression(text).exec(text);
  if (match === null) return undefined;
  const found: Record<string, string> = {};
  regexp.captureReader().visit(match, (name, value) => {
    found[name] = value;
  });
  return found;
}

test("captures within a repetition are found where case is ignored", () => {
  const rows: [pattern: string, text: string, captures: Record<string, string> | undefined][] = [
    ["(?i)(?:(?<x>a|b)c)+", "ACBC", { x: "B" }],
    ["x(?i:(?:(?<x>a)b)+)", "xAB", { x: "A" }],
    ["(?i)^(?:(?<x>a)b)+$", "y\nAB", { x: "A" }],
    ["(?i)x(?-i)(?:(?<x>a)b)+", "XabAB", { x: "a" }],
    ["(?:(?<x>a)b)+", "AB", undefined],
  ];
  for (const [pattern, text, captures] of rows) assert.deepEqual(captured(pattern, text), captures, pattern);
});

/** Evaluates `expression` in a thread of its own, where V8 doesn't optimize expressions, as in one that has compiled many. */
function evaluated(expression: string): unknown {
  const script = `
    import { translateRubyRegexp } from "${import.meta.resolve("./ruby-regexp.ts")}";
    process.stdout.write(JSON.stringify(${expression}));`;
  const args = ["--no-regexp-optimization", "--input-type=module", "--eval", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

test("case is ignored also where the engine doesn't optimize expressions", () => {
  const rows: [pattern: string, text: string][] = [
    ["(?i)error: (b|c)+", "ERROR: B"],
    ["(?i)error: (b|c)+", "x\nError: C"],
    ["x(?i)error", "xERROR"],
    ["(?i)x(?-i:y)", "Xy"],
    ["x(?i:[a-c]é)y", "xBÉy"],
    ["(a)(?i:\\1)", "aA"],
    ["(?i)x(?:(?<y>a)b)+", "XAB"],
  ];
  const found = evaluated(
    `${JSON.stringify(rows)}.map(([pattern, text]) => {
      const regexp = translateRubyRegexp(pattern);
      return [regexp.expression(text).test(text), new RegExp(regexp.source, "u").test(text)];
    })`,
  );
  assert.deepEqual(
    found,
    rows.map(() => [true, true]),
  );
});

test("where case is ignored throughout, the engine's flag says so, except in the source", () => {
  const throughout = translateRubyRegexp("(?i)error|(?:(x)b)+|(?i:warn)");
  assert.equal(throughout.expression("").flags, "i");
  assert.doesNotMatch(throughout.expression("").source, /\[eE\]/);
  assert.match(throughout.source, /\[eE\]/);
  for (const pattern of ["(?i)error(?-i:x)", "x(?i)error", "error"])
    assert.equal(translateRubyRegexp(pattern).expression("").flags, "", pattern);
});

test("words that begin alike are joined where their cases are written out", () => {
  for (const [pattern, source] of [
    ["x(?i:foo|Fob|bar|f)", "x(?:[fF](?:[oO](?:[oO]|[bB])|)|[bB][aA][rR])"],
    ["x(?i:ab|.c|ad|a+)", "x(?:[aA][bB]|[^\\n][cC]|[aA][dD]|[aA]+)"],
    ["x(?i:1-a|1-b|(?<n>1)|1-c)", "x(?:1-(?:[aA]|[bB])|(1)|1-[cC])"],
    ["x(?i:a(?-i:b|c|bd))", "x(?:[aA](?:b|c|bd))"],
    ["x(?:foo|fob)", "x(?:foo|fob)"],
  ])
    assert.equal(
      translateRubyRegexp(pattern!).expression("").source.replaceAll("(?-:", "(?:"),
      source,
      pattern,
    );
  const alike = Array.from({ length: 200 }, (_, at) => "a".repeat(at + 1)).toReversed();
  assert.equal(captured(`x(?<y>(?i:${alike.join("|")}))`, "xAAAA")?.["y"], "AAAA");
});

test("joined words match what their expression matches by the flag i", () => {
  let seed = 3;
  const random = (below: number): number => (seed = (seed * 48_271) % 0x7fffffff) % below;
  const make = (parts: readonly string[], most: number): string =>
    Array.from({ length: random(most + 1) }, () => parts[random(parts.length)]!).join("");
  for (let round = 0; round < 3_000; round++) {
    const words = Array.from({ length: 2 + random(6) }, () =>
      make(["a", "B", "b", "s", "1", "-", "c?", "[ab]"], 4),
    );
    const text = `x${make(["A", "a", "b", "B", "S", "1", "-", "c"], 6)}`;
    const plain = new RegExp(`x(?:${words.join("|")})`, "i").exec(text)?.[0];
    assert.equal(
      captured(`(?<y>x(?i:${words.join("|")}))`, text)?.["y"],
      plain,
      `${words.join("|")} on ${text}`,
    );
  }
});

test("word characters are those of the engine where case is ignored", () => {
  for (const [pattern, text, byUnicode] of [
    ["(?i)^\\w$", "\u017f", true],
    ["(?i)^\\W$", "\u017f", false],
    ["(?i)^[^\\W]$", "\u212a", true],
    ["(?i)^[^\\w]$", "\u212a", false],
    ["(?i)^[^\\Wk]$", "\u212a", false],
  ] as const)
    assert.equal(new RegExp(translateRubyRegexp(pattern).source, "u").test(text), byUnicode, pattern);
});

test("letters whose halves are those of other characters are matched", () => {
  for (const text of ["\u{10437}", "\u{10000}"]) assert.equal(captured(`^(?<x>${text})$`, text)?.["x"], text);
});

test("a dot is any character but the end of a line", () => {
  const rows: [pattern: string, text: string, found: string | undefined][] = [
    ["a.b", "a\rb a\u2028b", "a\rb"],
    ["^.$", "\u2029", "\u2029"],
    ["^.$", "\u{1f600}", "\u{1f600}"],
    ["^[^a]$", "\u{1f600}", "\u{1f600}"],
    ["^\\S\\S$", "\u{1f600}", undefined],
    ["a.b", "a\nb", undefined],
    ["(?m:a.b)", "a\nb", "a\nb"],
    ["(?-m:a.b)", "a\nb", undefined],
  ];
  for (const [pattern, text, found] of rows) {
    const regexp = translateRubyRegexp(pattern);
    assert.equal(regexp.expression(text).exec(text)?.[0], found, pattern);
    assert.equal(new RegExp(regexp.source, "u").exec(text)?.[0], found, `source of ${pattern}`);
  }
});

test("a border of words knows the letters and marks of all alphabets", () => {
  const rows: [pattern: string, text: string, found: string | undefined][] = [
    ["\\b\\w+\\b", "e\u0301", undefined],
    ["\\b\\w+\\b", "\u00fcber alle", "alle"],
    ["\\B.", "\u00fcb", "b"],
    ["\\b.", "- \u00fc", "\u00fc"],
  ];
  for (const [pattern, text, found] of rows) {
    const regexp = translateRubyRegexp(pattern);
    assert.equal(regexp.expression(text).exec(text)?.[0], found, pattern);
    assert.equal(new RegExp(regexp.source, "u").exec(text)?.[0], found, `source of ${pattern}`);
  }
});

test("no line ends within a pair of surrogates", () => {
  for (const pattern of ["^$", "\\A\\z", "^\\Z"])
    assert.equal(new RegExp(translateRubyRegexp(pattern).source, "u").test("\u{1f600}"), false, pattern);
});
