import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({
  mapping: {
    properties: {
      t: { type: "text" },
      k: { type: "keyword" },
      n: { type: "integer" },
      b: { type: "boolean" },
    },
  },
  docs: [
    { t: "fox and many other words in between", k: "a", n: 1, b: true },
    { t: "fox", k: "a", n: 2, b: false },
    { t: "dog dog dog", k: "b", n: 3, b: true },
    { t: "nothing", k: "c", n: 4 },
    { t: "fox dog", k: "b", n: 5, b: true },
    { t: "dog and other words", k: "c", n: 6 },
    { t: "fox fox fox dog", k: "a", n: 7 },
    { t: "a dog", n: 8 },
  ],
  segmentDocs: 3,
});
after(() => index.close());

/** Answers of a 6.5.4 server over the same documents, in one shard. */
const ROWS: readonly (readonly [aggs: JsonObject, answer: JsonObject])[] = [
  [
    { s: { sampler: { shard_size: 2 }, aggs: { n: { terms: { field: "n" } } } } },
    {
      s: {
        doc_count: 2,
        n: {
          doc_count_error_upper_bound: 0,
          sum_other_doc_count: 0,
          buckets: [
            { key: 5, doc_count: 1 },
            { key: 7, doc_count: 1 },
          ],
        },
      },
    },
  ],
  [
    { s: { sampler: { shard_size: 100 }, aggs: { n: { sum: { field: "n" } } } } },
    { s: { doc_count: 7, n: { value: 32 } } },
  ],
  [
    { s: { sampler: { shard_size: 2 ** 31 - 1 }, aggs: { n: { sum: { field: "n" } } } } },
    { s: { doc_count: 7, n: { value: 32 } } },
  ],
  [
    { s: { diversified_sampler: { field: "k", shard_size: 3 }, aggs: { n: { terms: { field: "n" } } } } },
    {
      s: {
        doc_count: 3,
        n: {
          doc_count_error_upper_bound: 0,
          sum_other_doc_count: 0,
          buckets: [
            { key: 5, doc_count: 1 },
            { key: 6, doc_count: 1 },
            { key: 7, doc_count: 1 },
          ],
        },
      },
    },
  ],
  [
    {
      s: {
        diversified_sampler: { field: "k", shard_size: 4, max_docs_per_value: 2 },
        aggs: { n: { terms: { field: "n" } } },
      },
    },
    {
      s: {
        doc_count: 4,
        n: {
          doc_count_error_upper_bound: 0,
          sum_other_doc_count: 0,
          buckets: [
            { key: 2, doc_count: 1 },
            { key: 3, doc_count: 1 },
            { key: 5, doc_count: 1 },
            { key: 7, doc_count: 1 },
          ],
        },
      },
    },
  ],
  [
    { s: { diversified_sampler: { field: "b", shard_size: 2 }, aggs: { n: { terms: { field: "n" } } } } },
    {
      s: {
        doc_count: 2,
        n: {
          doc_count_error_upper_bound: 0,
          sum_other_doc_count: 0,
          buckets: [
            { key: 5, doc_count: 1 },
            { key: 7, doc_count: 1 },
          ],
        },
      },
    },
  ],
  [
    {
      k: {
        terms: { field: "k" },
        aggs: { s: { sampler: { shard_size: 1 }, aggs: { n: { terms: { field: "n" } } } } },
      },
    },
    {
      k: {
        doc_count_error_upper_bound: 0,
        sum_other_doc_count: 0,
        buckets: [
          {
            key: "a",
            doc_count: 3,
            s: {
              doc_count: 1,
              n: {
                doc_count_error_upper_bound: 0,
                sum_other_doc_count: 0,
                buckets: [{ key: 7, doc_count: 1 }],
              },
            },
          },
          {
            key: "b",
            doc_count: 2,
            s: {
              doc_count: 1,
              n: {
                doc_count_error_upper_bound: 0,
                sum_other_doc_count: 0,
                buckets: [{ key: 5, doc_count: 1 }],
              },
            },
          },
          {
            key: "c",
            doc_count: 1,
            s: {
              doc_count: 1,
              n: {
                doc_count_error_upper_bound: 0,
                sum_other_doc_count: 0,
                buckets: [{ key: 6, doc_count: 1 }],
              },
            },
          },
        ],
      },
    },
  ],
  [{ m: { max: { script: "Math.round(_score * 1000)" } } }, { m: { value: 1450 } }],
  [
    {
      k: {
        terms: { field: "k", order: { m: "desc" } },
        aggs: { m: { max: { script: { source: "Math.round(_score * 1000)" } } } },
      },
    },
    {
      k: {
        doc_count_error_upper_bound: 0,
        sum_other_doc_count: 0,
        buckets: [
          { key: "a", doc_count: 3, m: { value: 1450 } },
          { key: "b", doc_count: 2, m: { value: 1373 } },
          { key: "c", doc_count: 1, m: { value: 433 } },
        ],
      },
    },
  ],
  [{ m: { sum: { field: "n", script: "_value * Math.round(_score * 1000)" } } }, { m: { value: 28850 } }],
  [
    {
      h: {
        histogram: { field: "n", interval: 2 },
        aggs: {
          s: { sum: { field: "n" } },
          f: {
            moving_fn: { buckets_path: "s", window: 3, script: "MovingFunctions.linearWeightedAvg(values)" },
          },
        },
      },
    },
    {
      h: {
        buckets: [
          { key: 0, doc_count: 1, s: { value: 1 }, f: { value: null } },
          { key: 2, doc_count: 2, s: { value: 5 }, f: { value: 0.5 } },
          { key: 4, doc_count: 1, s: { value: 5 }, f: { value: 2.75 } },
          { key: 6, doc_count: 2, s: { value: 13 }, f: { value: 3.7142857142857144 } },
          { key: 8, doc_count: 1, s: { value: 8 }, f: { value: 7.714285714285714 } },
        ],
      },
    },
  ],
  [
    { e: { extended_stats: { field: "none" } } },
    {
      e: {
        count: 0,
        min: null,
        max: null,
        avg: null,
        sum: null,
        sum_of_squares: null,
        variance: null,
        std_deviation: null,
        std_deviation_bounds: { upper: null, lower: null },
      },
    },
  ],
  [{ a: { avg: { field: "b" } } }, { a: { value: 0.75, value_as_string: "true" } }],
  [{ c: { value_count: { field: "_id" } } }, { c: { value: 7 } }],
];
for (const [aggs, answer] of ROWS) {
  test(`${JSON.stringify(aggs)} is answered as by a 6.5 server`, async () => {
    const found = await index.search({ size: 0, query: { match: { t: "fox dog" } }, aggs });
    assert.deepEqual(JSON.parse(JSON.stringify(found.aggregations)), answer);
  });
}
