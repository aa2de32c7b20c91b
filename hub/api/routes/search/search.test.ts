import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { DOCS, type Json, SearchRoutesFixture } from "#test/support/api/search-routes.ts";

const fixture = new SearchRoutesFixture();
after(() => fixture.close());

const sources = (body: Json): unknown[] =>
  Array.from(body["hits"]!["hits"]! as unknown as Json[], (hit) => hit["_source"]);

describe("_search", () => {
  test("answers in the shape of 6.5", async () => {
    const { status, body } = await fixture.send("GET", "/logs/_search", {
      query: { term: { host: "web-2" } },
    });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ["took", "timed_out", "_shards", "hits"]);
    assert.deepEqual(body["_shards"], { total: 2, successful: 2, skipped: 0, failed: 0 });
    assert.equal(body["hits"]!["total"], 1);
    const { _score: score, ...hit } = body["hits"]!["hits"]![0]! as unknown as JsonObject;
    assert.deepEqual(hit, { _index: "logs", _type: "_doc", _id: "1", _source: DOCS[1] });
    assert.ok((score as number) > 0);
  });

  test("suggests terms that the parameters ask for", async () => {
    const path =
      "/logs/_search?size=0&suggest_field=message&suggest_text=timeuot&suggest_mode=always&suggest_size=1";
    const { status, body } = await fixture.send("GET", path);
    assert.equal(status, 200);
    const [entry] = body["suggest"]!["message"]! as unknown as { text: string; options: object[] }[];
    assert.equal(entry!.text, "timeuot");
    assert.ok(entry!.options.length <= 1);
  });

  test("answers in the shape of 7 where that version is told", async () => {
    const { body } = await fixture.send("GET", "/logs/_search", {}, "7.10.2");
    assert.deepEqual(body["hits"]!["total"], { value: 3, relation: "eq" });
    const { body: asNumber } = await fixture.send(
      "GET",
      "/logs/_search?rest_total_hits_as_int=true",
      {},
      "7.10.2",
    );
    assert.equal(asNumber["hits"]!["total"], 3);
  });

  test("tells up to how many hits were counted where 7 is told and a limit is given", async () => {
    const totalOf = async (limit: number): Promise<unknown> =>
      (await fixture.send("GET", "/logs/_search", { track_total_hits: limit }, "7.10.2")).body["hits"]![
        "total"
      ];
    assert.deepEqual(await totalOf(2), { value: 2, relation: "gte" });
    assert.deepEqual(await totalOf(3), { value: 3, relation: "eq" });
    const uri = "/logs/_search?rest_total_hits_as_int=true";
    const { status, body } = await fixture.send("GET", uri, { track_total_hits: 2 }, "7.10.2");
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), /tracking of total hits is not accurate, got 2/);
    const several = await fixture.send(
      "POST",
      `/_msearch?rest_total_hits_as_int=true`,
      '{"index":"logs"}\n{"track_total_hits":2}\n',
    );
    assert.equal(several.status, 400);
  });

  /** [uri, body, sources] */
  const FOUND: readonly (readonly [uri: string, body: unknown, sources: unknown[]])[] = [
    ["/_search?q=status:404", undefined, [DOCS[1]]],
    ["/logs/_search?q=host:web-1&sort=status:desc&size=1", undefined, [DOCS[2]]],
    ["/logs/_doc/_search?sort=status", { query: { range: { status: { gte: 400 } } } }, [DOCS[1], DOCS[2]]],
    ["/logs/_search?q=get+AND+host:web-1&df=message&_source=host", undefined, [{ host: "web-1" }]],
    ["/bad/_search?sort=status", {}, [DOCS[1], DOCS[2]]],
    ["/bad,all/_search?sort=status", {}, DOCS],
    ["/logs,bad/_search?sort=status", {}, DOCS],
    ["/nothing*/_search", {}, []],
    ["/nothing/_search?ignore_unavailable=true", {}, []],
    ["/other/line/_search?_source=message", {}, [{ message: "x" }]],
    ["/other/_doc/_search?_source=message", {}, [{ message: "x" }]],
    ["/other/word/_search", {}, []],
    ["/logs/_search?size=0", {}, []],
  ];
  for (const [uri, body, expected] of FOUND) {
    test(`${uri} finds ${expected.length}`, async () => {
      const answer = await fixture.send("POST", uri, body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.deepEqual(sources(answer.body), expected);
    });
  }

  /** [uri, body, status, type of the root cause, reason] */
  const REFUSED: readonly (readonly [
    uri: string,
    body: unknown,
    status: number,
    type: string,
    reason: RegExp,
  ])[] = [
    ["/nothing/_search", {}, 404, "index_not_found_exception", /no such index/],
    [
      "/logs/_search",
      { query: { foo: {} } },
      400,
      "parsing_exception",
      /no \[query\] registered for \[foo\]/,
    ],
    ["/logs/_search", { foo: {} }, 400, "parsing_exception", /Unknown key for a START_OBJECT in \[foo\]\./],
    ["/logs/_search", "{", 400, "json_parse_exception", /isn.t valid JSON/],
    ["/logs/_search", { sort: ["x"] }, 400, "query_shard_exception", /No mapping found for \[x\]/],
    ["/logs/_search", { sort: ["message"] }, 400, "illegal_argument_exception", /Fielddata is disabled/],
    ["/logs/_search?from=-2", {}, 400, "illegal_argument_exception", /\[from\] parameter cannot be negative/],
    ["/logs/_search", { from: 10_000 }, 500, "query_phase_execution_exception", /Result window is too large/],
    [
      "/logs/_search",
      { sort: ["status"], rescore: { query: { rescore_query: { match_all: {} } } } },
      500,
      "query_phase_execution_exception",
      /^"Cannot use \[sort\] option in conjunction with \[rescore\]\."$/,
    ],
    [
      "/logs/_search",
      { sort: ["status"], search_after: [1], from: 1 },
      500,
      "search_context_exception",
      /^"`from` parameter must be set to 0 when `search_after` is used\."$/,
    ],
    [
      "/logs/_search",
      { slice: { id: 0, max: 2 } },
      500,
      "search_context_exception",
      /^"`slice` cannot be used outside of a scroll context"$/,
    ],
    [
      "/logs/_search",
      { collapse: { field: "nothing" } },
      500,
      "search_context_exception",
      /^"no mapping found for `nothing` in order to collapse on"$/,
    ],
    [
      "/logs/_search",
      { collapse: { field: "message" } },
      500,
      "search_context_exception",
      /^"unknown type for collapse field `message`, only keywords and numbers are accepted"$/,
    ],
    [
      "/logs/_search",
      { collapse: { field: "host" }, sort: ["status"], search_after: [1] },
      500,
      "search_context_exception",
      /^"cannot use `collapse` in conjunction with `search_after`"$/,
    ],
    [
      "/logs/_search?scroll=1m",
      { collapse: { field: "host" } },
      500,
      "search_context_exception",
      /^"cannot use `collapse` in a scroll context"$/,
    ],
    [
      "/logs/_search",
      { query: {} },
      400,
      "illegal_argument_exception",
      /^"query malformed, empty clause found"$/,
    ],
    [
      "/logs/_count",
      { query: {} },
      400,
      "illegal_argument_exception",
      /^"query malformed, empty clause found"$/,
    ],
    [
      "/logs/_search",
      { query: null },
      400,
      "parsing_exception",
      /Unknown key for a VALUE_NULL in \[query\]\./,
    ],
    [
      "/logs/_search",
      { query: "a" },
      400,
      "parsing_exception",
      /Unknown key for a VALUE_STRING in \[query\]\./,
    ],
    [
      "/logs/_search",
      { sort: [{ host: { mode: "avg" } }] },
      400,
      "query_shard_exception",
      /^"we only support AVG, MEDIAN and SUM on number based fields"$/,
    ],
    [
      "/logs/_search?fron=1",
      {},
      400,
      "illegal_argument_exception",
      /unrecognized parameter: \[fron\] -> did you mean \[from\]/,
    ],
    [
      "/logs/_search?batched_reduce_size=1",
      {},
      400,
      "illegal_argument_exception",
      /batchedReduceSize must be >= 2/,
    ],
    [
      "/logs/_search?search_type=count",
      {},
      400,
      "illegal_argument_exception",
      /No search type for \[count\]/,
    ],
    [
      "/logs/_search?scroll=1m&size=0",
      {},
      400,
      "action_request_validation_exception",
      /\[size\] cannot be \[0\] in a scroll context/,
    ],
    ["/logs/_search?scroll=30d", {}, 400, "illegal_argument_exception", /Keep alive for scroll/],
    [
      "/logs/_search",
      { suggest: { s: { prefix: "a", completion: { field: "host", contexts: { k: "v" } } } } },
      400,
      "illegal_argument_exception",
      /Field \[host\] is not a completion suggest field/,
    ],
  ];
  for (const [uri, body, status, type, reason] of REFUSED) {
    test(`${uri} with ${JSON.stringify(body)} answers ${status}`, async () => {
      const answer = await fixture.send("POST", uri, body);
      assert.equal(answer.status, status);
      const root = answer.body["error"]!["root_cause"]![0]!;
      assert.equal(root["type"], type);
      assert.match(JSON.stringify(root["reason"]), reason);
    });
  }

  test("of shards that all fail names them", async () => {
    const { status, body } = await fixture.send("GET", "/logs/_search", { sort: ["x"] });
    assert.equal(status, 400);
    assert.equal(body["error"]!["type"], "search_phase_execution_exception");
    assert.equal(body["error"]!["reason"], "all shards failed");
    assert.equal(body["error"]!["failed_shards"]![0]!["reason"]!["index"], "logs");
  });

  test("of options that can't be used together is one of all shards", async () => {
    const { status, body } = await fixture.send("GET", "/logs/_search", { collapse: { field: "nothing" } });
    assert.equal(status, 500);
    assert.equal(body["error"]!["type"], "search_phase_execution_exception");
    assert.equal(body["error"]!["reason"], "all shards failed");
    assert.equal(body["error"]!["failed_shards"]![0]!["reason"]!["type"], "search_context_exception");
    const later = await fixture.send("GET", "/logs/_search", { collapse: { field: "nothing" } }, "7.10.2");
    assert.equal(later.status, 400);
  });

  test("of shards that partly fail says so, unless only whole answers are wanted", async () => {
    const { status, body } = await fixture.send("GET", "/_search?sort=status", {});
    assert.equal(status, 200);
    assert.equal(body["_shards"]!["failed"], 1);
    assert.equal(body["_shards"]!["failures"]![0]!["index"], "other");
    const whole = await fixture.send("GET", "/_search?sort=status&allow_partial_search_results=false", {});
    assert.equal(whole.status, 400);
  });

  test("counts buckets up to search.max_buckets", async () => {
    fixture.settings = { "search.max_buckets": "1" };
    try {
      const { status, body } = await fixture.send("GET", "/logs/_search", {
        aggs: { h: { terms: { field: "host" } } },
      });
      assert.equal(status, 503);
      assert.match(
        JSON.stringify(body),
        /Trying to create too many buckets. Must be less than or equal to: \[1\] but was \[2\]/,
      );
    } finally {
      fixture.settings = {};
    }
  });
});

describe("_shards.skipped", () => {
  const skipped = async (params: string, body: JsonObject, version?: string): Promise<unknown> => {
    const { body: found } = await fixture.send("GET", `/logs/_search${params}`, body, version);
    return found["_shards"]!["skipped"];
  };
  const query = { range: { status: { gte: 1000 } } };

  test("counts shards that can't match where there are more than pre_filter_shard_size", async () => {
    assert.equal(await skipped("?pre_filter_shard_size=1", { query }), 1);
    assert.equal(await skipped("?pre_filter_shard_size=2", { query }), 0);
    assert.equal(await skipped("", { query }), 0, "128 by default");
  });

  test("is 0 for searches that need all shards", async () => {
    const few = "?pre_filter_shard_size=1";
    const aggs = { all: { terms: { field: "host", min_doc_count: 0 } } };
    for (const body of [
      { query, aggs },
      { query, aggs: { all: { global: {} } } },
      { query, suggest: { s: { text: "a", term: { field: "message" } } } },
    ])
      assert.equal(await skipped(few, body), 0, JSON.stringify(body));
    assert.equal(await skipped(`${few}&search_type=dfs_query_then_fetch`, { query }), 0);
    assert.equal(await skipped(few, { query, aggs: { hosts: { terms: { field: "host" } } } }), 1);
  });

  test("needs no parameter from 7 on where the search sorts by a field", async () => {
    const sort = [{ status: "asc" }];
    assert.equal(await skipped("", { query, sort }, "7.10.2"), 1);
    assert.equal(await skipped("", { query, sort: ["_score"] }, "7.10.2"), 0);
    assert.equal(await skipped("", { query, sort }), 0, "6.5");
  });

  test("is in each answer of _msearch", async () => {
    const lines = `{"index":"logs"}\n${JSON.stringify({ query })}\n`;
    const { body } = await fixture.send("POST", "/_msearch?pre_filter_shard_size=1", lines);
    assert.equal(body["responses"]![0]!["_shards"]!["skipped"], 1);
  });
});
