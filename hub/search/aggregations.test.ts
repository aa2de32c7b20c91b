import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "./json.ts";
import { DEFAULT_LIMITS } from "./search.ts";
import { IndexFixture } from "./shard-fixture.ts";

const MAPPING = {
  properties: {
    message: { type: "text" },
    status: { type: "long" },
    host: { type: "keyword" },
    at: { type: "date" },
    score: { type: "double" },
    ok: { type: "boolean" },
    ip: { type: "ip" },
    tags: { type: "keyword" },
  },
};

const DOCS: readonly JsonObject[] = [
  {
    message: "one",
    status: 200,
    host: "a",
    at: "2018-03-24T23:30:00Z",
    score: 10,
    ok: true,
    tags: ["x", "y"],
    ip: "10.0.0.1",
  },
  {
    message: "two",
    status: 200,
    host: "b",
    at: "2018-03-25T00:30:00Z",
    score: 20,
    ok: true,
    tags: ["x"],
    ip: "10.0.0.2",
  },
  { message: "one two", status: 404, host: "a", at: "2018-03-25T12:00:00Z", score: 30, ok: false },
  {
    message: "three",
    status: 500,
    host: "a",
    at: "2018-03-27T22:30:00Z",
    score: 50,
    ok: false,
    tags: ["y"],
    ip: "10.0.0.1",
  },
  { message: "none", host: "c", at: "2018-06-01T00:00:00Z" },
];

const one = new IndexFixture({ mapping: MAPPING, docs: DOCS });
const many = new IndexFixture({ mapping: MAPPING, docs: DOCS, segmentDocs: 2, shards: 3 });
after(() => {
  one.close();
  many.close();
});

/** Result of one aggregation named "a", the same over one segment and over many shards. */
async function aggregate(
  aggregation: JsonObject,
  query: JsonObject = { match_all: {} },
): Promise<JsonObject> {
  const body = { size: 0, query, aggs: { a: aggregation } };
  const result = (await one.search(body)).aggregations!["a"] as JsonObject;
  const merged = (await many.search(body)).aggregations!["a"] as JsonObject;
  assert.deepEqual(merged, result, "merged over shards");
  const overWire = JSON.parse(JSON.stringify(result)) as JsonObject;
  return overWire;
}

const DAY = 86_400_000;
const at = (text: string): number => Date.parse(text);

/** [what it does, aggregation, answer] */
const ANSWERS: readonly (readonly [name: string, aggregation: JsonObject, answer: JsonObject])[] = [
  ["min takes the smallest value", { min: { field: "score" } }, { value: 10 }],
  ["max takes the largest value", { max: { field: "score" } }, { value: 50 }],
  ["sum adds up", { sum: { field: "score" } }, { value: 110 }],
  ["avg is the mean", { avg: { field: "score" } }, { value: 27.5 }],
  ["avg counts missing values as told", { avg: { field: "score", missing: 0 } }, { value: 22 }],
  ["avg of no values is null", { avg: { field: "nothing" } }, { value: null }],
  [
    "max of a date has a printed twin",
    { max: { field: "at" } },
    { value: at("2018-06-01"), value_as_string: "2018-06-01T00:00:00.000Z" },
  ],
  ["value_count counts values of keywords", { value_count: { field: "tags" } }, { value: 4 }],
  ["value_count counts values of numbers", { value_count: { field: "status" } }, { value: 4 }],
  ["cardinality counts keywords", { cardinality: { field: "host" } }, { value: 3 }],
  ["cardinality counts numbers", { cardinality: { field: "status" } }, { value: 3 }],
  ["cardinality counts addresses", { cardinality: { field: "ip" } }, { value: 2 }],
  ["stats has all five", { stats: { field: "score" } }, { count: 4, min: 10, max: 50, avg: 27.5, sum: 110 }],
  [
    "stats without values has nulls",
    { stats: { field: "nothing" } },
    { count: 0, min: null, max: null, avg: null, sum: 0 },
  ],
  [
    "percentiles of few values are interpolated",
    { percentiles: { field: "score", percents: [0, 50, 100] } },
    { values: { "0.0": 10, "50.0": 25, "100.0": 50 } },
  ],
  [
    "percentiles of no values are NaN",
    { percentiles: { field: "nothing", percents: [50] } },
    { values: { "50.0": "NaN" } },
  ],
  [
    "terms orders by count, then key",
    { terms: { field: "host" } },
    {
      doc_count_error_upper_bound: 0,
      sum_other_doc_count: 0,
      buckets: [
        { key: "a", doc_count: 3 },
        { key: "b", doc_count: 1 },
        { key: "c", doc_count: 1 },
      ],
    },
  ],
  [
    "terms counts what it leaves out",
    { terms: { field: "host", size: 1 } },
    { doc_count_error_upper_bound: 0, sum_other_doc_count: 2, buckets: [{ key: "a", doc_count: 3 }] },
  ],
  [
    "terms puts a document into the bucket of each value",
    { terms: { field: "tags" } },
    {
      doc_count_error_upper_bound: 0,
      sum_other_doc_count: 0,
      buckets: [
        { key: "x", doc_count: 2 },
        { key: "y", doc_count: 2 },
      ],
    },
  ],
  [
    "terms of numbers has numbers as keys",
    { terms: { field: "status", order: { _key: "desc" } } },
    {
      doc_count_error_upper_bound: 0,
      sum_other_doc_count: 0,
      buckets: [
        { key: 500, doc_count: 1 },
        { key: 404, doc_count: 1 },
        { key: 200, doc_count: 2 },
      ],
    },
  ],
  [
    "terms of booleans has printed keys",
    { terms: { field: "ok" } },
    {
      doc_count_error_upper_bound: 0,
      sum_other_doc_count: 0,
      buckets: [
        { key: 0, key_as_string: "false", doc_count: 2 },
        { key: 1, key_as_string: "true", doc_count: 2 },
      ],
    },
  ],
  [
    "terms takes include, exclude and missing",
    { terms: { field: "tags", include: "[x-z]|none", exclude: ["y"], missing: "none" } },
    {
      doc_count_error_upper_bound: 0,
      sum_other_doc_count: 0,
      buckets: [
        { key: "none", doc_count: 2 },
        { key: "x", doc_count: 2 },
      ],
    },
  ],
  [
    "terms orders by a metric below",
    { terms: { field: "host", order: { top: "asc" } }, aggs: { top: { max: { field: "score" } } } },
    {
      doc_count_error_upper_bound: 0,
      sum_other_doc_count: 0,
      buckets: [
        { key: "c", doc_count: 1, top: { value: null } },
        { key: "b", doc_count: 1, top: { value: 20 } },
        { key: "a", doc_count: 3, top: { value: 50 } },
      ],
    },
  ],
  [
    "terms of dates takes dates to include",
    { terms: { field: "at", include: ["2018-06-01"] } },
    {
      doc_count_error_upper_bound: 0,
      sum_other_doc_count: 0,
      buckets: [{ key: at("2018-06-01"), key_as_string: "2018-06-01T00:00:00.000Z", doc_count: 1 }],
    },
  ],
  [
    "terms of an unmapped field takes missing as the type it is told",
    { terms: { field: "nothing", value_type: "boolean", missing: "true" } },
    {
      doc_count_error_upper_bound: 0,
      sum_other_doc_count: 0,
      buckets: [{ key: 1, key_as_string: "true", doc_count: 5 }],
    },
  ],
  [
    "terms of an unmapped field has no buckets",
    { terms: { field: "nothing" } },
    { doc_count_error_upper_bound: 0, sum_other_doc_count: 0, buckets: [] },
  ],
  [
    "range has generated keys, from inclusive, to exclusive",
    { range: { field: "score", ranges: [{ to: 20 }, { key: "mid", from: 20, to: 50 }, { from: 50 }] } },
    {
      buckets: [
        { key: "*-20.0", to: 20, doc_count: 1 },
        { key: "mid", from: 20, to: 50, doc_count: 2 },
        { key: "50.0-*", from: 50, doc_count: 1 },
      ],
    },
  ],
  [
    "range can be keyed",
    { range: { field: "score", keyed: true, ranges: [{ from: 20, to: 50 }] } },
    { buckets: { "20.0-50.0": { from: 20, to: 50, doc_count: 2 } } },
  ],
  [
    "date_range takes date math",
    { date_range: { field: "at", ranges: [{ key: "march", from: "2018-03-01", to: "2018-03-01||+1M" }] } },
    {
      buckets: [
        {
          key: "march",
          from: at("2018-03-01"),
          from_as_string: "2018-03-01T00:00:00.000Z",
          to: at("2018-04-01"),
          to_as_string: "2018-04-01T00:00:00.000Z",
          doc_count: 4,
        },
      ],
    },
  ],
  [
    "histogram fills gaps",
    { histogram: { field: "score", interval: 10 } },
    { buckets: [10, 20, 30, 40, 50].map((key) => ({ key, doc_count: key === 40 ? 0 : 1 })) },
  ],
  [
    "histogram leaves buckets below min_doc_count out",
    { histogram: { field: "score", interval: 20, offset: 5, min_doc_count: 1 } },
    {
      buckets: [
        { key: 5, doc_count: 2 },
        { key: 25, doc_count: 1 },
        { key: 45, doc_count: 1 },
      ],
    },
  ],
  [
    "filter is one bucket",
    { filter: { term: { host: "a" } }, aggs: { s: { sum: { field: "score" } } } },
    { doc_count: 3, s: { value: 90 } },
  ],
  [
    "filters by name with the others",
    {
      filters: {
        filters: { bad: { range: { status: { gte: 500 } } }, good: { term: { status: 200 } } },
        other_bucket: true,
      },
    },
    { buckets: { bad: { doc_count: 1 }, good: { doc_count: 2 }, _other_: { doc_count: 2 } } },
  ],
  ["filters as a list", { filters: { filters: [{ term: { host: "b" } }] } }, { buckets: [{ doc_count: 1 }] }],
  ["missing counts documents without the field", { missing: { field: "tags" } }, { doc_count: 2 }],
  [
    "meta is given back",
    { min: { field: "score" }, meta: { unit: "s" } },
    { meta: { unit: "s" }, value: 10 },
  ],
];

describe("aggregations", () => {
  for (const [name, aggregation, answer] of ANSWERS) {
    test(name, async () => assert.deepEqual(await aggregate(aggregation), answer));
  }

  test("date_histogram counts days of a time zone, the short one of the spring change included", async () => {
    const { buckets } = (await aggregate(
      { date_histogram: { field: "at", interval: "day", time_zone: "Europe/Berlin" } },
      { range: { at: { lt: "2018-04-01" } } },
    )) as { buckets: { key: number; key_as_string: string; doc_count: number }[] };
    assert.deepEqual(
      buckets.map((bucket) => [bucket.key_as_string, bucket.doc_count]),
      [
        ["2018-03-25T00:00:00.000+01:00", 3],
        ["2018-03-26T00:00:00.000+02:00", 0],
        ["2018-03-27T00:00:00.000+02:00", 0],
        ["2018-03-28T00:00:00.000+02:00", 1],
      ],
    );
    assert.equal(buckets[1]!.key - buckets[0]!.key, 23 * 3_600_000);
  });

  test("date_histogram has fixed intervals, bounds, offsets and calendar units", async () => {
    const query = { range: { at: { lt: "2018-03-26" } } };
    const keys = async (options: JsonObject): Promise<[number, number][]> => {
      const { buckets } = (await aggregate({ date_histogram: { field: "at", ...options } }, query)) as {
        buckets: { key: number; doc_count: number }[];
      };
      return buckets.map((bucket) => [bucket.key, bucket.doc_count]);
    };
    assert.deepEqual(await keys({ fixed_interval: "12h" }), [
      [at("2018-03-24T12:00Z"), 1],
      [at("2018-03-25T00:00Z"), 1],
      [at("2018-03-25T12:00Z"), 1],
    ]);
    assert.deepEqual(
      await keys({ calendar_interval: "1d", extended_bounds: { min: "2018-03-23", max: at("2018-03-26") } }),
      [
        [at("2018-03-23"), 0],
        [at("2018-03-24"), 1],
        [at("2018-03-25"), 2],
        [at("2018-03-26"), 0],
      ],
    );
    assert.deepEqual(await keys({ interval: "1d", offset: "+6h" }), [
      [at("2018-03-24") + DAY / 4, 2],
      [at("2018-03-25") + DAY / 4, 1],
    ]);
    assert.deepEqual(await keys({ interval: "month" }), [[at("2018-03-01"), 3]]);
  });

  test("stand below one another to any depth", async () => {
    const answer = await aggregate({
      terms: { field: "host" },
      aggs: {
        days: {
          date_histogram: { field: "at", interval: "month", min_doc_count: 1 },
          aggs: { codes: { terms: { field: "status" } } },
        },
      },
    });
    const [first] = answer["buckets"] as [
      { days: { buckets: { doc_count: number; codes: { buckets: unknown[] } }[] } },
    ];
    assert.equal(first.days.buckets[0]!.doc_count, 3);
    assert.deepEqual(
      first.days.buckets[0]!.codes.buckets,
      [200, 404, 500].map((key) => ({ key, doc_count: 1 })),
    );
  });

  test("see the documents of the query, global sees all", async () => {
    const { aggregations } = await one.search({
      size: 0,
      query: { term: { host: "b" } },
      aggs: {
        mine: { sum: { field: "score" } },
        all: { global: {}, aggs: { s: { sum: { field: "score" } } } },
      },
    });
    assert.deepEqual(aggregations, { mine: { value: 20 }, all: { doc_count: 5, s: { value: 110 } } });
  });

  test("see all documents of the query whatever post_filter does to the hits", async () => {
    const { aggregations, total } = await one.search({
      post_filter: { term: { host: "b" } },
      aggs: { s: { sum: { field: "score" } } },
    });
    assert.equal(total, 1);
    assert.deepEqual(aggregations, { s: { value: 110 } });
  });

  test("top_hits gives the best documents of each bucket", async () => {
    const answer = await aggregate({
      terms: { field: "host", size: 1 },
      aggs: { best: { top_hits: { size: 2, sort: [{ score: "desc" }], _source: ["score"] } } },
    });
    const [bucket] = answer["buckets"] as [{ best: { hits: { total: number; hits: JsonObject[] } } }];
    assert.equal(bucket.best.hits.total, 3);
    assert.deepEqual(
      bucket.best.hits.hits.map((hit) => [hit["_id"], hit["_source"], hit["sort"]]),
      [
        ["3", { score: 50 }, [50]],
        ["2", { score: 30 }, [30]],
      ],
    );
  });

  test("have their types before their names with typed_keys", async () => {
    const { aggregations } = await one.search(
      {
        size: 0,
        aggs: {
          h: { terms: { field: "host" } },
          s: { terms: { field: "status" } },
          m: { avg: { field: "score" } },
        },
      },
      { typedKeys: true },
    );
    assert.deepEqual(Object.keys(aggregations!), ["sterms#h", "lterms#s", "avg#m"]);
  });

  test("beyond the bucket limit are refused", async () => {
    const limits = { ...DEFAULT_LIMITS, maxBuckets: 2 };
    await assert.rejects(one.search({ aggs: { h: { terms: { field: "host" } } } }, { limits }), (error) => {
      assert.ok(error instanceof AppError && error.code === "too_many_buckets");
      assert.match(error.message, /less than or equal to: \[2\] but was \[3\]/);
      return true;
    });
    await assert.rejects(one.search({ aggs: { h: { date_histogram: { field: "at", interval: "1s" } } } }), {
      code: "too_many_buckets",
    });
  });
});

/** [aggregation, message] */
const FAULTS: readonly (readonly [aggregation: JsonObject, message: RegExp])[] = [
  [{ trems: { field: "host" } }, /Unknown BaseAggregationBuilder \[trems\]; did you mean "terms"/],
  [{ terms: { field: "message" } }, /Fielddata is disabled on text fields by default/],
  [{ terms: { fild: "host" } }, /does not support \[fild\]; did you mean "field"/],
  [{ terms: { field: "ip", include: "10.*" } }, /regular expression style include\/exclude/],
  [{ percentiles: { field: "score", percents: [] } }, /\[percents\] must not be empty/],
  [{ avg: { field: "host" } }, /Expected numeric type on field \[host\], but got \[keyword\]/],
  [{ avg: {} }, /none were specified/],
  [{ terms: { field: "host", order: { nothing: "asc" } } }, /Unknown aggregation \[nothing\]/],
  [{ date_histogram: { field: "at" } }, /\[interval\] must be given/],
  [{ date_histogram: { field: "at", interval: "1d", fixed_interval: "1d" } }, /Cannot use \[interval\] with/],
  [{ date_histogram: { field: "at", interval: "1d", time_zone: "Mars/Base" } }, /not recognised/],
  [
    { extended_stats: { field: "score", sigma: -1 } },
    /\[sigma\] must be greater .* Found \[-1\.0\] in \[a\]/,
  ],
  [{ cardinality: { field: "score", precision_threshold: -1 } }, /\[precisionThreshold\] .* Found \[-1\] in/],
  [{ histogram: { field: "score", interval: 0 } }, /must be >0/],
  [{ min: { field: "score" }, aggs: { x: { max: { field: "score" } } } }, /cannot accept sub-aggregations/],
];

describe("faulty aggregations", () => {
  for (const [aggregation, message] of FAULTS) {
    test(`${JSON.stringify(aggregation)} is refused`, async () => {
      await assert.rejects(one.search({ aggs: { a: aggregation } }), (error) => {
        assert.ok(error instanceof AppError);
        assert.match(
          error.message === "all shards failed" ? (error.cause as AppError).message : error.message,
          message,
        );
        assert.ok(error.status < 500);
        return true;
      });
    });
  }
});
