import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  docs: [
    { at: "2026-01-01", n: 10, host: "a" },
    { at: "2026-01-01", n: 20, host: "b" },
    { at: "2026-01-02", n: 5, host: "a" },
    { at: "2026-01-04", n: 50, host: "b" },
  ],
});
after(() => fixture.close());

/** Answers of a pipeline below a histogram of days with the sum of n. */
async function below(pipeline: JsonObject): Promise<unknown[]> {
  const { aggregations } = await fixture.search({
    size: 0,
    aggs: {
      days: {
        date_histogram: { field: "at", interval: "1d" },
        aggs: { sum: { sum: { field: "n" } }, made: pipeline },
      },
    },
  });
  const { buckets } = aggregations!["days"] as { buckets: Record<string, { value: unknown } | undefined>[] };
  return buckets.map((bucket) => bucket["made"]?.value);
}

async function beside(pipeline: JsonObject, extra: JsonObject = {}): Promise<unknown> {
  const { aggregations } = await fixture.search(
    {
      size: 0,
      aggs: {
        days: { date_histogram: { field: "at", interval: "1d" }, aggs: { sum: { sum: { field: "n" } } } },
        made: pipeline,
      },
    },
    extra,
  );
  return aggregations;
}

test("the sum of stats without numbers is 0, their mean none", async () => {
  const path = (part: string): JsonObject => ({
    bucket_script: { buckets_path: { it: part }, script: "params.it" },
  });
  const { aggregations } = await fixture.search({
    size: 0,
    aggs: {
      hosts: {
        terms: { field: "host.keyword" },
        aggs: {
          none: { extended_stats: { field: "other" } },
          sum: path("none.sum"),
          squares: path("none.sum_of_squares"),
          avg: path("none.avg"),
        },
      },
      all: { sum_bucket: { buckets_path: "hosts>none.sum" } },
    },
  });
  const { buckets } = aggregations!["hosts"] as { buckets: JsonObject[] };
  for (const { sum, squares, avg } of buckets)
    assert.deepEqual([sum, squares, avg], [{ value: 0 }, { value: 0 }, undefined]);
  assert.deepEqual(aggregations!["all"], { value: 0 });
});

test("a path may name a bucket by its key", async () => {
  const sum = { sum: { sum: { field: "n" } } };
  const ratio = (a: string, b: string): JsonObject => ({
    bucket_script: { buckets_path: { a, b }, script: "params.a / params.b" },
  });
  const { aggregations } = await fixture.search({
    size: 0,
    aggs: {
      days: {
        date_histogram: { field: "at", interval: "1d" },
        aggs: {
          hosts: { terms: { field: "host.keyword" }, aggs: sum },
          named: { filters: { filters: { "x>y": { term: { n: 10 } } } }, aggs: sum },
          ratio: ratio("hosts['a']>sum", "hosts['b']>sum.value"),
          share: ratio("named['x>y']>_count", "_count"),
          none: ratio("hosts['c']>sum", "_count"),
        },
      },
    },
  });
  const { buckets } = aggregations!["days"] as { buckets: Record<string, { value: unknown } | undefined>[] };
  const values = (name: string): unknown[] => buckets.map((bucket) => bucket[name]?.value);
  assert.deepEqual(values("ratio"), [0.5, undefined, undefined, undefined]);
  assert.deepEqual(values("share"), [0.5, 0, null, 0]);
  assert.deepEqual(values("none"), [undefined, undefined, undefined, undefined]);
});

test("a path that can't be read is refused", async () => {
  for (const path of ["a>", ">a", "a>>b", "a[b", "a['b'>c"])
    await assert.rejects(below({ cumulative_sum: { buckets_path: path } }), { code: "parsing" }, path);
});

suite("pipelines below a histogram", () => {
  const rows: [name: string, pipeline: JsonObject, values: unknown[]][] = [
    ["cumulative_sum adds up", { cumulative_sum: { buckets_path: "sum" } }, [30, 35, 35, 85]],
    [
      "derivative takes gaps as zeros where told",
      { derivative: { buckets_path: "sum", gap_policy: "insert_zeros" } },
      [undefined, -25, -5, 50],
    ],
    ["derivative skips gaps", { derivative: { buckets_path: "sum" } }, [undefined, -25, null, null]],
    ["derivative of counts", { derivative: { buckets_path: "_count" } }, [undefined, -1, -1, 1]],
    ["serial_diff", { serial_diff: { buckets_path: "sum", lag: 3 } }, [undefined, undefined, undefined, 20]],
    [
      "moving_avg is the mean of those before",
      { moving_avg: { buckets_path: "sum" } },
      [undefined, 30, undefined, 17.5],
    ],
    [
      "moving_avg ewma",
      { moving_avg: { buckets_path: "sum", model: "ewma", settings: { alpha: 0.5 } } },
      [undefined, 30, undefined, 17.5],
    ],
    [
      "moving_avg holt begins without a trend",
      { moving_avg: { buckets_path: "sum", model: "holt" } },
      [undefined, 30, undefined, 22.5],
    ],
    [
      "moving_fn knows functions by name",
      { moving_fn: { buckets_path: "sum", window: 2, script: "MovingFunctions.max(values)" } },
      // A bucket without documents is left out, of the windows too.
      [null, 30, undefined, 30],
    ],
    [
      "moving_fn runs any script, whose result is 0 without one",
      {
        moving_fn: {
          buckets_path: "sum",
          window: 5,
          script: {
            source:
              "if (values.length > 1) { return params.by * MovingFunctions.unweightedAvg(values) + values[0] }",
            params: { by: 2 },
          },
        },
      },
      [0, 0, undefined, 65],
    ],
    [
      "moving_avg predicts the buckets that follow",
      {
        moving_avg: {
          buckets_path: "sum",
          model: "holt",
          settings: { alpha: 0.5, beta: 0.7 },
          predict: 2,
        },
      },
      [undefined, 30, undefined, 17.5, 29.375, 29.375 + 5.6875],
    ],
  ];
  for (const [name, pipeline, values] of rows) {
    test(name, async () => assert.deepEqual(await below(pipeline), values));
  }

  test("buckets that moving_avg predicts count as those of an answer", async () => {
    const aggs = {
      days: {
        date_histogram: { field: "at", interval: "1d" },
        aggs: { sum: { sum: { field: "n" } }, made: { moving_avg: { buckets_path: "sum", predict: 7 } } },
      },
    };
    const search = (maxBuckets: number): Promise<unknown> =>
      fixture.search({ size: 0, aggs }, { limits: { ...DEFAULT_LIMITS, maxBuckets } });
    await search(11);
    await assert.rejects(search(10), { code: "too_many_buckets" });
  });

  test("extended_stats_bucket refuses bounds of less than no deviation", async () => {
    await assert.rejects(
      beside({ extended_stats_bucket: { buckets_path: "days>sum", sigma: -1 } }),
      /sigma must be a non-negative double/,
    );
  });

  test("bucket_sort orders and cuts", async () => {
    const { aggregations } = await fixture.search({
      size: 0,
      aggs: {
        hosts: {
          terms: { field: "host.keyword" },
          aggs: {
            sum: { sum: { field: "n" } },
            top: { bucket_sort: { sort: [{ sum: { order: "desc" } }], size: 1 } },
          },
        },
      },
    });
    const { buckets } = aggregations!["hosts"] as { buckets: JsonObject[] };
    assert.deepEqual(buckets, [{ key: "b", doc_count: 2, sum: { value: 70 } }]);
  });
});

suite("pipelines beside a histogram", () => {
  const rows: [type: string, answer: JsonObject][] = [
    ["max_bucket", { value: 50, keys: ["2026-01-04T00:00:00.000Z"] }],
    ["min_bucket", { value: 5, keys: ["2026-01-02T00:00:00.000Z"] }],
    ["sum_bucket", { value: 85 }],
    ["avg_bucket", { value: 85 / 3 }],
    ["stats_bucket", { count: 3, min: 5, max: 50, avg: 85 / 3, sum: 85 }],
  ];
  for (const [type, answer] of rows) {
    test(type, async () => {
      const made = (await beside({ [type]: { buckets_path: "days>sum" } })) as JsonObject;
      assert.deepEqual(made["made"], answer);
    });
  }

  test("percentiles_bucket gives numbers of buckets", async () => {
    const made = (await beside({
      percentiles_bucket: { buckets_path: "days>sum", percents: [50] },
    })) as JsonObject;
    assert.deepEqual(made["made"], { values: { "50.0": 30 } });
  });

  test("names have their types with typed_keys", async () => {
    const made = await beside({ max_bucket: { buckets_path: "days>sum" } }, { typedKeys: true });
    assert.deepEqual(Object.keys(made as JsonObject), ["date_histogram#days", "bucket_metric_value#made"]);
  });
});

suite("faulty pipelines are refused", () => {
  const rows: [name: string, aggs: JsonObject, reason: RegExp][] = [
    [
      "at the top",
      { d: { derivative: { buckets_path: "x" } } },
      /No aggregation found|does not exist|top level/,
    ],
    [
      "scripts that can't be compiled",
      { d: { bucket_script: { buckets_path: "x", script: "1 +" } } },
      /compile error/,
    ],
    [
      "unknown paths",
      { d: { max_bucket: { buckets_path: "nothing>x" } } },
      /buckets_path aggregation does not exist/,
    ],
    ["no path", { d: { max_bucket: {} } }, /buckets_path/],
  ];
  for (const [name, aggs, reason] of rows) {
    test(name, async () => await assert.rejects(async () => await fixture.search({ aggs }), reason));
  }
});
