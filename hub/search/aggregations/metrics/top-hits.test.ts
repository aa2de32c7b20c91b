import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Hit } from "#hub/search/execute/fetch/fetch-hit.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const mapping = {
  properties: { text: { type: "text" }, tags: { type: "keyword" }, n: { type: "long" } },
};

/** The best documents for "post" come late, and one document is in two buckets. */
const docs: readonly JsonObject[] = [
  { text: "get nothing at all from here", tags: ["a"], n: 1 },
  { text: "post among very many other words of a long line", tags: ["a"], n: 2 },
  { text: "post of a line", tags: ["b", "a"], n: 3 },
  { text: "post post post", tags: ["a"], n: 4 },
  { text: "post post", tags: ["b"], n: 5 },
  { text: "delete", tags: ["b"], n: 6 },
];

const one = new IndexFixture({ mapping, docs, segmentDocs: 2 });
const many = new IndexFixture({ mapping, docs, shards: 3 });
after(() => {
  one.close();
  many.close();
});

const QUERY = { match: { text: "post" } };

interface Top {
  readonly total: number;
  readonly max_score: number | null;
  readonly hits: readonly Hit[];
}

async function topOf(fixture: IndexFixture, options: JsonObject, above: JsonObject = {}): Promise<Top> {
  const { aggregations } = await fixture.search({
    size: 0,
    query: QUERY,
    aggs: { best: { top_hits: options } },
    ...above,
  });
  return (aggregations!["best"] as { hits: Top }).hits;
}

/** Scores are of single precision; those of buckets are printed with as many digits. */
const scoresOf = (hits: readonly Hit[]): unknown[] =>
  hits.map(({ _id, _score }) => [_id, Math.fround(Number(_score))]);

describe("top_hits without a sort", () => {
  for (const [name, fixture] of Object.entries({ "one shard": one, "several shards": many })) {
    test(`gives the hits of the search, in their order and with their scores, over ${name}`, async () => {
      const search = await fixture.search({ query: QUERY });
      const { total, max_score, hits } = await topOf(fixture, { size: 10 });
      assert.deepEqual(scoresOf(hits), scoresOf(search.hits));
      assert.deepEqual([total, Math.fround(max_score!)], [4, search.maxScore]);
      assert.ok(new Set(hits.map(({ _score }) => _score)).size > 2, "the scores differ");
    });
  }

  test("gives the best hits of each bucket; a document of two buckets is in both", async () => {
    const search = await one.search({ query: QUERY });
    const scores = new Map(search.hits.map(({ _id, _score }) => [_id, Math.fround(Number(_score))]));
    const { aggregations } = await one.search({
      size: 0,
      query: QUERY,
      aggs: {
        tags: { terms: { field: "tags", order: { _key: "asc" } }, aggs: { best: { top_hits: { size: 2 } } } },
      },
    });
    const { buckets } = aggregations!["tags"] as { buckets: { key: string; best: { hits: Top } }[] };
    assert.deepEqual(
      buckets.map(({ key, best }) => [key, best.hits.total, scoresOf(best.hits.hits)]),
      [
        ["a", 3, ["3", "2"].map((id) => [id, scores.get(id)])],
        ["b", 2, ["4", "2"].map((id) => [id, scores.get(id)])],
      ],
    );
  });

  test("skips hits with from and shows no sort values", async () => {
    const all = await topOf(one, { size: 3 });
    const rest = await topOf(one, { from: 1, size: 2 });
    assert.deepEqual(rest.hits, all.hits.slice(1));
    assert.equal(rest.max_score, all.max_score);
    assert.ok(rest.hits.every((hit) => !("sort" in hit)));
  });

  test("explains the score by the query", async () => {
    const { hits } = await topOf(one, { explain: true });
    const search = await one.search({ query: QUERY, explain: true });
    assert.deepEqual(hits[0]!["_explanation"], search.hits[0]!["_explanation"]);
    const { value } = hits[0]!["_explanation"] as { value: number };
    assert.ok(Math.abs(value - (hits[0]!["_score"] as number)) < 1e-6);
  });

  test("marks what the query found", async () => {
    const { hits } = await topOf(one, { size: 1, highlight: { fields: { text: {} } } });
    assert.deepEqual(hits[0]!["highlight"], { text: ["<em>post</em> <em>post</em> <em>post</em>"] });
  });

  test("below global sees every document with the score 1", async () => {
    const { aggregations } = await one.search({
      size: 0,
      query: QUERY,
      aggs: { all: { global: {}, aggs: { best: { top_hits: { size: 10 } } } } },
    });
    const { best } = aggregations!["all"] as { best: { hits: Top } };
    assert.deepEqual([best.hits.total, best.hits.max_score], [6, 1]);
    assert.deepEqual(
      best.hits.hits.map(({ _score }) => _score),
      [1, 1, 1, 1, 1, 1],
    );
  });
});

describe("top_hits with a sort", () => {
  test("has scores with track_scores only", async () => {
    const sort = [{ n: "desc" }];
    const plain = await topOf(one, { sort });
    assert.equal(plain.max_score, null);
    assert.deepEqual(
      plain.hits.map(({ _id, _score, sort: values }) => [_id, _score, values]),
      [
        ["4", null, [5]],
        ["3", null, [4]],
        ["2", null, [3]],
      ],
    );
    const tracked = await topOf(one, { sort, track_scores: true });
    const search = await one.search({ query: QUERY, sort, track_scores: true });
    assert.deepEqual(scoresOf(tracked.hits), scoresOf(search.hits.slice(0, 3)));
    assert.equal(Math.fround(tracked.max_score!), search.maxScore);
  });

  test("takes the score as one key among others", async () => {
    const sort = [{ _score: "asc" }, { n: "desc" }];
    const { hits } = await topOf(one, { sort, size: 10 });
    const search = await one.search({ query: QUERY, sort });
    assert.deepEqual(
      hits.map((hit) => [hit["_id"], hit["sort"]]),
      search.hits.map((hit) => [hit["_id"], hit["sort"]]),
    );
  });
});
