import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { AggregationsFixture } from "#test/support/search/aggregations.ts";

const fixture = new AggregationsFixture();
after(() => fixture.close());
const { one } = fixture;
const DAY = 86_400_000;
const at = (text: string): number => Date.parse(text);

describe("aggregations over shards", () => {
  test("date_histogram counts days of a time zone, the short one of the spring change included", async () => {
    const { buckets } = (await fixture.aggregate(
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
      const { buckets } = (await fixture.aggregate(
        { date_histogram: { field: "at", ...options } },
        query,
      )) as {
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
    const answer = await fixture.aggregate({
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

  test("top_hits sorted by a field gives the first documents of each bucket", async () => {
    const answer = await fixture.aggregate({
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

test("a path of a pipeline leads into buckets by a dot as by >", async () => {
  const mean = async (path: string): Promise<unknown> => {
    const aggs = {
      hosts: { terms: { field: "host" }, aggs: { s: { stats: { field: "score" } } } },
      mean: { avg_bucket: { buckets_path: path } },
    };
    return (await one.search({ size: 0, aggs })).aggregations!["mean"];
  };
  assert.notDeepEqual(await mean("hosts>s.max"), await mean("hosts>_count"));
  assert.deepEqual(await mean("hosts.s.max"), await mean("hosts>s.max"));
  assert.deepEqual(await mean("hosts"), await mean("hosts>_count"));
});
