import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { type Json, SearchRoutesFixture } from "#test/support/api/search-routes.ts";

const fixture = new SearchRoutesFixture({
  docs: [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }],
  mapping: { properties: { n: { type: "long" } } },
});
after(() => fixture.close());

const SORTED = { query: { match_all: {} }, sort: ["n"] };

/** The ids in the order of `SORTED`, best hit first. */
async function ids(): Promise<string[]> {
  const { body } = await fixture.send("POST", "/logs/_search", SORTED);
  return Array.from(body["hits"]!["hits"]! as unknown as Json[], (hit) => hit["_id"] as unknown as string);
}

/** Rates the hits of `SORTED` in their order; undefined leaves one unrated. */
async function ratings(...each: (number | undefined)[]): Promise<object[]> {
  const known = await ids();
  return each.flatMap((rating, at) =>
    rating === undefined ? [] : [{ _index: "logs", _id: known[at], rating }],
  );
}

async function evaluate(
  metric: object,
  rated: readonly object[],
  more: object = {},
): Promise<{ status: number; body: Json }> {
  const requests = [{ id: "one", request: SORTED, ratings: rated, ...more }];
  return fixture.send("POST", "/logs/_rank_eval", { requests, metric });
}

function near(actual: unknown, expected: number): void {
  assert.ok(Math.abs(Number(actual) - expected) < 1e-9, `${String(actual)} is not ${expected}`);
}

describe("metrics of _rank_eval", () => {
  test("precision counts unrated hits unless they are ignored, and looks at k hits", async () => {
    const rated = await ratings(1, 0, undefined, 3);
    for (const [options, score, retrieved, docs] of [
      [{}, 0.5, 2, 4],
      [{ ignore_unlabeled: true }, 2 / 3, 2, 3],
      [{ relevant_rating_threshold: 2 }, 0.25, 1, 4],
      [{ k: 1 }, 1, 1, 1],
    ] as const) {
      const { body } = await evaluate({ precision: options }, rated);
      near(body["metric_score"], score);
      assert.deepEqual(body["details"]!["one"]!["metric_details"], {
        precision: { relevant_docs_retrieved: retrieved, docs_retrieved: docs },
      });
    }
  });

  test("recall is the share of relevant documents that were found", async () => {
    const { body } = await evaluate({ recall: { k: 2 } }, await ratings(1, 0, 1, 1));
    near(body["metric_score"], 1 / 3);
    assert.deepEqual(body["details"]!["one"]!["metric_details"], {
      recall: { relevant_docs_retrieved: 1, relevant_docs: 3 },
    });
  });

  test("mean_reciprocal_rank is of the first relevant hit", async () => {
    const found = await evaluate({ mean_reciprocal_rank: {} }, await ratings(undefined, 0, 1));
    near(found.body["metric_score"], 1 / 3);
    const none = await evaluate({ mean_reciprocal_rank: { k: 2 } }, await ratings(undefined, 0, 1));
    assert.equal(none.body["metric_score"], 0);
    assert.deepEqual(none.body["details"]!["one"]!["metric_details"], {
      mean_reciprocal_rank: { first_relevant: -1 },
    });
  });

  test("dcg discounts by rank; normalized it is a share of the best order", async () => {
    const rated = await ratings(1, undefined, 2);
    const gain = 1 + 3 / 2;
    near((await evaluate({ dcg: {} }, rated)).body["metric_score"], gain);
    near(
      (await evaluate({ dcg: { unknown_doc_rating: 1, k: 2 } }, rated)).body["metric_score"],
      1 + 1 / Math.log2(3),
    );
    const best = 3 + 1 / Math.log2(3);
    const { body } = await evaluate({ dcg: { normalize: true } }, rated);
    near(body["metric_score"], gain / best);
    const details = body["details"]!["one"]!["metric_details"]!["dcg"]!;
    near(details["ideal_dcg"], best);
    near(details["normalized_dcg"], gain / best);
    assert.equal(details["unrated_docs"], 2);
  });

  test("expected_reciprocal_rank stops where a hit satisfies", async () => {
    const rated = await ratings(1, undefined, 2);
    const { body } = await evaluate({ expected_reciprocal_rank: { maximum_relevance: 2 } }, rated);
    near(body["metric_score"], 1 / 4 + ((3 / 4) * (3 / 4)) / 3);
    assert.deepEqual(body["details"]!["one"]!["metric_details"], {
      expected_reciprocal_rank: { unrated_docs: 2 },
    });
  });
});

describe("_rank_eval", () => {
  test("lists hits with their ratings and summary fields, and the unrated documents", async () => {
    const known = await ids();
    const rated = await ratings(1, undefined, 0);
    const { body } = await evaluate({ precision: { k: 2 } }, rated, { summary_fields: ["n"] });
    const one = body["details"]!["one"]!;
    assert.deepEqual(one["unrated_docs"], [{ _index: "logs", _id: known[1] }]);
    const hits = Array.from(one["hits"]! as unknown as Json[]);
    assert.deepEqual(
      hits.map((each) => [each["hit"]!["_id"], each["hit"]!["_source"], each["rating"]]),
      [
        [known[0], { n: 1 }, 1],
        [known[1], { n: 2 }, null],
      ],
    );
    const plain = await evaluate({ precision: {} }, rated);
    assert.equal(plain.body["details"]!["one"]!["hits"]![0]!["hit"]!["_source"], undefined);
  });

  test("the score is the mean of the searches that worked; the others are failures", async () => {
    const rated = await ratings(1);
    const request = (id: string, search: object): object => ({ id, request: search, ratings: rated });
    const metric = { mean_reciprocal_rank: {} };
    const reversed = { sort: [{ n: "desc" }] };
    const broken = { query: { trem: {} } };
    for (const running of [1, 3]) {
      const { status, body } = await fixture.send("POST", "/logs/_rank_eval", {
        requests: [request("bad", broken), request("first", SORTED), request("last", reversed)],
        metric,
        max_concurrent_searches: running,
      });
      assert.equal(status, 200);
      near(body["metric_score"], (1 + 1 / 4) / 2);
      assert.deepEqual(Object.keys(body["details"]!), ["first", "last"]);
      assert.match(JSON.stringify(body["failures"]), /trem/);
    }
    const none = await fixture.send("GET", "/_rank_eval", { requests: [request("bad", broken)], metric });
    assert.equal(none.body["metric_score"], "NaN");
    const missing = await fixture.send("GET", "/gone/_rank_eval", {
      requests: [request("one", SORTED)],
      metric,
    });
    assert.equal(missing.body["failures"]!["one"]!["error"]!["type"], "index_not_found_exception");
  });

  test("templates make the searches", async () => {
    const source = '{"query":{"term":{"n":{{n}}}}}';
    for (const template of [{ source }, { inline: source, lang: "mustache" }, source]) {
      const { body } = await fixture.send("POST", "/logs/_rank_eval", {
        templates: [{ id: "t", template }],
        requests: [{ id: "one", template_id: "t", params: { n: 2 }, ratings: await ratings(0, 1) }],
        metric: { precision: {} },
      });
      assert.deepEqual([body["metric_score"], body["details"]!["one"]!["hits"]!.length], [1, 1]);
    }
  });

  const good = { id: "one", request: {}, ratings: [] };
  const doc = { _index: "a", _id: "b", rating: 1 };
  const metric = { precision: {} };
  const many = Array.from({ length: 11 }, (_, at) => ({ ...good, id: `r${at}` }));
  const refused: readonly (readonly [body: object, reason: RegExp])[] = [
    [{}, /Required \[requests, metric\]/],
    [{ requests: [], metric }, /no search requests with rated results are provided/],
    [{ requests: [good], metric, x: 1 }, /\[rank_eval\] unknown field \[x\], parser not found/],
    [{ requests: [good], metric: { best: {} } }, /unable to parse EvaluationMetric with name \[best\]/],
    [{ requests: [good], metric: { dcg: { x: 1 } } }, /\[dcg\] unknown field \[x\]/],
    [{ requests: [good], metric: { precision: { k: 0 } } }, /Window size k must be positive\./],
    [{ requests: [good], metric: { precision: { k: 10_001 } } }, /at most \[10000\]/],
    [{ requests: many, metric: { precision: { k: 10_000 } } }, /at most 100000 hits together/],
    [{ requests: Array.from({ length: 1001 }, () => good), metric }, /at most 1000 searches/],
    [
      { requests: [good], metric: { precision: { relevant_rating_threshold: -1 } } },
      /threshold for precision must be positive/,
    ],
    [{ requests: [good], metric: { expected_reciprocal_rank: {} } }, /Required \[maximum_relevance\]/],
    [{ requests: [good], metric, max_concurrent_searches: 0 }, /max_concurrent_searches must be positive/],
    [{ requests: [good, good], metric }, /two requests with the id \[one\]/],
    [{ requests: [{ id: "one", ratings: [] }], metric }, /Need to set at least test request/],
    [{ requests: [{ ...good, template_id: "t" }], metric }, /Ambiguous rated request/],
    [{ requests: [{ id: "one", ratings: [], params: { a: 1 } }], metric }, /need to set id of template/],
    [
      { requests: [{ id: "one", ratings: [], params: { a: 1 }, template_id: "t" }], metric },
      /names the template \[t\]/,
    ],
    [{ requests: [{ ...good, ratings: [doc, doc] }], metric }, /Found duplicate rated document key/],
    [{ requests: [{ ...good, ratings: [{ _id: "b" }] }], metric }, /Required \[_index, rating\]/],
    [{ requests: [{ ...good, request: { aggs: {} } }], metric }, /should not contain aggregations\./],
    [{ requests: [{ ...good, request: { suggest: {} } }], metric }, /not contain a suggest section\./],
    [{ requests: [{ ...good, request: { highlight: {} } }], metric }, /not contain a highlighter section\./],
    [{ requests: [{ ...good, request: { explain: true } }], metric }, /should not use explain\./],
    [{ requests: [{ ...good, request: { profile: true } }], metric }, /should not use profile\./],
  ];
  for (const [body, reason] of refused)
    test(`refuses: ${reason.source}`, async () => {
      const { status, body: answer } = await fixture.send("POST", "/logs/_rank_eval", body);
      assert.equal(status, 400);
      assert.match(answer["error"]!["reason"] as unknown as string, reason);
    });
});

test("search_type may be any that a search takes", async () => {
  const requests = { requests: [{ id: "one", request: SORTED, ratings: [] }], metric: { precision: {} } };
  const send = (type: string) =>
    fixture.send("POST", `/logs/_rank_eval?search_type=${type}`, requests, "7.10.2");
  assert.equal((await send("query_then_fetch")).status, 200);
  assert.equal((await send("dfs_query_then_fetch")).status, 200);
  assert.equal((await send("scan")).body["error"]!["reason"], "No search type for [scan]");
});
