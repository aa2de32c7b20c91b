import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { AggregationsFixture } from "#test/support/search/aggregations.ts";

const fixture = new AggregationsFixture();
after(() => fixture.close());
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
    { count: 0, min: null, max: null, avg: null, sum: null },
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
    "median_absolute_deviation is how far off values lie",
    { median_absolute_deviation: { field: "score" } },
    { value: 10 },
  ],
  [
    "median_absolute_deviation counts missing values as told",
    { median_absolute_deviation: { field: "score", missing: 30, format: "0.0" } },
    { value: 10, value_as_string: "10.0" },
  ],
  [
    "median_absolute_deviation of no values is null",
    { median_absolute_deviation: { field: "nothing" } },
    { value: null },
  ],
  [
    "keys of combined dates begin where the offset says",
    {
      composite: {
        sources: [{ day: { date_histogram: { field: "at", calendar_interval: "1d", offset: "4h" } } }],
        size: 2,
      },
    },
    {
      after_key: { day: at("2018-03-25T04:00:00Z") },
      buckets: [
        { key: { day: at("2018-03-24T04:00:00Z") }, doc_count: 2 },
        { key: { day: at("2018-03-25T04:00:00Z") }, doc_count: 1 },
      ],
    },
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
    "terms leaves missing out if include or exclude do",
    { terms: { field: "tags", include: ["x"], missing: "none" } },
    {
      doc_count_error_upper_bound: 0,
      sum_other_doc_count: 0,
      buckets: [{ key: "x", doc_count: 2 }],
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
    test(name, async () => assert.deepEqual(await fixture.aggregate(aggregation), answer));
  }
});
