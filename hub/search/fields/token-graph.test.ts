import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { inspect } from "node:util";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const synonyms = ["united states of america, usa", "big apple => new york city, ny"];
const index = new IndexFixture({
  analysis: {
    filter: {
      wide: { type: "synonym_graph", synonyms },
      parts: { type: "word_delimiter_graph", catenate_all: true },
    },
    analyzer: {
      wide: { tokenizer: "standard", filter: ["lowercase", "wide"] },
      pairs: { tokenizer: "standard", filter: ["shingle"] },
      parts: { tokenizer: "keyword", filter: ["parts"] },
    },
  },
  mapping: { properties: { text: { type: "text" }, loose: { type: "text", index_options: "freqs" } } },
  docs: [
    { text: "made in USA", loose: "usa" },
    { text: "made in the United States of America", loose: "america of united states" },
    { text: "united made america of states" },
    { text: "new york city" },
    { text: "ny" },
    { text: "new city" },
  ],
});
after(() => index.close());

async function found(query: string, options: JsonObject = {}, field = "text"): Promise<unknown[]> {
  const match = { [field]: { query, analyzer: "wide", ...options } };
  const { hits } = await index.search({ query: { match }, sort: ["_doc"] });
  return hits.map((hit) => hit["_id"]);
}

describe("synonyms of several words in a match", () => {
  test("are phrases, beside the words that they stand for", async () => {
    assert.deepEqual(await found("usa"), ["0", "1"]);
    assert.deepEqual(await found("United States of America"), ["0", "1"]);
    assert.deepEqual(await found("big apple"), ["3", "4"]);
  });

  test("count as one word for the operator and minimum_should_match", async () => {
    assert.deepEqual(await found("made United States of America", { operator: "and" }), ["0", "1"]);
    assert.deepEqual(await found("usa in made", { minimum_should_match: 3 }), ["0", "1"]);
  });

  test("have their words anywhere in a field without positions", async () => {
    assert.deepEqual(await found("usa", {}, "loose"), ["0", "1"]);
  });
});

test("shingles stand beside their words", async () => {
  assert.deepEqual(await found("made america", { analyzer: "pairs" }), ["0", "1", "2"]);
});

test("a text of more overlapping tokens than a query may have clauses is refused", async () => {
  assert.deepEqual(await found("new-city", { analyzer: "parts" }), ["5"]);
  await assert.rejects(found("a-b-".repeat(600), { analyzer: "parts" }), (error: Error) =>
    inspect(error, { depth: 9 }).includes("more than 1024 ways"),
  );
});
