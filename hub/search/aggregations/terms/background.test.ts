import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

/** Four days of six documents, three of them of the class that is searched. */
const DOCS = Array.from({ length: 24 }, (_, at) => ({
  time: `2026-03-${String(1 + Math.floor(at / 6)).padStart(2, "0")}T12:00:00Z`,
  class: at % 6 < 3 ? "bad" : "good",
  // Each of three shards has documents of the class, all with this term.
  tag: at % 6 < 4 ? "often" : "rare",
}));

const SIGNIFICANT = { significant_terms: { field: "tag", min_doc_count: 1 } };
const BELOW_DATES = {
  size: 0,
  query: { term: { class: "bad" } },
  aggs: {
    words: SIGNIFICANT,
    dates: { auto_date_histogram: { field: "time", buckets: 1 }, aggs: { words: SIGNIFICANT } },
  },
};

for (const shards of [1, 3])
  test(`joined buckets are compared with all documents once, ${shards} shards`, async () => {
    const fixture = new IndexFixture({
      mapping: {
        properties: { time: { type: "date" }, class: { type: "keyword" }, tag: { type: "keyword" } },
      },
      docs: DOCS,
      shards,
      segmentDocs: 5,
    });
    try {
      const { aggregations } = await fixture.search(BELOW_DATES);
      const { buckets } = aggregations!["dates"] as { buckets: JsonObject[] };
      assert.equal(buckets.length, 1);
      const words = aggregations!["words"] as { bg_count: number; buckets: JsonObject[] };
      assert.equal(words.bg_count, 24);
      assert.deepEqual(
        words.buckets.map((bucket) => [bucket["key"], bucket["doc_count"], bucket["bg_count"]]),
        [["often", 12, 16]],
      );
      assert.deepEqual(buckets[0]!["words"], words);
    } finally {
      fixture.close();
    }
  });
