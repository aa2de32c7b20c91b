import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { IndexFixture } from "#test/support/search/shards.ts";
import { SentencesNear, sentences, VALUE_END } from "./breaks.ts";

test("sentences near a cut are those of the part alone", () => {
  for (const text of ['a. (b) c. "D" e! ) f', `One.. Two?${VALUE_END}three. -Four`, "no end. ... - "]) {
    const near = new SentencesNear(text);
    for (let at = 1; at < text.length; at++) {
      assert.equal(near.startBefore(at), sentences(text.slice(0, at)).preceding(at), text.slice(0, at));
      assert.equal(near.endBehind(at), at + sentences(text.slice(at)).following(0), text.slice(at));
    }
  }
});

describe("long texts and many values take time in proportion to their length:", () => {
  const index = new IndexFixture({
    mapping: { properties: { a: { type: "text" } } },
    docs: [{ a: "a b ".repeat(40_000) }, { a: Array.from({ length: 5000 }, () => "a b. C d") }],
  });
  after(() => index.close());
  const most = 1_000_000;

  for (const [name, options, counts] of [
    ["a phrase", { type: "plain", number_of_fragments: most }, [1600, 5000]],
    ["all of fvh", { type: "fvh", phrase_limit: most, number_of_fragments: 0 }, [1, 5000]],
    [
      "sentences of fvh",
      { type: "fvh", phrase_limit: most, number_of_fragments: most, boundary_scanner: "sentence" },
      [1600, 4889],
    ],
    [
      "distant boundaries of fvh",
      {
        type: "fvh",
        phrase_limit: most,
        number_of_fragments: most,
        boundary_max_scan: most,
        boundary_chars: "x",
      },
      [1600, 4889],
    ],
  ] as const) {
    test(name, { timeout: 20_000 }, async () => {
      const highlight = { fields: { a: options } };
      const { hits } = await index.search({
        query: { match_phrase: { a: "a b" } },
        highlight,
        sort: ["_doc"],
      });
      const found = hits.map((hit) => (hit["highlight"] as { a: string[] }).a.length);
      assert.deepEqual(found, counts);
    });
  }
});
