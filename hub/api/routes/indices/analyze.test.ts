import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { type Json, SearchRoutesFixture } from "#test/support/api/search-routes.ts";
import { analyzeRoutes } from "./analyze.ts";

const fixture = new SearchRoutesFixture({ routes: analyzeRoutes });
after(() => fixture.close());

async function detail(body: JsonObject, version?: string): Promise<Json> {
  const answer = await fixture.send("POST", "/_analyze", { ...body, explain: true, text: "Cars" }, version);
  return answer.body["detail"]!;
}

test("each step from the first that reads keywords on shows which tokens are", async () => {
  const filter = ["lowercase", { type: "keyword_marker", keywords: ["cars"] }, "snowball", "reverse"];
  const { tokenfilters } = await detail({ tokenizer: "standard", filter });
  const shown = Array.from(tokenfilters as unknown as Json[], ({ tokens }) => [
    tokens![0]!["token"],
    tokens![0]!["keyword"],
  ]);
  assert.deepEqual(shown, [
    ["cars", undefined],
    ["cars", true],
    ["cars", true],
    ["srac", true],
  ]);
});

test("parts without a name are named by their kind, from 7.0 on by their type", async () => {
  const body = {
    tokenizer: { type: "ngram" },
    filter: [{ type: "length" }],
    char_filter: [{ type: "html_strip" }],
  };
  for (const [version, names] of [
    ["6.5.4", ["_anonymous_charfilter", "_anonymous_tokenizer", "_anonymous_tokenfilter"]],
    ["7.10.2", ["__anonymous__html_strip", "__anonymous__ngram", "__anonymous__length"]],
  ] as const) {
    const { charfilters, tokenizer, tokenfilters } = await detail(body, version);
    assert.deepEqual([charfilters![0]!["name"], tokenizer!["name"], tokenfilters![0]!["name"]], names);
  }
  const normalizer = await detail({ filter: ["lowercase"] }, "7.10.2");
  assert.equal(normalizer["tokenizer"]!["name"], "keyword");
});
