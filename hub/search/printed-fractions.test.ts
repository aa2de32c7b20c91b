/** Numbers of kinds that have fractions are printed with a point, as clients that read typed JSON expect: 5.0, not 5. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { parseJson } from "#hub/search/options/json.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({
  shards: 2,
  mapping: {
    properties: {
      n: { type: "long" },
      d: { type: "double" },
      f: { type: "float" },
      s: { type: "scaled_float", scaling_factor: 10 },
      at: { type: "date" },
      p: { type: "geo_point" },
    },
  },
  docs: [
    { n: 4, d: 5, f: 0.1, s: 2, at: "1970-01-01T00:00:01Z", p: "0,0", whole: 5 },
    '{"n":6,"d":5.0,"f":7,"s":2,"at":"1970-01-01T00:00:01Z","p":"0,0","whole":5.0}',
  ],
});
after(() => index.close());

const BY_DAY = { field: "at", interval: "day" };

const TOP = { sort: { n: "desc" }, metrics: [{ field: "d" }, { field: "n" }] };
const MOMENTS =
  '"count":2,"mean":5.0,"variance":0.0,"skewness":"NaN","kurtosis":"NaN","covariance":{"d":0.0},"correlation":{"d":1.0}';

const AGGREGATIONS: readonly (readonly [type: string, request: JsonObject, printed: string])[] = [
  ["avg", { avg: { field: "n" } }, '{"value":5.0}'],
  ["max of no values", { max: { field: "none" } }, '{"value":null}'],
  ["value_count", { value_count: { field: "n" } }, '{"value":2}'],
  ["cardinality", { cardinality: { field: "n" } }, '{"value":2}'],
  ["stats", { stats: { field: "n" } }, '{"count":2,"min":4.0,"max":6.0,"avg":5.0,"sum":10.0}'],
  ["sum of many", { sum: { script: "1.0E10" } }, '{"value":2.0E10}'],
  [
    "percentiles",
    { percentiles: { field: "d", percents: [50], keyed: false } },
    '{"values":[{"key":50.0,"value":5.0}]}',
  ],
  [
    "terms of doubles",
    { terms: { field: "d" } },
    '{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":5.0,"doc_count":2}]}',
  ],
  [
    "terms of whole numbers",
    { terms: { field: "n", size: 1 } },
    '{"doc_count_error_upper_bound":0,"sum_other_doc_count":1,"buckets":[{"key":4,"doc_count":1}]}',
  ],
  ["histogram", { histogram: { field: "n", interval: 10 } }, '{"buckets":[{"key":0.0,"doc_count":2}]}'],
  [
    "range",
    { range: { field: "n", ranges: [{ from: 1, to: 9 }] } },
    '{"buckets":[{"key":"1.0-9.0","from":1.0,"to":9.0,"doc_count":2}]}',
  ],
  [
    "composite",
    {
      composite: {
        sources: [
          { d: { terms: { field: "d" } } },
          { h: { histogram: { field: "n", interval: 10 } } },
          { s: { date_histogram: BY_DAY } },
        ],
      },
    },
    '{"after_key":{"d":5.0,"h":0.0,"s":0},"buckets":[{"key":{"d":5.0,"h":0.0,"s":0},"doc_count":2}]}',
  ],
  ["geo_centroid", { geo_centroid: { field: "p" } }, '{"location":{"lat":0.0,"lon":0.0},"count":2}'],
  [
    "pipelines",
    {
      date_histogram: BY_DAY,
      aggs: { most: { max: { field: "n" } }, sum: { cumulative_sum: { buckets_path: "most" } } },
    },
    '{"buckets":[{"key_as_string":"1970-01-01T00:00:00.000Z","key":0,"doc_count":2,"most":{"value":6.0},"sum":{"value":6.0}}]}',
  ],
  [
    "scripted_metric",
    {
      scripted_metric: {
        init_script: "state.all = []",
        map_script: "state.all.add(doc.d.value)",
        combine_script: "return state.all[0]",
        reduce_script: "double most = 0; for (s in states) { most += s / 2 } return most",
      },
    },
    '{"value":5.0}',
  ],
  [
    "multi_terms",
    { multi_terms: { terms: [{ field: "d" }, { field: "n" }, { field: "at" }], size: 1 } },
    '{"doc_count_error_upper_bound":0,"sum_other_doc_count":1,"buckets":[{"key":[5.0,4,"1970-01-01T00:00:01.000Z"],"key_as_string":"5.0|4|1970-01-01T00:00:01.000Z","doc_count":1}]}',
  ],
  ["top_metrics", { top_metrics: TOP }, '{"top":[{"sort":[6],"metrics":{"d":5.0,"n":6}}]}'],
  ["matrix_stats", { matrix_stats: { fields: ["d"] } }, `{"doc_count":2,"fields":[{"name":"d",${MOMENTS}}]}`],
];

for (const [type, request, printed] of AGGREGATIONS) {
  test(`${type} prints fractions with a point, and counts without`, async () => {
    const answer = await index.printed({ size: 0, aggs: { a: request } });
    assert.equal(answer, `{"hits":[],"aggregations":{"a":${printed}}}`);
  });
}

test("a sibling pipeline names the key of its bucket as it is printed", async () => {
  const aggs = {
    h: { histogram: { field: "n", interval: 10 }, aggs: { most: { max: { field: "n" } } } },
    best: { max_bucket: { buckets_path: "h>most" } },
  };
  assert.match(await index.printed({ size: 0, aggs }), /"best":\{"value":6\.0,"keys":\["0\.0"\]\}/);
});

test("sort values, columns and fields of scripts are printed in the kinds of their fields", async () => {
  const answer = await index.printed({
    sort: [{ n: "asc" }, "f", "d", "s", { _script: { type: "number", script: "2", order: "asc" } }],
    _source: false,
    size: 1,
    docvalue_fields: ["n", "d", "s"],
    script_fields: { half: { script: "params._source.whole / 2" }, twice: { script: "doc.d.value * 2" } },
  });
  assert.match(answer, /"sort":\[4,0\.1,5\.0,2\.0,2\.0\]/);
  assert.match(answer, /"n":\[4\],"d":\[5\.0\],"s":\[2\.0\]/);
  assert.match(answer, /"half":\[2\],"twice":\[10\.0\]/);
});

test("a script tells the 5.0 of a document from 5", async () => {
  const { hits } = await index.search({
    query: { term: { n: 6 } },
    script_fields: { half: { script: "params._source.whole / 2" } },
  });
  assert.deepEqual(hits[0]!["fields"], { half: [2.5] });
});

test("scores of explanations and of hits in buckets have a point", async () => {
  const query = { constant_score: { filter: { term: { n: 6 } } } };
  const answer = await index.printed({
    query,
    explain: true,
    _source: false,
    aggs: { top: { top_hits: { _source: false } } },
  });
  assert.match(answer, /"_explanation":\{"value":1\.0,"description":"ConstantScore/);
  assert.match(answer, /"max_score":1\.0,"hits":\[\{[^}]*"_score":1\.0/);
});

test("tests of searches read hits and aggregations as they are printed", async () => {
  const body = { sort: ["d", { f: "desc" }], aggs: { a: { top_metrics: TOP } } };
  const { hits, aggregations } = await index.search(body);
  assert.deepEqual(parseJson(await index.printed(body)), { hits, aggregations });
  assert.deepEqual(hits[0]!["sort"], [5, 7]);
});
