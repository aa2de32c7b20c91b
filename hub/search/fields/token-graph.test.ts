import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import type { Token } from "#hub/engine/analysis/analysis.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { graphParts, isGraph, wholeWays } from "./token-graph.ts";

const RULES = ["oom, out of memory", "db, data base", "fast, quick"];

const fixture = new IndexFixture({
  analysis: {
    filter: {
      graph: { type: "synonym_graph", synonyms: RULES },
      overlay: { type: "synonym", synonyms: RULES },
      pairs: { type: "shingle" },
      grams: { type: "common_grams", common_words: ["out", "of", "memory"] },
    },
    analyzer: {
      synonyms: { tokenizer: "standard", filter: ["lowercase", "graph"] },
      synonyms_stop: { tokenizer: "standard", filter: ["lowercase", "graph", "stop"] },
      overlaid: { tokenizer: "standard", filter: ["lowercase", "overlay"] },
      flat: { tokenizer: "standard", filter: ["lowercase", "graph", "flatten_graph"] },
      paired: { tokenizer: "standard", filter: ["lowercase", "pairs"] },
      grams: { tokenizer: "standard", filter: ["lowercase", "grams"] },
    },
  },
  mapping: {
    properties: {
      line: { type: "text" },
      also: { type: "text" },
      flat: { type: "text", analyzer: "flat", search_analyzer: "standard" },
      paired: { type: "text", analyzer: "paired" },
      grams: { type: "text", analyzer: "grams" },
      plain: { type: "text", index_options: "docs" },
    },
  },
  docs: [
    "worker killed oom today",
    "data base is out of memory today",
    "memory card left out of the box",
    "killed after out of memories",
    "oom",
    "quick data base",
  ].map((line, n) => ({
    n,
    line,
    flat: line,
    paired: line,
    grams: line,
    plain: line,
    ...(n === 4 && { also: "killed" }),
  })),
  segmentDocs: 4,
});
after(() => fixture.close());

async function found(query: JsonObject): Promise<unknown[]> {
  const { hits } = await fixture.search({ query, sort: ["n"] });
  return hits.map((hit) => Number(hit._id));
}

function match(query: string, options: JsonObject = {}): JsonObject {
  return { match: { line: { query, operator: "and", analyzer: "synonyms", ...options } } };
}

const string: JsonObject = { fields: ["line"], analyzer: "synonyms" };

/** [what is looked for, query, documents] */
const FOUND: readonly (readonly [what: string, query: JsonObject, documents: number[]])[] = [
  ["a synonym of several words", match("oom"), [0, 1, 4]],
  ["several words that have a synonym", match("out of memory"), [0, 1, 4]],
  ["such words after another", match("killed out of memory"), [0]],
  ["two such synonyms", match("db oom"), [1]],
  ["synonyms by `synonym`", match("killed out of memory", { analyzer: "overlaid" }), [0]],
  ["stacked synonyms beside them", match("fast db"), [5]],
  ["words in any order", match("oom", { auto_generate_synonyms_phrase_query: false }), [0, 1, 2, 4]],
  [
    "words of a field without positions",
    { match: { plain: { query: "oom", analyzer: "synonyms" } } },
    [0, 1, 2, 4],
  ],
  ["two of three parts", match("db oom killed", { operator: "or", minimum_should_match: 2 }), [0, 1]],
  ["a removed stop word", match("killed out of memory", { analyzer: "synonyms_stop" }), [0]],
  ["a phrase", { match_phrase: { line: { query: "oom today", analyzer: "synonyms" } } }, [0, 1]],
  [
    "a phrase of the long form",
    { match_phrase: { line: { query: "killed out of memory", analyzer: "synonyms" } } },
    [0],
  ],
  ["a phrase of a single way", { match_phrase: { line: { query: "oom", analyzer: "synonyms" } } }, [0, 1, 4]],
  [
    "a phrase whose words may be moved",
    { match_phrase: { line: { query: "db oom", analyzer: "synonyms", slop: 1 } } },
    [1],
  ],
  [
    "a phrase whose last word is a beginning",
    { match_phrase_prefix: { line: { query: "after out of memor", analyzer: "synonyms" } } },
    [3],
  ],
  [
    "a beginning with ways",
    { match_phrase_prefix: { line: { query: "oom", analyzer: "synonyms" } } },
    [0, 1, 4],
  ],
  [
    "a last word that is a beginning",
    { match_bool_prefix: { line: { query: "oom tod", analyzer: "synonyms", operator: "and" } } },
    [0, 1],
  ],
  [
    "words in any of several fields",
    {
      multi_match: {
        query: "killed oom",
        fields: ["line", "also"],
        type: "cross_fields",
        operator: "and",
        analyzer: "synonyms",
      },
    },
    [0, 4],
  ],
  [
    "intervals",
    {
      intervals: {
        line: { match: { query: "oom today", analyzer: "synonyms", max_gaps: 0, ordered: true } },
      },
    },
    [0, 1],
  ],
  [
    "a query string",
    { query_string: { query: "killed AND oom", fields: ["line"], analyzer: "synonyms" } },
    [0],
  ],
  [
    "adjacent words of a query string",
    { query_string: { query: "killed out of memory", default_operator: "and", ...string } },
    [0],
  ],
  ["such words beside others", { query_string: { query: "+worker out of memory", ...string } }, [0]],
  [
    "such words in a named field",
    { query_string: { query: "line:(data base) AND today", analyzer: "synonyms", fields: ["line"] } },
    [1],
  ],
  [
    "as many parts as a query string must have",
    { query_string: { query: "out of memory today killed", minimum_should_match: "100%", ...string } },
    [0],
  ],
  [
    "adjacent words in any of several fields",
    {
      query_string: {
        query: "killed out of memory",
        default_operator: "and",
        type: "cross_fields",
        fields: ["line", "also"],
        analyzer: "synonyms",
      },
    },
    [0, 4],
  ],
  [
    "a query string without phrases",
    {
      query_string: {
        query: "oom",
        fields: ["line"],
        analyzer: "synonyms",
        auto_generate_synonyms_phrase_query: false,
      },
    },
    [0, 1, 2, 4],
  ],
  [
    "a synonym of several words that was indexed",
    { match_phrase: { flat: "killed out of memory today" } },
    [0],
  ],
  ["shingles beside their words", { match: { paired: { query: "killed oom", operator: "and" } } }, [0]],
  [
    "common grams beside their words",
    { match: { grams: { query: "out of memory today", operator: "and" } } },
    [1],
  ],
];

suite("synonyms of several words", () => {
  for (const [what, query, documents] of FOUND)
    test(`a search finds ${what}`, async () => {
      assert.deepEqual(await found(query), documents);
    });

  test("a phrase of many of them is read word by word", async () => {
    const query = (text: string) => ({ match_phrase: { line: { query: text, analyzer: "synonyms" } } });
    assert.deepEqual(await found(query("oom today")), [0, 1]);
    assert.deepEqual(await found(query(Array(9).fill("oom").join(" "))), []);
  });

  test("an occurrence of a phrase scores the same whichever way it is of", async () => {
    const query = { match_phrase: { line: { query: "oom today", analyzer: "synonyms" } } };
    const { hits } = await fixture.search({ query });
    assert.deepEqual(
      hits.map(({ _id }) => _id),
      ["0", "1"],
      "the shorter text first",
    );
  });
});

function token(text: string, position: number, positionLength = 1, type = "word"): Token {
  return { text, startOffset: 0, endOffset: 0, type, position, positionLength };
}

suite("token graph", () => {
  test("words that the analyzer took out leave gaps", () => {
    const parts = graphParts([token("a", 0), token("x", 2, 3), token("b", 2), token("c", 4), token("d", 6)]);
    assert.deepEqual(
      parts.map(({ gap, ways }) => [gap, ways.length]),
      [
        [0, 1],
        [1, 2],
        [1, 1],
      ],
    );
    assert.deepEqual(
      wholeWays(parts)!.map((way) => way.map(({ terms, offset }) => `${terms.join("|")}@${offset}`)),
      [
        ["a@0", "x@2", "d@4"],
        ["a@0", "b@2", "c@4", "d@6"],
      ],
    );
  });

  test("tokens of one place each aren't a graph, nor are shingles", () => {
    assert.equal(isGraph([token("a", 0), token("b", 0), token("c", 1)]), false);
    assert.equal(isGraph([token("a", 0), token("a b", 0, 2, "shingle"), token("b", 1)]), false);
    assert.equal(isGraph([token("ab", 0, 2), token("a", 0), token("b", 1)]), true);
  });

  test("too many ways are refused", () => {
    const one = [token("ab", 0, 2), token("a", 0), token("b", 1)];
    const many = Array.from({ length: 11 }, (_, at) =>
      one.map((each) => ({ ...each, position: each.position + 2 * at })),
    ).flat();
    const refused = (error: unknown): boolean =>
      error instanceof AppError && error.code === "request_invalid";
    assert.equal(wholeWays(graphParts(many)), undefined, "each would be a phrase");
    const stretches = Array.from({ length: 700 }, (_, at) =>
      one.map((each) => ({ ...each, position: each.position + 2 * at })),
    ).flat();
    assert.throws(() => graphParts(stretches), refused, "of 2,100 words");
    const long = Array.from({ length: 2000 }, (_, at) => token("a", at));
    assert.throws(() => graphParts([token("all", 0, 2000), ...long]), refused);
  });
});
