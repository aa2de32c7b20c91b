import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Random } from "#test/support/engine/random.ts";
import { Analysis } from "./analysis.ts";
import { lowercase } from "./token-filters/folding.ts";
import { hashTerm, tokenizeAscii } from "./tokenizers/ascii-tokenizer.ts";
import { standardTokenizer } from "./tokenizers/standard-tokenizer.ts";

const analysis = new Analysis();

function words(name: string, text: string): string[] {
  return analysis
    .analyzer(name)
    .tokens(text)
    .map((token) => token.text);
}

suite("the standard analyzer", () => {
  const rows: readonly (readonly [text: string, words: readonly string[]])[] = [
    ["Hello, World!", ["hello", "world"]],
    ["192.168.0.1 - GET /a/b.html", ["192.168.0.1", "get", "a", "b.html"]],
    ["foo.bar a-b user_id C:/x", ["foo.bar", "a", "b", "user_id", "c", "x"]],
    ["me@example.com", ["me", "example.com"]],
    ["can't 1,234.5 v1.2 x.1", ["can't", "1,234.5", "v1.2", "x", "1"]],
    ["a:b 12:30 _ __ _x", ["a:b", "12", "30", "_x"]],
    ["Größe Straße ÄÖÜ", ["größe", "straße", "äöü"]],
    ["東京 です カタカナ", ["東", "京", "で", "す", "カタカナ"]],
    ["한국어 text", ["한국어", "text"]],
    ["e\u0301te\u0301", ["e\u0301te\u0301"]],
    ["👍 ok", ["ok"]],
    ["İstanbul", ["istanbul"]],
    ["", []],
  ];
  for (const [text, expected] of rows) {
    test(`cuts ${JSON.stringify(text)}`, () => assert.deepEqual(words("standard", text), expected));
  }

  test("cuts a word of more than 255 characters into pieces", () => {
    assert.deepEqual(
      words("standard", "x".repeat(600)).map((word) => word.length),
      [255, 255, 90],
    );
  });

  test("gives offsets, types and positions", () => {
    assert.deepEqual(analysis.analyzer("standard").tokens("The 2 東"), [
      { text: "the", startOffset: 0, endOffset: 3, type: "<ALPHANUM>", position: 0 },
      { text: "2", startOffset: 4, endOffset: 5, type: "<NUM>", position: 1 },
      { text: "東", startOffset: 6, endOffset: 7, type: "<IDEOGRAPHIC>", position: 2 },
    ]);
  });

  test("gives the same words on its ASCII fast path as on the exact one", () => {
    const random = new Random(7);
    const alphabet = "aZ09_.,:;'- /\"@\t";
    const exact = standardTokenizer();
    for (let round = 0; round < 3000; round++) {
      let text = "";
      for (let length = random.below(40); length > 0; length--)
        text += alphabet[random.below(alphabet.length)]!;
      if (random.oneIn(50)) text += `${"a".repeat(250 + random.below(10))}.b1,2${"c".repeat(300)}`;
      const fast: [string, number][] = [];
      const bytes = Buffer.from(`<<${text}>>`);
      tokenizeAscii(bytes, 2, bytes.length - 2, 5, 0, {
        term(word, length, hash, position) {
          assert.equal(hash, hashTerm(word, 0, length, 5));
          fast.push([Buffer.from(word.subarray(0, length)).toString(), position]);
        },
      });
      const expected = exact(text).map((token) => [lowercase(token.text), token.position]);
      assert.deepEqual(fast, expected, JSON.stringify(text));
    }
  });
});

suite("other analyzers", () => {
  const rows: readonly (readonly [analyzer: string, text: string, words: readonly string[]])[] = [
    ["simple", "Foo-Bar 12 b4z", ["foo", "bar", "b", "z"]],
    ["whitespace", "Foo-Bar  12", ["Foo-Bar", "12"]],
    ["keyword", "Foo Bar", ["Foo Bar"]],
    ["stop", "The quick and the dead", ["quick", "dead"]],
    ["pattern", "a,b;C", ["a", "b", "c"]],
    ["english", "The foxes' running ponies were connected", ["fox", "run", "poni", "were", "connect"]],
  ];
  for (const [name, text, expected] of rows) {
    test(`${name} cuts ${text}`, () => assert.deepEqual(words(name, text), expected));
  }

  test("an unknown analyzer is refused with the wording of 6.5", () => {
    assert.throws(() => analysis.analyzer("nope"), { message: "failed to find global analyzer [nope]" });
  });
});

suite("custom chains", () => {
  const chains: readonly (readonly [
    name: string,
    spec: Parameters<Analysis["chain"]>[0],
    text: string,
    words: readonly string[],
  ])[] = [
    [
      "html_strip",
      { tokenizer: "standard", filters: ["lowercase"], charFilters: ["html_strip"] },
      "<p>A &amp; B</p>",
      ["a", "b"],
    ],
    [
      "stop",
      { tokenizer: "standard", filters: ["lowercase", { type: "stop", stopwords: ["a"] }], charFilters: [] },
      "A b",
      ["b"],
    ],
    [
      "edge_ngram",
      { tokenizer: { type: "edge_ngram", min_gram: 1, max_gram: 3 }, filters: [], charFilters: [] },
      "abcd",
      ["a", "ab", "abc"],
    ],
    [
      "ngram",
      { tokenizer: { type: "ngram" }, filters: [], charFilters: [] },
      "abc",
      ["a", "ab", "b", "bc", "c"],
    ],
    [
      "path",
      { tokenizer: "path_hierarchy", filters: [], charFilters: [] },
      "/a/b/c",
      ["/a", "/a/b", "/a/b/c"],
    ],
    [
      "asciifolding",
      { tokenizer: "keyword", filters: ["asciifolding"], charFilters: [] },
      "Ærø Straße é",
      ["AEro Strasse e"],
    ],
    ["unique", { tokenizer: "whitespace", filters: ["unique"], charFilters: [] }, "a b a", ["a", "b"]],
    [
      "uax_url_email",
      { tokenizer: "uax_url_email", filters: [], charFilters: [] },
      "mail me@x.org or http://x.org/a.",
      ["mail", "me@x.org", "or", "http://x.org/a"],
    ],
    [
      "mapping",
      { tokenizer: "whitespace", filters: [], charFilters: [{ type: "mapping", mappings: ["ph => f"] }] },
      "phone",
      ["fone"],
    ],
  ];
  for (const [name, spec, text, expected] of chains) {
    test(`${name} makes ${expected.join(" ")}`, () => {
      assert.deepEqual(
        analysis
          .chain(spec)
          .tokens(text)
          .map((token) => token.text),
        expected,
      );
    });
  }

  test("what unique leaves out leaves no gap in the positions", () => {
    const tokens = new Analysis()
      .chain({ tokenizer: "whitespace", filters: ["unique"], charFilters: [] })
      .tokens("a a b a c");
    assert.deepEqual(
      tokens.map(({ text, position }) => [text, position]),
      [
        ["a", 0],
        ["b", 1],
        ["c", 2],
      ],
    );
  });

  test("offsets lead back to the text before character filters, a closing tag included", () => {
    const [token] = analysis
      .chain({ tokenizer: "standard", filters: [], charFilters: ["html_strip"] })
      .tokens("<b>word</b>");
    assert.deepEqual([token?.startOffset, token?.endOffset], [3, 11]);
  });

  test("removed tokens leave gaps in the positions", () => {
    assert.deepEqual(
      analysis
        .analyzer("stop")
        .tokens("the fox and hound")
        .map((token) => token.position),
      [1, 3],
    );
  });

  const unknown: readonly (readonly [spec: Parameters<Analysis["chain"]>[0], message: string])[] = [
    [{ tokenizer: "x", filters: [], charFilters: [] }, "failed to find global tokenizer under [x]"],
    [
      { tokenizer: "standard", filters: ["x"], charFilters: [] },
      "failed to find global token filter under [x]",
    ],
  ];
  for (const [spec, message] of unknown) {
    test(message, () => assert.throws(() => analysis.chain(spec), { message }));
  }

  test("index settings define analyzers and normalizers by name", () => {
    const own = new Analysis({
      analyzer: { mine: { type: "custom", tokenizer: "standard", filter: ["lowercase", "short"] } },
      filter: { short: { type: "truncate", length: 2 } },
      normalizer: { lower: { type: "custom", filter: ["lowercase"] } },
    });
    assert.deepEqual(
      own
        .analyzer("mine")
        .tokens("Hello World")
        .map((token) => token.text),
      ["he", "wo"],
    );
    assert.equal(own.normalize("lower", "ABC"), "abc");
  });

  test("a mistake in index settings is named", () => {
    assert.throws(() => new Analysis({ analyzer: { a: { tokenizer: "nope" } } }), {
      code: "settings_invalid",
      message: "failed to find global tokenizer under [nope]",
    });
  });

  test("the pieces of a long text hold the tokens of the whole", () => {
    const parts = [
      "the running",
      "can't",
      "e\u0301te\u0301",
      " \u0301x",
      "\n",
      "東京",
      "a.b ",
      "x".repeat(300),
      "me@b.com",
    ];
    const random = new Random(7);
    const text = Array.from({ length: 6_000 }, () => parts[random.below(parts.length)]).join(" ");
    const chains = ["standard", "english", "stop", "whitespace", "simple", "keyword", "pattern"].map((name) =>
      analysis.analyzer(name),
    );
    const own = analysis.chain({
      tokenizer: "uax_url_email",
      filters: ["lowercase", "stop"],
      charFilters: [],
    });
    for (const chain of [...chains, own]) {
      const pieces = [...chain.pieces(text)];
      assert.deepEqual(pieces.flat(), chain.tokens(text), chain.name);
      assert.equal(pieces.length > 4, !["keyword", "pattern"].includes(chain.name), chain.name);
    }
  });

  test("a filter that looks at several tokens gets them all at once", () => {
    const chain = analysis.chain({ tokenizer: "whitespace", filters: ["shingle"], charFilters: [] });
    assert.equal([...chain.pieces("a b ".repeat(5_000))].length, 1);
  });
});
