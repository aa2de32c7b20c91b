import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import { Analysis, type Analyzer, type PartSpec } from "./analysis.ts";

const none = { filters: [], charFilters: [] };
const ngram = { type: "ngram", min_gram: 1, max_gram: 100_000 };

function words(chain: Analyzer, text: string): string[] {
  return chain.tokens(text).map((token) => token.text);
}

function filtered(filter: PartSpec, text: string): string[] {
  return words(new Analysis().chain({ tokenizer: "keyword", filters: [filter], charFilters: [] }), text);
}

function filteredWords(filter: PartSpec, text: string): string[] {
  return words(new Analysis().chain({ tokenizer: "whitespace", filters: [filter], charFilters: [] }), text);
}

function within(ms: number, act: () => void): void {
  const startMs = threadCpuMs();
  act();
  const tookMs = threadCpuMs() - startMs;
  assert.ok(tookMs < ms, `took ${Math.round(tookMs)} ms`);
}

describe("grams", () => {
  test("of many sizes are refused in requests and in new settings, but not in stored ones", () => {
    const problem = /must be less than or equal to: \[50\] but was \[99999\].* edge_ngram/;
    assert.throws(() => new Analysis().chain({ ...none, tokenizer: ngram }), problem);
    assert.throws(() => filtered(ngram, "a"), problem);
    assert.throws(() => new Analysis({ filter: { wide: ngram } }), problem);
    const settings = {
      filter: { wide: ngram },
      analyzer: { own: { tokenizer: "keyword", filter: ["wide"] } },
    };
    const stored = new Analysis(settings, { isStored: true });
    assert.deepEqual(words(stored.analyzer("own"), "ab"), ["a", "ab", "b"]);
  });

  test("are made up to the limit only", () => {
    for (const type of ["ngram", "edge_ngram"]) {
      const part = { type, min_gram: 1, max_gram: 51 };
      for (const chain of [
        new Analysis().chain({ ...none, tokenizer: "keyword", filters: [part] }),
        new Analysis().chain({ ...none, tokenizer: part }),
      ])
        assert.equal([...chain.pieces("a".repeat(800), 30)].flat().length, 30, type);
    }
  });
});

describe("shingles", () => {
  const shingle = (max: number): PartSpec => ({ type: "shingle", max_shingle_size: max });

  test("may have more sizes than index.max_shingle_diff allows by default", () => {
    assert.equal(filteredWords(shingle(5), "a b c d e").at(4), "a b c d e");
  });

  test("of many sizes are refused in requests and in new settings, but not in stored ones", () => {
    const problem = /must be less than or equal to: \[6\] but was \[99\]/;
    assert.throws(() => filteredWords(shingle(100), "a"), problem);
    assert.throws(() => new Analysis({ filter: { wide: shingle(100) } }), problem);
    assert.ok(new Analysis({ filter: { wide: shingle(100) } }, { isStored: true }));
  });
});

describe("patterns of settings", () => {
  const text = `${"a".repeat(5_000)}!`;

  test("take time linear in the text", () => {
    within(20_000, () => {
      assert.deepEqual(filtered({ type: "pattern_capture", patterns: ["^(a+)+$"] }, text), [text]);
      assert.deepEqual(filtered({ type: "pattern_replace", pattern: "^(a|a)*$", replacement: "" }, text), [
        text,
      ]);
      assert.deepEqual(filtered({ type: "keyword_marker", keywords_pattern: "(a*)*b" }, text), [text]);
      const tokenizer = { type: "pattern", pattern: "(a+)+$" };
      assert.deepEqual(words(new Analysis().chain({ ...none, tokenizer }), text), [text]);
      const simple = { type: "simple_pattern", pattern: "(a|aa)+b" };
      assert.deepEqual(words(new Analysis().chain({ ...none, tokenizer: simple }), text), []);
      const charFilters = [{ type: "pattern_replace", pattern: "(a+)+b", replacement: "" }];
      assert.deepEqual(
        words(new Analysis().chain({ tokenizer: "keyword", filters: [], charFilters }), text),
        [text],
      );
    });
  });

  test("find what V8's engine finds", () => {
    const sources = [
      "(a+)(b*)c?",
      "(?:a|ab)(c|bcd)(d*)",
      "a*?b",
      "(x)?(y+)z",
      "[^a-c]+d",
      "\\bfoo\\b|bar+x",
      "(a{2,3}){2}",
      "(?<n>\\d+)\\.\\d+",
      "\\p{Lu}+\\p{Ll}*-",
      "é+.",
      "(|a)+b",
      "^a+b|c+$",
      "\\u{1F600}+.",
      "(a+|b+)*?c",
      ".+[.]x",
    ];
    const texts = [
      "aaabbc abcd xyz yyz",
      "foo bar barrrx",
      "12.5 3.",
      "ÉÀab-É éé! aab\nccc",
      "😀😀a 😀",
      "",
      "a.b.x aaaaa",
    ];
    for (const source of sources)
      for (const each of texts) {
        const expected = each.replaceAll(new RegExp(source, "gu"), "<$&>");
        assert.deepEqual(
          filtered({ type: "pattern_replace", pattern: source, replacement: "<$0>" }, each).join(),
          expected,
          `${source} in ${each}`,
        );
      }
    assert.deepEqual(filtered({ type: "pattern_capture", patterns: ["(a(b+))+(c)"] }, "xabbc"), [
      "xabbc",
      "abb",
      "bb",
      "c",
    ]);
  });

  test("may look around where nothing can be tried again, and are refused elsewhere", () => {
    const split = { type: "pattern", pattern: "(?<=[a-z])(?=[A-Z])|[^a-zA-Z]+" };
    assert.deepEqual(words(new Analysis().chain({ ...none, tokenizer: split }), "camelCase is"), [
      "camel",
      "Case",
      "is",
    ]);
    for (const pattern of ["(?=(a+)+b)", "(a+)\\1"]) {
      const problem = /can't run in time linear in the text: .* needs backtracking; write it without/;
      const part = { type: "pattern_replace", pattern };
      assert.throws(() => filtered(part, "a"), problem);
      assert.throws(() => new Analysis({ filter: { own: part } }), problem);
      assert.ok(new Analysis({ filter: { own: part } }, { isStored: true }));
    }
  });
});

describe("html_strip", () => {
  test("looks for each end once", () => {
    const chain = new Analysis().chain({ tokenizer: "keyword", filters: [], charFilters: ["html_strip"] });
    within(20_000, () => {
      for (const opening of ["<!--", "<script ", "<script>", "<!a", "<a ", "<style>"])
        assert.equal(chain.tokens(opening.repeat(100_000)).length, 1, opening);
    });
  });

  test("leaves what has no end", () => {
    const chain = new Analysis().chain({ tokenizer: "keyword", filters: [], charFilters: ["html_strip"] });
    const pairs = [
      ["a<!-- b --> c<!-- d", "a c<!-- d"],
      ["<p>x<script>y < z</script>w", "\nx\nw"],
      ["<script>a", "\na"],
      ["1 < 2 <b>c</b> <i <b>d", "1 < 2 c <i d"],
      ["<!doctype html>&lt;<![CDATA[x]]>", "<x"],
    ] as const;
    for (const [given, expected] of pairs) assert.deepEqual(words(chain, given), [expected]);
  });
});
