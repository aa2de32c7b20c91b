import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "./json.ts";
import { RawJson } from "./raw-json.ts";
import { DEFAULT_LIMITS, type SearchCursor } from "./search.ts";
import { IndexFixture } from "./shard-fixture.ts";

const MAPPING = {
  properties: {
    name: { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } },
    host: { type: "keyword" },
    n: { type: "long" },
    x: { type: "double" },
    at: { type: "date" },
    coordinates: { type: "geo_point" },
    ip: { type: "ip" },
  },
};

const DOCS: Record<string, JsonObject | string> = {
  a: {
    name: "The quick brown fox is brown.",
    host: "b",
    n: 3,
    x: 1.5,
    at: "2018-01-03",
    coordinates: { lat: 52.52, lon: 13.405 },
    ip: "10.0.0.10",
  },
  b: {
    name: "lazy dogs",
    host: "a",
    n: [1, 9],
    at: "2018-01-01",
    coordinates: { lat: 48.137, lon: 11.575 },
    ip: "9.0.0.1",
  },
  c: {
    name: "quick",
    host: "ü",
    n: 2,
    x: -4,
    at: "2018-01-02",
    coordinates: [
      { lat: 53.55, lon: 9.99 },
      { lat: 0, lon: 0 },
    ],
  },
  d: '{"name": "nothing  here", "n": 9007199254740993, "price": 1.0, "a": {"b": [{"c": 1, "d": 2}, {"c": 3}], "e": null}}',
};

const one = new IndexFixture({ mapping: MAPPING, docs: DOCS });
const many = new IndexFixture({ mapping: MAPPING, docs: DOCS, segmentDocs: 1, shards: 2 });
after(() => {
  one.close();
  many.close();
});

/** Ids in their order, the same over one segment and over many shards. */
async function order(sort: unknown, body: JsonObject = {}): Promise<string> {
  const ids = (await one.ids({ sort, ...body })).join("");
  assert.equal((await many.ids({ sort, ...body })).join(""), ids, "over shards");
  return ids;
}

/** [sort, ids in order] */
const ORDERS: readonly (readonly [sort: unknown, ids: string])[] = [
  [[{ n: "asc" }], "bcad"],
  [[{ n: "desc" }], "dbac"],
  [[{ n: { order: "desc", mode: "min" } }], "dacb"],
  [[{ n: { order: "asc", mode: "avg" } }], "cabd"],
  [["host"], "bacd"],
  [[{ host: "desc" }], "cabd"],
  [[{ host: { order: "asc", missing: "_first" } }], "dbac"],
  [[{ host: { order: "asc", missing: "aa" } }], "bdac"],
  [[{ x: "asc" }], "cabd"],
  [[{ x: { order: "desc", missing: "_first" } }, { n: "desc" }], "dbac"],
  [[{ x: { order: "asc", missing: 0 } }, { n: "asc" }], "cbda"],
  [[{ at: { order: "desc" } }], "acbd"],
  [[{ nothing: { unmapped_type: "long" } }, { n: "asc" }], "bcad"],
  [[{ ip: "asc" }, "n"], "bacd"],
  [["_id"], "abcd"],
  [[{ _id: "desc" }], "dcba"],
  [[{ _geo_distance: { coordinates: { lat: 52.5, lon: 13.4 }, order: "asc", unit: "km" } }], "acbd"],
  [[{ _geo_distance: { coordinates: { lat: 52.5, lon: 13.4 }, order: "desc", unit: "km" } }], "dcba"],
  [[{ _geo_distance: { coordinates: "48.1,11.5", order: "asc", mode: "max" } }], "bacd"],
];

describe("sorting", () => {
  for (const [sort, ids] of ORDERS) {
    test(`by ${JSON.stringify(sort)} gives ${ids}`, async () => assert.equal(await order(sort), ids));
  }

  test("shows the values it went by", async () => {
    const shown = async (sort: JsonObject): Promise<unknown[]> =>
      (await one.search({ sort: [sort] })).hits.map((hit) => (hit["sort"] as unknown[])[0]);
    assert.deepEqual(await shown({ n: "asc" }), [1, 2, 3, 9007199254740993n]);
    assert.deepEqual(await shown({ host: "asc" }), ["a", "b", "ü", null]);
    assert.deepEqual((await shown({ x: "asc" })).slice(0, 3), [-4, 1.5, "Infinity"]);
    assert.deepEqual((await shown({ at: "asc" })).slice(2), [Date.parse("2018-01-03"), 9223372036854775807n]);
    const [nearest] = await shown({ _geo_distance: { coordinates: [13.405, 52.52], unit: "km" } });
    assert.ok((nearest as number) < 0.01);
    const far = await shown({ _geo_distance: { coordinates: [13.405, 52.52], unit: "km" } });
    assert.ok(
      Math.abs((far[1] as number) - 255.2) < 1,
      `Berlin to Hamburg is about 255 km, not ${String(far[1])}`,
    );
    assert.equal(far[3], "Infinity");
  });

  test("leaves scores out unless they are tracked", async () => {
    const plain = await one.search({ query: { match: { name: "quick" } }, sort: ["n"] });
    assert.equal(plain.maxScore, null);
    assert.equal(plain.hits[0]!["_score"], null);
    const tracked = await one.search({
      query: { match: { name: "quick" } },
      sort: ["n"],
      track_scores: true,
    });
    assert.ok(tracked.maxScore! > 0 && Number(tracked.hits[0]!["_score"]) > 0);
  });

  test("refuses fields that can't be sorted by", async () => {
    for (const [sort, message] of [
      ["nothing", /No mapping found for \[nothing\] in order to sort on/],
      ["name", /Fielddata is disabled on text fields by default/],
      ["coordinates", /geo_distance/],
      [{ _geo_distance: { host: [0, 0] } }, /geo_point fields only/],
      [{ n: "upwards" }, /must be one of asc, desc/],
      [{ _geo_distance: { coordinates: { lat: 91, lon: 0 } } }, /illegal latitude value/],
    ] as const) {
      await assert.rejects(one.search({ sort: [sort] }), (error) => {
        assert.ok(error instanceof AppError && error.status === 400);
        assert.match(error.cause instanceof AppError ? error.cause.message : error.message, message);
        return true;
      });
    }
  });
});

describe("pages", () => {
  for (const sort of [
    [{ n: "asc" }],
    [{ host: "desc" }],
    [{ x: "asc" }, { n: "desc" }],
    [{ at: "desc" }],
    [{ _id: "desc" }],
  ]) {
    test(`search_after goes through all hits by ${JSON.stringify(sort)}`, async () => {
      for (const index of [one, many]) {
        const all = await index.ids({ sort });
        const paged: string[] = [];
        let after: unknown;
        for (;;) {
          const { hits } = await index.search({
            sort,
            size: 1,
            ...(after === undefined ? {} : { search_after: after }),
          });
          if (hits.length === 0) break;
          paged.push(String(hits[0]!["_id"]));
          // As a client sends it back: through JSON.
          const text = JSON.stringify(hits[0]!["sort"], (_k, v: unknown) =>
            typeof v === "bigint" ? `#${v}` : v,
          );
          after = JSON.parse(text, (_k, v: unknown) =>
            typeof v === "string" && v.startsWith("#") ? BigInt(v.slice(1)) : v,
          );
        }
        assert.deepEqual(paged, all);
      }
    });
  }

  for (const body of [
    {},
    { sort: ["_doc"] },
    { query: { match: { name: "quick" } } },
    { sort: [{ nothing: { unmapped_type: "long" } }] },
  ]) {
    test(`a cursor goes through all hits of ${JSON.stringify(body)}, equal ranks included`, async () => {
      for (const index of [one, many]) {
        const all = await index.ids(body);
        const paged: string[] = [];
        let cursor: SearchCursor | undefined;
        for (;;) {
          const page = await index.search({ ...body, size: 1 }, cursor === undefined ? {} : { cursor });
          if (page.hits.length === 0) break;
          paged.push(String(page.hits[0]!["_id"]));
          cursor = page.cursor!;
        }
        assert.deepEqual(paged, all);
      }
    });
  }

  test("from and size cut a window, which is limited", async () => {
    assert.deepEqual(await one.ids({ sort: ["n"], from: 1, size: 2 }), ["c", "a"]);
    assert.deepEqual(await one.ids({ sort: ["n"], from: 9 }), []);
    await assert.rejects(one.search({ from: 9_999, size: 2 }), { code: "window_too_large" });
    await assert.rejects(one.search({ from: -1 }), { message: "[from] parameter cannot be negative" });
    await assert.rejects(one.search({ search_after: [1], sort: [] }), /Sort must contain at least one field/);
    await assert.rejects(
      one.search({ search_after: [1, 2], sort: ["n"] }),
      /search_after has 2 value\(s\) but sort has 1/,
    );
  });
});

describe("fetching", () => {
  const hitOf = async (id: string, body: JsonObject): Promise<JsonObject> => {
    const { hits } = await one.search({ query: { ids: { values: [id] } }, ...body });
    return hits[0]!;
  };

  test("returns documents as they were sent", async () => {
    const { _source: source } = await hitOf("d", {});
    assert.ok(source instanceof RawJson);
    assert.equal(source.text, DOCS["d"]);
  });

  /** [filter, what is left of d] */
  const FILTERS: readonly (readonly [filter: unknown, source: unknown])[] = [
    [false, undefined],
    [["name"], { name: "nothing  here" }],
    ["a.b", { a: { b: [{ c: 1, d: 2 }, { c: 3 }] } }],
    [["a.*.c"], { a: { b: [{ c: 1 }, { c: 3 }] } }],
    [{ includes: ["a"], excludes: ["a.b.d", "a.e"] }, { a: { b: [{ c: 1 }, { c: 3 }] } }],
    [{ excludes: ["a", "n*"] }, { price: 1 }],
    [["x*"], {}],
  ];
  for (const [filter, source] of FILTERS) {
    test(`_source ${JSON.stringify(filter)} leaves ${JSON.stringify(source)}`, async () => {
      const hit = await hitOf("d", { _source: filter });
      assert.deepEqual(hit["_source"], source);
    });
  }

  test("returns versions, sequence numbers and column values where they are asked for", async () => {
    const hit = await hitOf("b", {
      version: true,
      seq_no_primary_term: true,
      docvalue_fields: ["n", "host", "at", "ip", { field: "at", format: "yyyy" }],
      _source: false,
    });
    assert.equal(hit["_version"], 1);
    assert.equal(hit["_seq_no"], 1);
    assert.deepEqual(hit["fields"], { n: [1, 9], host: ["a"], at: ["2018"], ip: ["9.0.0.1"] });
    const bare = await hitOf("b", { stored_fields: "_none_" });
    assert.deepEqual(Object.keys(bare), ["_index", "_score"]);
  });

  test("marks words of the query in order of the text", async () => {
    const hit = await hitOf("a", {
      query: { match: { name: "Quick brown" } },
      highlight: { fields: { name: {} } },
    });
    assert.deepEqual(hit["highlight"], {
      name: ["The <em>quick</em> <em>brown</em> fox is <em>brown</em>."],
    });
  });

  /** [query, options of the field, highlight of a] */
  const MARKS: readonly (readonly [query: JsonObject, options: JsonObject, marked: unknown])[] = [
    [
      { match_phrase: { name: "brown fox" } },
      {},
      { name: ["The quick <em>brown</em> <em>fox</em> is brown."] },
    ],
    [
      { prefix: { name: "bro" } },
      { pre_tags: ["["], post_tags: ["]"] },
      { name: ["The quick [brown] fox is [brown]."] },
    ],
    [{ match: { host: "b" } }, {}, undefined],
    [{ match: { host: "b" } }, { no_match_size: 5 }, { name: ["The quick"] }],
    [
      { query_string: { query: "quick" } },
      { number_of_fragments: 0 },
      { name: ["The <em>quick</em> brown fox is brown."] },
    ],
    [
      { bool: { must: [{ match: { name: "fox" } }], must_not: [{ match: { name: "dogs" } }] } },
      {},
      { name: ["The quick brown <em>fox</em> is brown."] },
    ],
  ];
  for (const [query, options, marked] of MARKS) {
    test(`highlights ${JSON.stringify(query)} with ${JSON.stringify(options)}`, async () => {
      const restricted = { bool: { must: [query], filter: [{ ids: { values: ["a"] } }] } };
      const hit = await hitOf("a", { query: restricted, highlight: { fields: { name: options } } });
      assert.deepEqual(hit["highlight"], marked);
    });
  }

  test("cuts long texts into the best passages", async () => {
    const words = Array.from({ length: 60 }, (_, at) => `Sentence number ${at} says nothing.`);
    words[20] = "Here is the needle, another needle.";
    words[50] = "One needle.";
    const index = new IndexFixture({ docs: [{ text: words.join(" ") }] });
    try {
      const { hits } = await index.search({
        query: { match: { text: "needle" } },
        highlight: { fields: { text: { fragment_size: 40, number_of_fragments: 1 } } },
      });
      assert.deepEqual(hits[0]!["highlight"], {
        text: ["Here is the <em>needle</em>, another <em>needle</em>."],
      });
    } finally {
      index.close();
    }
  });
});

describe("a search", () => {
  test("is over when its client goes away", async () => {
    const gone = AbortSignal.abort();
    const big = new IndexFixture({ docs: Array.from({ length: 3000 }, (_, n) => ({ n })) });
    try {
      // A clock on which each look takes 10 ms, so that every pause is due.
      let nowMs = 0;
      const clock = { now: () => 0, monotonic: () => (nowMs += 10), sleep: () => Promise.resolve() };
      await assert.rejects(big.search({ query: { range: { n: { gt: 5 } } } }, { signal: gone, clock }), {
        code: "cancelled",
      });
      nowMs = 0;
      const late = await big.search({ timeout: "15ms", aggs: { m: { max: { field: "n" } } } }, { clock });
      assert.equal(late.timedOut, true);
      assert.ok(late.total! > 0 && late.total! < 3000);
    } finally {
      big.close();
    }
  });

  test("stops after terminate_after documents of a shard", async () => {
    const { total, terminatedEarly } = await one.search({ terminate_after: 2 });
    assert.deepEqual([total, terminatedEarly], [2, true]);
  });

  test("counts exactly unless told not to", async () => {
    assert.equal((await one.search({ track_total_hits: false })).total, undefined);
    assert.equal((await one.search({ size: 1 })).total, 4);
  });

  test("of some failing shards is partial, of all fails with each failure", async () => {
    const other = new IndexFixture({ docs: [{ n: "text" }], index: "other" });
    try {
      const shards = [...one.shards, ...other.shards];
      const { searchShards } = await import("./search.ts");
      const { parseSearchRequest } = await import("./search-request.ts");
      const request = parseSearchRequest({ sort: ["n"] }, DEFAULT_LIMITS);
      const response = await searchShards(request, shards, {
        signal: new AbortController().signal,
        limits: DEFAULT_LIMITS,
      });
      assert.equal(response.shards.successful, 1);
      assert.equal(response.shards.failures[0]!.index, "other");
      assert.equal(response.hits.length, 4);
    } finally {
      other.close();
    }
  });
});

describe("many documents in many segments", () => {
  const docs = Array.from({ length: 5000 }, (_, n) => ({
    n,
    word: n % 3 === 0 ? "three" : "other",
    half: Math.floor(n / 2),
    text: `${"a ".repeat(n % 7)}b`,
  }));
  const index = new IndexFixture({ docs, segmentDocs: 2200, deleted: ["4999", "10"] });
  after(() => index.close());

  test("are counted, ranged and sorted as a plain filter of the list says", async () => {
    const live = docs.filter(({ n }) => n !== 4999 && n !== 10);
    const top = await index.search({
      query: { range: { half: { gte: 100, lt: 2000 } } },
      sort: [{ n: "desc" }],
      size: 3,
    });
    const expected = live.filter(({ half }) => half >= 100 && half < 2000);
    assert.equal(top.total, expected.length);
    assert.deepEqual(
      top.hits.map((hit) => hit["_id"]),
      expected
        .slice(-3)
        .reverse()
        .map(({ n }) => String(n)),
    );
    const both = await index.ids({
      query: { bool: { must: [{ match: { word: "three" } }], filter: [{ range: { n: { lt: 30 } } }] } },
      sort: ["n"],
    });
    assert.deepEqual(
      both,
      live.filter(({ n }) => n % 3 === 0 && n < 30).map(({ n }) => String(n)),
    );
  });

  test("have the same best hits whether blocks are skipped or not", async () => {
    const skipped = await index.search({ query: { match: { text: "a" } }, size: 5 });
    const walked = await index.search({
      query: { match: { text: "a" } },
      size: 5,
      aggs: { all: { max: { field: "n" } } },
    });
    assert.deepEqual(
      skipped.hits.map((hit) => [hit["_id"], hit["_score"]]),
      walked.hits.map((hit) => [hit["_id"], hit["_score"]]),
    );
    assert.equal(skipped.total, walked.total);
    assert.equal(skipped.maxScore, walked.maxScore);
  });
});

describe("second passes and named queries", () => {
  const all = { constant_score: { filter: { match_all: {} }, boost: 2 } };
  const pass = (mode: string, windowSize = 10) => ({
    window_size: windowSize,
    query: {
      rescore_query: { constant_score: { filter: { term: { host: "ü" } }, boost: 3 } },
      query_weight: 2,
      rescore_query_weight: 0.5,
      score_mode: mode,
    },
  });
  for (const [mode, score] of Object.entries({ total: 5.5, multiply: 6, avg: 2.75, max: 4, min: 1.5 })) {
    test(`scores of both queries are combined by ${mode}`, async () => {
      for (const index of [one, many]) {
        const { hits, maxScore } = await index.search({ query: all, rescore: pass(mode), _source: false });
        const scores = Object.fromEntries(hits.map((hit) => [hit["_id"], hit["_score"]]));
        assert.deepEqual(scores, { a: 4, b: 4, c: score, d: 4 });
        assert.equal(maxScore, Math.max(4, score));
        if (score > 4) assert.equal(hits[0]!["_id"], "c");
        if (score < 4) assert.equal(hits.at(-1)!["_id"], "c");
      }
    });
  }

  test("a hit behind the page comes to its front, one behind the window doesn't", async () => {
    const first = async (windowSize: number) =>
      (await one.search({ query: all, size: 1, rescore: [pass("total", windowSize)] })).hits[0]!["_id"];
    assert.equal(await first(10), "c");
    assert.equal(await first(1), "a");
  });

  test("a score is explained by all that was made of it", async () => {
    const { hits } = await one.search({ query: all, explain: true, rescore: pass("avg", 3) });
    for (const hit of hits) {
      const explained = hit["_explanation"] as { value: number; description: string };
      assert.equal(explained.value, hit["_score"]);
      assert.equal(explained.description, hit["_id"] === "c" ? "avg of:" : "product of:");
    }
  });

  test("what can't be rescored is refused", async () => {
    const rows: readonly [JsonObject, string][] = [
      [{ rescore: pass("total"), sort: ["n"] }, "request_invalid"],
      [{ rescore: pass("total", 10_001) }, "request_invalid"],
      [{ rescore: { window_size: 5 } }, "parsing"],
      [{ rescore: pass("median") }, "parsing"],
    ];
    for (const [body, code] of rows)
      await assert.rejects(one.search(body), (error) => error instanceof AppError && error.code === code);
  });

  test("hits name the queries that they match", async () => {
    for (const index of [one, many]) {
      const { hits } = await index.search({
        query: {
          bool: {
            should: [
              { match: { name: { query: "quick", _name: "fast" } } },
              { range: { n: { gte: 3, _name: "large" } } },
              { match_all: {} },
            ],
          },
        },
        post_filter: { bool: { must_not: { ids: { values: ["d"] } }, _name: "seen" } },
        sort: ["host"],
      });
      assert.deepEqual(
        hits.map((hit) => [hit["_id"], [...(hit["matched_queries"] as string[])].sort()]),
        [
          ["b", ["large", "seen"]],
          ["a", ["fast", "large", "seen"]],
          ["c", ["fast", "seen"]],
        ],
      );
    }
  });
});
