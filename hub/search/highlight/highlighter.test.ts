import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { type Boundaries, BoundedSentences, sentences, VALUE_END, Words } from "./breaks.ts";
import { bestPassages } from "./unified.ts";

function offsets(text: string, boundaries: Boundaries): number[] {
  const found = [0];
  while (found.at(-1)! < text.length) found.push(boundaries.following(found.at(-1)!));
  return found;
}

describe("boundaries are those of Java's BreakIterator", () => {
  const SENTENCES: readonly (readonly [string, number[]])[] = [
    ["Hello world. This is it.", [0, 13, 24]],
    ["Hello world. this is it.", [0, 24]],
    ["a.B c", [0, 5]],
    ["A. 5 things", [0, 11]],
    ["Is it? yes. ok! good", [0, 7, 16, 20]],
    ["one\ntwo\n\nThree.", [0, 15]],
    ['Mr. (Big) "Yes." No.', [0, 4, 17, 20]],
    ["a. (b) c", [0, 3, 8]],
    ["a. - c", [0, 6]],
    ["v w", [0, 2, 3]],
    ["No.5 is. _a", [0, 9, 11]],
    ["日本。語", [0, 3, 4]],
    ["end... and. ...More", [0, 19]],
  ];
  for (const [text, expected] of SENTENCES) {
    test(`between sentences of ${JSON.stringify(text)}`, () => {
      assert.deepEqual(offsets(text, sentences(text)), expected);
    });
  }
  const WORDS: readonly (readonly [string, number[]])[] = [
    ["a b-c d_e f.g h,i 1,234.5 x1 1x", [0, 1, 2, 5, 6, 9, 10, 13, 14, 15, 16, 17, 18, 25, 26, 28, 29, 31]],
    ["isn't it, don't", [0, 5, 6, 8, 9, 10, 15]],
    ['[27/Nov/2026] "GET /"', [0, 1, 3, 4, 7, 8, 12, 13, 14, 15, 18, 19, 20, 21]],
    ["foo  bar, baz", [0, 3, 5, 8, 9, 10, 13]],
    ["user@example.com", [0, 4, 5, 16]],
    ["$100 50% #1 .5", [0, 4, 5, 8, 9, 11, 12, 14]],
    ["日本 ひらカタ", [0, 2, 3, 5, 7]],
    ["a: b\nc", [0, 1, 2, 3, 4, 5, 6]],
  ];
  for (const [text, expected] of WORDS) {
    test(`between words of ${JSON.stringify(text)}`, () => {
      assert.deepEqual(offsets(text, new Words(text)), expected);
      for (const [at, offset] of expected.entries())
        if (at > 0) assert.equal(new Words(text).preceding(offset), expected[at - 1]);
    });
  }
});

describe("fragments are those of a 6.5 server:", () => {
  const index = new IndexFixture({
    mapping: {
      properties: {
        a: { type: "text" },
        v: { type: "text", term_vector: "with_positions_offsets" },
        tags: { type: "keyword" },
        n: { type: "nested", properties: { c: { type: "text" } } },
      },
    },
    docs: [
      {
        a: "Search engines are old. Nothing else happened in this very long sentence that goes on and on without any of the words that we look for in it, until the quick engine. Does search work? Yes, a <b>search</b> does.",
        v: "Search engines are old. Nothing else happened in this very long sentence that goes on and on without any of the words that we look for in it, until the quick engine. Does search work? Yes, a <b>search</b> does.",
        tags: ["search", "x"],
        n: [{ c: "a search" }, { c: "none" }],
      },
      {
        a: ["One value with search in it. And more", "search engine", "nothing"],
        v: ["One value with search in it. And more", "search engine", "nothing"],
        tags: ["search", "x"],
        n: [{ c: "a search" }, { c: "none" }],
      },
    ],
  });
  after(() => index.close());

  const ROWS: readonly (readonly [query: JsonObject, highlight: JsonObject, ...fragments: JsonObject[]])[] = [
    [
      { match: { a: "search engine" } },
      { a: {} },
      {
        a: [
          "<em>Search</em> engines are old.",
          "long sentence that goes on and on without any of the words that we look for in it, until the quick <em>engine</em>",
          "Does <em>search</em> work? Yes, a <b><em>search</em></b> does.",
        ],
      },
      { a: ["One value with <em>search</em> in it. And more", "<em>search</em> <em>engine</em>"] },
    ],
    [
      { match: { a: "search engine" } },
      { a: { fragment_size: 40 } },
      {
        a: [
          "<em>Search</em> engines are old.",
          "that we look for in it, until the quick <em>engine</em>",
          "Does <em>search</em> work?",
          "Yes, a <b><em>search</em></b> does.",
        ],
      },
      { a: ["One value with <em>search</em> in it. And more", "<em>search</em> <em>engine</em>"] },
    ],
    [
      { match: { a: "search engine" } },
      { a: { number_of_fragments: 1 } },
      { a: ["Does <em>search</em> work? Yes, a <b><em>search</em></b> does."] },
      { a: ["<em>search</em> <em>engine</em>"] },
    ],
    [
      { match: { a: "search engine" } },
      { a: { number_of_fragments: 0 } },
      {
        a: [
          "<em>Search</em> engines are old. Nothing else happened in this very long sentence that goes on and on without any of the words that we look for in it, until the quick <em>engine</em>. Does <em>search</em> work? Yes, a <b><em>search</em></b> does.",
        ],
      },
      { a: ["One value with <em>search</em> in it. And more", "<em>search</em> <em>engine</em>"] },
    ],
    [
      { match: { a: "search engine" } },
      { a: { order: "score", fragment_size: 30, number_of_fragments: 2 } },
      { a: ["look for in it, until the quick <em>engine</em>", "Does <em>search</em> work?"] },
      { a: ["<em>search</em> <em>engine</em>", "One value with <em>search</em> in it."] },
    ],
    [
      { match: { a: "search engine" } },
      { a: { boundary_scanner: "word", number_of_fragments: 2 } },
      { a: ["<em>Search</em>", "<em>engine</em>"] },
      { a: ["<em>search</em>", "<em>engine</em>"] },
    ],
    [{ match_phrase: { a: "search engine" } }, { a: {} }, { a: ["<em>search</em> <em>engine</em>"] }],
    [{ match_all: {} }, { a: { no_match_size: 12 } }, { a: ["Search engines"] }, { a: ["One value with"] }],
    [
      { match_all: {} },
      { a: { no_match_size: 12, number_of_fragments: 0 } },
      { a: ["Search engines"] },
      { a: ["One value with"] },
    ],
    [
      { match: { a: "search engine" } },
      { a: { pre_tags: ["<1>", "<2>"], post_tags: ["</1>", "</2>"], number_of_fragments: 1 } },
      { a: ["Does <1>search</1> work? Yes, a <b><1>search</1></b> does."] },
      { a: ["<1>search</1> <1>engine</1>"] },
    ],
    [
      { match: { a: "search engine" } },
      { a: { type: "plain" } },
      {
        a: [
          " without any of the words that we look for in it, until the quick <em>engine</em>. Does <em>search</em> work? Yes, a <b><em>search</em></b> does.",
          "<em>Search</em> engines are old. Nothing else happened in this very long sentence that goes on and on",
        ],
      },
      { a: ["One value with <em>search</em> in it. And more", "<em>search</em> <em>engine</em>"] },
    ],
    [
      { match: { a: "search engine" } },
      { a: { type: "plain", fragment_size: 30 } },
      {
        a: [
          " the quick <em>engine</em>. Does <em>search</em>",
          "<em>Search</em> engines are old",
          " work? Yes, a <b><em>search</em></b> does.",
        ],
      },
      { a: ["One value with <em>search</em> in it. And more", "<em>search</em> <em>engine</em>"] },
    ],
    [
      { match: { a: "search engine" } },
      { a: { type: "plain", fragment_size: 30, order: "score", number_of_fragments: 2 } },
      { a: [" the quick <em>engine</em>. Does <em>search</em>", "<em>Search</em> engines are old"] },
      { a: ["<em>search</em> <em>engine</em>", "One value with <em>search</em> in it. And more"] },
    ],
    [
      { match: { a: "search engine" } },
      { a: { type: "plain", fragment_size: 20, fragmenter: "simple" } },
      {
        a: [
          " <em>engine</em>. Does <em>search</em>",
          "<em>Search</em> engines are",
          "><em>search</em></b> does.",
        ],
      },
      { a: [" <em>search</em> in it. And more", "<em>search</em> <em>engine</em>"] },
    ],
    [
      { match_phrase: { a: "search engine" } },
      { a: { type: "plain", fragment_size: 10 } },
      { a: ["<em>search</em> <em>engine</em>"] },
    ],
    [
      { match: { a: "search engine" } },
      { a: { type: "plain", number_of_fragments: 0 } },
      {
        a: [
          "<em>Search</em> engines are old. Nothing else happened in this very long sentence that goes on and on without any of the words that we look for in it, until the quick <em>engine</em>. Does <em>search</em> work? Yes, a <b><em>search</em></b> does.",
        ],
      },
      { a: ["One value with <em>search</em> in it. And more", "<em>search</em> <em>engine</em>"] },
    ],
    [{ match_all: {} }, { a: { type: "plain", no_match_size: 12 } }, { a: ["Search"] }, { a: ["One value"] }],
    [
      { match: { v: "search engine" } },
      { v: { type: "fvh" } },
      {
        v: [
          "<em>Search</em> engines are old. Nothing else happened in this very long sentence that goes on and on without",
          "look for in it, until the quick <em>engine</em>. Does <em>search</em> work? Yes, a <b><em>search</em></b> does.",
        ],
      },
      { v: ["One value with <em>search</em> in it. And more", "<em>search</em> <em>engine</em>"] },
    ],
    [
      { match: { v: "search engine" } },
      { v: { type: "fvh", fragment_size: 30 } },
      {
        v: [
          "<em>Search</em> engines are old. Nothing",
          "quick <em>engine</em>. Does <em>search</em> work?",
          " Yes, a <b><em>search</em></b> does.",
        ],
      },
      { v: ["One value with <em>search</em> in it. And more", "<em>search</em> <em>engine</em>"] },
    ],
    [
      { match_phrase: { v: "search engine" } },
      { v: { type: "fvh", fragment_size: 30 } },
      { v: ["<em>search engine</em>"] },
    ],
    [
      { match: { v: "search engine" } },
      { v: { type: "fvh", number_of_fragments: 0 } },
      {
        v: [
          "<em>Search</em> engines are old. Nothing else happened in this very long sentence that goes on and on without any of the words that we look for in it, until the quick <em>engine</em>. Does <em>search</em> work? Yes, a <b><em>search</em></b> does.",
        ],
      },
      { v: ["One value with <em>search</em> in it. And more", "<em>search</em> <em>engine</em>"] },
    ],
    [
      { match: { v: "search engine" } },
      { v: { type: "fvh", boundary_scanner: "sentence", fragment_size: 20 } },
      {
        v: [
          "<em>Search</em> engines are old. ",
          "Nothing else happened in this very long sentence that goes on and on without any of the words that we look for in it, until the quick <em>engine</em>. Does search work? ",
          "Does <em>search</em> work? Yes, a <b>search</b> does. ",
          "Yes, a <b><em>search</em></b> does.",
        ],
      },
      { v: ["One value with <em>search</em> in it. And more ", "And more <em>search</em> <em>engine</em>"] },
    ],
    [
      { match: { v: "search engine" } },
      { v: { type: "fvh", boundary_scanner: "word", fragment_size: 20 } },
      {
        v: [
          "<em>Search</em> engines are old",
          "the quick <em>engine</em>. Does search",
          " <em>search</em> work? Yes, a <",
          " <b><em>search</em></b> does.",
        ],
      },
      { v: ["value with <em>search</em> in it. ", " <em>search</em> <em>engine</em>"] },
    ],
    [
      { match: { v: "search engine" } },
      { v: { type: "fvh", phrase_limit: 1 } },
      {
        v: [
          "<em>Search</em> engines are old. Nothing else happened in this very long sentence that goes on and on without",
        ],
      },
      { v: ["One value with <em>search</em> in it. And more"] },
    ],
    [
      { match: { v: "search engine" } },
      {
        v: {
          type: "fvh",
          pre_tags: ["<1>", "<2>"],
          post_tags: ["</1>", "</2>"],
          order: "score",
          number_of_fragments: 1,
        },
      },
      {
        v: [
          "look for in it, until the quick <2>engine</2>. Does <1>search</1> work? Yes, a <b><1>search</1></b> does.",
        ],
      },
      { v: ["<1>search</1> <2>engine</2>"] },
    ],
    [
      { match: { v: "nothing" } },
      { v: { type: "fvh", pre_tags: [], post_tags: [], fragment_size: 18 } },
      { v: ["old. <em>Nothing</em> else happened"] },
      { v: ["<em>nothing</em>"] },
    ],
    [
      { match_all: {} },
      { v: { type: "fvh", no_match_size: 12 } },
      { v: ["Search engines"] },
      { v: ["One value with"] },
    ],
    [
      { term: { tags: "search" } },
      { tags: {} },
      { tags: ["<em>search</em>"] },
      { tags: ["<em>search</em>"] },
    ],
    [
      { nested: { path: "n", query: { match: { "n.c": "search" } } } },
      { "n.c": {} },
      { "n.c": ["a <em>search</em>"] },
      { "n.c": ["a <em>search</em>"] },
    ],
    [
      { range: { tags: { gte: "s" } } },
      { tags: {} },
      { tags: ["<em>search</em>", "<em>x</em>"] },
      { tags: ["<em>search</em>", "<em>x</em>"] },
    ],
  ];
  for (const [query, highlight, ...expected] of ROWS) {
    test(`${JSON.stringify(query)} ${JSON.stringify(highlight)}`, async () => {
      const { hits } = await index.search({ query, highlight: { fields: highlight }, sort: ["_doc"] });
      assert.deepEqual(
        hits.map((hit) => hit["highlight"] ?? {}),
        expected,
      );
    });
  }
});

test("many marks of a long text are cut into passages in few looks", () => {
  const words = 4000;
  const text = "words ".repeat(words).trimEnd();
  let looks = 0;
  const marks = Array.from({ length: words / 2 }, (_, at) => ({
    get start(): number {
      looks++;
      return 12 * at;
    },
    end: 12 * at + 11,
    term: "words",
  }));
  const passages = bestPassages(text, marks, new BoundedSentences(text, 50), words);
  assert.ok(passages.every(({ marks: inside }) => inside.length > 0));
  assert.ok(looks < 20 * marks.length, `${looks} looks`);
});

test("a passage ends with its value", () => {
  const text = `one.${VALUE_END}two. three.`;
  const boundaries = new BoundedSentences(text, 100);
  assert.equal(boundaries.preceding(2), 0);
  assert.equal(boundaries.following(), 5);
});

test("an unknown option is refused as by a 6.5 server", async () => {
  const index = new IndexFixture({ mapping: { properties: { a: { type: "text" } } }, docs: [{ a: "b" }] });
  after(() => index.close());
  for (const [highlight, message] of [
    [{ bogus: 1 }, "[highlight] unknown field [bogus], parser not found"],
    [{ fields: { a: { bogus: 1 } } }, "[highlight_field] unknown field [bogus], parser not found"],
  ] as const) {
    await assert.rejects(index.search({ highlight }), {
      message,
      data: { type: "x_content_parse_exception" },
    });
  }
});
