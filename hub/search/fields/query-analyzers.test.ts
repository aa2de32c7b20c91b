/** Which analyzer the text of a query gets: that of the query, of the field, or one for all fields of the index. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

/** An analyzer that makes each word the name of the analyzer, so that documents show which one was used. */
const always = (name: string): JsonObject => ({
  type: "custom",
  tokenizer: "keyword",
  char_filter: [name],
});
const NAMES = ["default_search", "default_search_quoted", "own", "asked"];
const index = new IndexFixture({
  analysis: {
    char_filter: Object.fromEntries(
      NAMES.map((name) => [name, { type: "pattern_replace", pattern: ".+", replacement: name }]),
    ),
    analyzer: Object.fromEntries(NAMES.map((name) => [name, always(name)])),
  },
  mapping: {
    properties: {
      plain: { type: "text" },
      mapped: { type: "text", analyzer: "keyword" },
      search: { type: "text", analyzer: "keyword", search_analyzer: "own" },
      quote: { type: "text", analyzer: "keyword", search_quote_analyzer: "own" },
    },
  },
  docs: Object.fromEntries(
    [...NAMES, "word"].map((name) => [name, { plain: name, mapped: name, search: name, quote: name }]),
  ),
});
after(() => index.close());

/** [field, document of words, document of phrases] */
const ANALYZERS = [
  ["plain", "default_search", "default_search_quoted"],
  ["mapped", "word", "word"],
  ["search", "own", "own"],
  ["quote", "word", "own"],
] as const;

describe("the text of a query", () => {
  for (const [field, word, phrase] of ANALYZERS) {
    test(`is analysed for the field ${field} by ${word}, a phrase by ${phrase}`, async () => {
      const queries: readonly (readonly [JsonObject, string])[] = [
        [{ match: { [field]: "word" } }, word],
        [{ query_string: { query: `${field}:word` } }, word],
        [{ multi_match: { query: "word", fields: [field], type: "cross_fields" } }, word],
        [{ match_phrase: { [field]: "word" } }, phrase],
        [{ multi_match: { query: "word", fields: [field], type: "phrase" } }, phrase],
        [{ query_string: { query: `${field}:"word"` } }, phrase],
        [{ simple_query_string: { query: '"word"', fields: [field] } }, phrase],
        [{ query_string: { query: `${field}:"word"`, quote_analyzer: "asked" } }, "asked"],
        [{ query_string: { query: `${field}:"word"`, analyzer: "asked" } }, "asked"],
        [{ query_string: { query: `${field}:word`, quote_analyzer: "asked" } }, word],
      ];
      for (const [query, id] of queries)
        assert.deepEqual(await index.ids({ query }), [id], JSON.stringify(query));
    });
  }
});
