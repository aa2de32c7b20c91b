import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const MAPPING = {
  properties: {
    title: { type: "text" },
    n: { type: "long" },
    comments: {
      type: "nested",
      properties: {
        author: { type: "keyword" },
        text: { type: "text" },
        stars: { type: "long" },
        at: { type: "geo_point" },
        replies: { type: "nested", properties: { author: { type: "keyword" }, likes: { type: "long" } } },
      },
    },
    tags: { type: "nested", include_in_parent: true, properties: { name: { type: "keyword" } } },
  },
};

const DOCS: Readonly<Record<string, JsonObject>> = {
  a: {
    n: 1,
    title: "first",
    comments: [
      { author: "kim", text: "quick brown fox", stars: 5, replies: [{ author: "lee", likes: 3 }] },
      {
        author: "lee",
        text: "lazy dog",
        stars: 1,
        replies: [{ author: "kim", likes: 9 }, { author: "max" }],
      },
    ],
    tags: [{ name: "red" }],
  },
  b: { n: 2, title: "second", comments: { author: "kim", text: "lazy fox", stars: 3 } },
  c: { n: 3, title: "third" },
  d: { n: 4, "comments.author": "max", comments: [{ author: "max", text: "quick quick", stars: 4 }, null] },
  e: {
    n: 5,
    comments: [
      { author: "kim", stars: 2 },
      { author: "kim", text: "quick", stars: 9007199254740 },
    ],
  },
  gone: { n: 6, comments: [{ author: "kim", text: "quick fox", stars: 5 }] },
};

const one = new IndexFixture({ mapping: MAPPING, docs: DOCS, deleted: ["gone"] });
const many = new IndexFixture({ mapping: MAPPING, docs: DOCS, deleted: ["gone"], segmentDocs: 2, shards: 2 });
after(() => {
  one.close();
  many.close();
});

function among(query: JsonObject, more: JsonObject = {}): JsonObject {
  return { nested: { path: "comments", query, ...more } };
}

/** Ids in the order of n, the same in one segment and in several shards. */
async function ids(query: JsonObject): Promise<string> {
  const found = await one.ids({ query, sort: ["n"] });
  assert.deepEqual(await many.ids({ query, sort: ["n"] }), found);
  return found.join("");
}

const both = (author: string, text: string): JsonObject => ({
  bool: { must: [{ term: { "comments.author": author } }, { match: { "comments.text": text } }] },
});

/** [query, ids] */
const QUERIES: readonly (readonly [JsonObject, string])[] = [
  [among(both("kim", "fox")), "ab"],
  [among(both("kim", "lazy")), "b"],
  [among(both("lee", "fox")), ""],
  [among({ range: { "comments.stars": { gte: 4 } } }), "ade"],
  [among({ match_phrase: { "comments.text": "brown fox" } }), "a"],
  [among({ exists: { field: "comments.text" } }), "abde"],
  [among({ prefix: { "comments.author": "m" } }), "d"],
  [among({ match_all: {} }), "abde"],
  [{ bool: { must_not: [among({ match_all: {} })] } }, "c"],
  [
    { bool: { must: [{ match: { title: "second" } }], filter: [among({ term: { "comments.stars": 3 } })] } },
    "b",
  ],
  // Fields of objects aren't those of the document, nor the reverse.
  [{ term: { "comments.author": "kim" } }, ""],
  [{ exists: { field: "comments.author" } }, ""],
  [{ query_string: { query: "kim" } }, ""],
  [among({ term: { n: 1 } }), ""],
  // but those that are included in their parent.
  [{ term: { "tags.name": "red" } }, "a"],
  // Objects within objects, by a way and at once.
  [
    among({ nested: { path: "comments.replies", query: { term: { "comments.replies.author": "kim" } } } }),
    "a",
  ],
  [{ nested: { path: "comments.replies", query: { range: { "comments.replies.likes": { lt: 5 } } } } }, "a"],
  [
    among({
      bool: {
        must: [
          { term: { "comments.author": "kim" } },
          { nested: { path: "comments.replies", query: { term: { "comments.replies.author": "kim" } } } },
        ],
      },
    }),
    "",
  ],
  [{ nested: { path: "nothing", query: { match_all: {} }, ignore_unmapped: true } }, ""],
];

suite("nested queries", () => {
  for (const [query, wanted] of QUERIES) {
    test(`${JSON.stringify(query)} finds ${wanted || "nothing"}`, async () => {
      assert.equal(await ids(query), wanted);
      const { total } = await one.search({ query, size: 0 });
      assert.equal(total, wanted.length);
    });
  }

  test("score by the mode", async () => {
    const score = async (mode: string): Promise<number> => {
      const query = among(
        {
          function_score: {
            query: { match_all: {} },
            script_score: { script: "doc['comments.stars'].value" },
          },
        },
        { score_mode: mode },
      );
      const { hits } = await one.search({
        query: { bool: { must: [query], filter: [{ ids: { values: ["a"] } }] } },
      });
      return hits[0]!["_score"] as number;
    };
    assert.deepEqual(await Promise.all(["avg", "sum", "min", "max", "none"].map(score)), [3, 6, 1, 5, 0]);
  });

  test("refuse a path that isn't a nested object", async () => {
    await assert.rejects(
      one.ids({ query: { nested: { path: "title", query: { match_all: {} } } } }),
      (error) => {
        assert.ok(error instanceof AppError && error.status === 400 && error.cause instanceof AppError);
        assert.equal(error.cause.message, "[nested] failed to find nested object under path [title]");
        return true;
      },
    );
  });
});

suite("inner hits", () => {
  test("are the matching objects with their places", async () => {
    const query = among({ match: { "comments.text": "lazy" } }, { inner_hits: {} });
    const [hit] = (await one.search({ query, sort: ["n"] })).hits;
    const { hits } = (hit!["inner_hits"] as JsonObject)["comments"] as { hits: JsonObject };
    const [object] = hits["hits"] as JsonObject[];
    assert.equal(hits["total"], 1);
    assert.ok((hits["max_score"] as number) > 0);
    assert.equal(object!["_id"], "a");
    assert.deepEqual(object!["_nested"], { field: "comments", offset: 1 });
    assert.deepEqual(object!["_source"], (DOCS["a"]!["comments"] as JsonObject[])[1]);
  });

  test("are sorted, paged, filtered and marked as they ask", async () => {
    const inner = {
      name: "best",
      size: 1,
      from: 1,
      sort: [{ "comments.stars": "desc" }],
      _source: ["comments.author"],
      highlight: { fields: { "comments.text": {} } },
      docvalue_fields: ["comments.stars"],
    };
    const query = among({ match: { "comments.text": "quick lazy" } }, { inner_hits: inner });
    const [hit] = (await one.search({ query, sort: ["n"] })).hits;
    const { hits } = (hit!["inner_hits"] as JsonObject)["best"] as { hits: JsonObject };
    assert.equal(hits["total"], 2);
    const [object] = hits["hits"] as JsonObject[];
    assert.deepEqual(object!["sort"], [1]);
    assert.deepEqual(object!["_source"], { author: "lee" });
    assert.deepEqual(object!["fields"], { "comments.stars": [1] });
    assert.deepEqual(object!["highlight"], { "comments.text": ["<em>lazy</em> dog"] });
  });

  test("of objects within objects name both places", async () => {
    const replies = {
      path: "comments.replies",
      query: { term: { "comments.replies.author": "max" } },
      inner_hits: {},
    };
    const query = among({ nested: replies }, { inner_hits: {} });
    const [hit] = (await many.search({ query })).hits;
    const outer = (hit!["inner_hits"] as JsonObject)["comments"] as { hits: { hits: JsonObject[] } };
    const inner = (outer.hits.hits[0]!["inner_hits"] as JsonObject)["comments.replies"] as typeof outer;
    assert.deepEqual(inner.hits.hits[0]!["_nested"], {
      field: "comments",
      offset: 1,
      _nested: { field: "replies", offset: 1 },
    });
    assert.deepEqual(inner.hits.hits[0]!["_source"], { author: "max" });
  });

  test("of the same name are refused", async () => {
    const inner = among({ match_all: {} }, { inner_hits: {} });
    await assert.rejects(
      one.ids({ query: { bool: { should: [inner, inner] } } }),
      /already contains an entry/,
    );
  });
});

suite("aggregations of nested objects", () => {
  const AGGS = {
    comments: {
      nested: { path: "comments" },
      aggs: {
        authors: {
          terms: { field: "comments.author", order: { "documents>n.sum": "desc" } },
          aggs: {
            stars: { min: { field: "comments.stars" } },
            documents: { reverse_nested: {}, aggs: { n: { stats: { field: "n" } } } },
          },
        },
        replies: {
          nested: { path: "comments.replies" },
          aggs: {
            comments: {
              reverse_nested: { path: "comments" },
              aggs: { stars: { sum: { field: "comments.stars" } } },
            },
          },
        },
      },
    },
  };

  test("count objects, and documents once", async () => {
    for (const fixture of [one, many]) {
      const { aggregations } = await fixture.search({ size: 0, aggs: AGGS });
      const comments = aggregations!["comments"] as JsonObject;
      assert.equal(comments["doc_count"], 6);
      const { buckets } = comments["authors"] as { buckets: JsonObject[] };
      const shown = buckets.map((bucket) => {
        const documents = bucket["documents"] as { doc_count: number; n: { sum: number } };
        const stars = (bucket["stars"] as JsonObject)["value"];
        return [bucket["key"], bucket["doc_count"], stars, documents.doc_count, documents.n.sum];
      });
      assert.deepEqual(shown, [
        ["kim", 4, 2, 3, 8],
        ["max", 1, 4, 1, 4],
        ["lee", 1, 1, 1, 1],
      ]);
      const replies = comments["replies"] as JsonObject;
      assert.deepEqual(replies, { doc_count: 3, comments: { doc_count: 2, stars: { value: 6 } } });
    }
  });

  test("see the documents of the query alone", async () => {
    const aggs = { c: { nested: { path: "comments" }, aggs: { top: { top_hits: { size: 1 } } } } };
    const { aggregations } = await one.search({ size: 0, query: { term: { n: 2 } }, aggs });
    const found = aggregations!["c"] as { doc_count: number; top: { hits: { hits: JsonObject[] } } };
    assert.equal(found.doc_count, 1);
    assert.deepEqual(found.top.hits.hits[0]!["_nested"], { field: "comments", offset: 0 });
  });

  test("see the scores of the documents, also below nested objects of objects and back at documents", async () => {
    const body = {
      size: 0,
      query: { function_score: { field_value_factor: { field: "n" }, boost_mode: "replace" } },
      aggs: {
        c: {
          nested: { path: "comments" },
          aggs: {
            authors: {
              terms: { field: "comments.author", order: { best: "desc" } },
              aggs: { best: { max: { script: "_score" } }, top: { top_hits: { size: 2 } } },
            },
            documents: { reverse_nested: {}, aggs: { top: { top_hits: { size: 3 } } } },
            some: { sampler: { shard_size: 1 }, aggs: { stars: { max: { field: "comments.stars" } } } },
          },
        },
        replies: { nested: { path: "comments.replies" }, aggs: { top: { top_hits: { size: 5 } } } },
      },
    };
    interface Top {
      readonly top: { readonly hits: { readonly max_score: number; readonly hits: readonly JsonObject[] } };
    }
    const scored = ({ top }: Top): unknown =>
      top.hits.hits.map((hit) => `${String(hit["_id"])} ${String(hit["_score"])}`);
    for (const fixture of [one, many]) {
      const { aggregations } = await fixture.search(body);
      const { c, replies } = aggregations as unknown as {
        c: {
          authors: { buckets: readonly (Top & { readonly key: string; readonly best: JsonObject })[] };
          documents: Top;
        };
        replies: Top;
      };
      assert.deepEqual(
        c.authors.buckets.map((each) => [each.key, each.best["value"], scored(each)]),
        [
          ["kim", 5, ["e 5", "e 5"]],
          ["max", 4, ["d 4"]],
          ["lee", 1, ["a 1"]],
        ],
      );
      assert.equal(c.authors.buckets[0]!.top.hits.max_score, 5);
      assert.deepEqual(scored(c.documents), ["e 5", "d 4", "b 2"]);
      assert.deepEqual(scored(replies), ["a 1", "a 1", "a 1"]);
    }
    const { aggregations } = await one.search(body);
    const { some } = aggregations!["c"] as { some: { stars: JsonObject } };
    assert.equal(some.stars["value"], 2);
  });

  test("of a path that isn't a nested object are empty", async () => {
    const { aggregations } = await one.search({ size: 0, aggs: { c: { nested: { path: "title" } } } });
    assert.deepEqual(aggregations!["c"], { doc_count: 0 });
  });

  test("refuse reverse_nested outside of nested", async () => {
    await assert.rejects(one.search({ size: 0, aggs: { c: { reverse_nested: {} } } }), /all shards failed/);
  });
});

suite("sorting by nested objects", () => {
  const stars = (options: JsonObject): JsonObject => ({
    "comments.stars": { nested: { path: "comments" }, ...options },
  });

  /** [sort, ids] */
  const ORDERS: readonly (readonly [JsonObject, string])[] = [
    [stars({ order: "asc" }), "aebdc"],
    [stars({ order: "desc" }), "eadbc"],
    [stars({ order: "asc", mode: "max" }), "bdaec"],
    [stars({ order: "desc", mode: "min" }), "dbeac"],
    [stars({ order: "asc", mode: "avg", missing: "_first" }), "cabde"],
    [stars({ order: "asc", mode: "sum" }), "bdaec"],
    [stars({ order: "asc", missing: 4 }), "aebcd"],
    [
      stars({ order: "desc", nested: { path: "comments", filter: { term: { "comments.author": "kim" } } } }),
      "eabcd",
    ],
    [stars({ order: "desc", nested: { path: "comments", max_children: 1 } }), "adbec"],
    [{ "comments.author": { order: "desc", nested_path: "comments" } }, "daebc"],
    [{ "comments.replies.likes": { order: "desc", nested: { path: "comments.replies" } } }, "abcde"],
  ];
  for (const [sort, wanted] of ORDERS) {
    test(`by ${JSON.stringify(sort)} gives ${wanted}`, async () => {
      const order = [sort, "n"];
      if (JSON.stringify(sort).includes('author":{"order'))
        order[1] = { "comments.stars": { order: "asc", nested: { path: "comments" } } } as never;
      const found = await one.ids({ sort: order });
      assert.deepEqual(await many.ids({ sort: order }), found);
      assert.equal(found.join(""), wanted);
    });
  }

  test("shows the values it went by", async () => {
    const { hits } = await one.search({ sort: [stars({ order: "desc" }), "n"] });
    assert.deepEqual(
      hits.map((hit) => (hit["sort"] as unknown[])[0]),
      [9007199254740, 5, 4, 3, -9223372036854775808n],
    );
  });
});
