import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  mapping: {
    properties: {
      at: { type: "geo_point" },
      ip: { type: "ip" },
      text: { type: "text", fielddata: true },
      class: { type: "keyword" },
    },
  },
  docs: [
    { at: "52.52,13.405", ip: "10.0.0.1", text: "good", class: "good", time: "2026-01-01", n: 1 },
    { at: "52.39,13.06", ip: "10.0.0.9", text: "good", class: "good", time: "2026-03-02", n: 51 },
    { at: "35.69,139.69", ip: "10.0.1.1", text: "bad", class: "bad", time: "2026-05-03", n: 101 },
    { at: "-17.8,178", ip: "192.168.1.1", text: "bad", class: "bad", time: "2026-07-04", n: 151 },
    { at: "-13.8,-172.1", ip: "::1", text: "good bad", class: "good", time: "2026-12-05" },
    { text: "good bad", class: "bad" },
    { text: "bad", class: "bad" },
  ],
  segmentDocs: 3,
});
after(() => fixture.close());

const answers: [name: string, aggregation: JsonObject, answer: unknown][] = [
  [
    "keyed histogram",
    { histogram: { field: "n", interval: 100, keyed: true } },
    { buckets: { "0.0": { key: 0, doc_count: 2 }, "100.0": { key: 100, doc_count: 2 } } },
  ],
  [
    "extended_stats",
    { extended_stats: { field: "n", sigma: 3 } },
    {
      count: 4,
      min: 1,
      max: 151,
      avg: 76,
      sum: 304,
      sum_of_squares: 35604,
      variance: 3125,
      std_deviation: 55.90169943749474,
      std_deviation_bounds: { upper: 243.7050983124842, lower: -91.70509831248421 },
    },
  ],
  [
    "ip_range",
    {
      ip_range: {
        field: "ip",
        ranges: [{ to: "10.0.1.0" }, { mask: "10.0.0.0/24" }, { from: "192.168.0.0" }],
      },
    },
    {
      buckets: [
        { key: "*-10.0.1.0", to: "10.0.1.0", doc_count: 3 },
        { key: "10.0.0.0/24", from: "10.0.0.0", to: "10.0.1.0", doc_count: 2 },
        { key: "192.168.0.0-*", from: "192.168.0.0", doc_count: 1 },
      ],
    },
  ],
  [
    "geo_distance",
    {
      geo_distance: {
        field: "at",
        origin: "52.52,13.405",
        unit: "km",
        ranges: [{ to: 10 }, { from: 10, to: 50 }],
      },
    },
    {
      buckets: [
        { key: "*-10.0", from: 0, to: 10, doc_count: 1 },
        { key: "10.0-50.0", from: 10, to: 50, doc_count: 1 },
      ],
    },
  ],
  [
    "geohash_grid",
    { geohash_grid: { field: "at", precision: 2 } },
    {
      buckets: [
        { key: "u3", doc_count: 2 },
        { key: "xn", doc_count: 1 },
        { key: "ru", doc_count: 1 },
        { key: "2j", doc_count: 1 },
      ],
    },
  ],
  ["sampler", { sampler: { shard_size: 2 } }, { doc_count: 2 }],
  ["diversified_sampler", { diversified_sampler: { field: "class", shard_size: 5 } }, { doc_count: 2 }],
  [
    "percentiles by HDR histogram",
    { percentiles: { field: "n", percents: [50, 99], hdr: {} } },
    { values: { "50.0": 51.0302734375, "99.0": 151.1240234375 } },
  ],
  [
    "terms of text with fielddata",
    { terms: { field: "text" } },
    {
      doc_count_error_upper_bound: 0,
      sum_other_doc_count: 0,
      buckets: [
        { key: "bad", doc_count: 5 },
        { key: "good", doc_count: 4 },
      ],
    },
  ],
];
answers.push([
  "missing is a text in the format of the request, or a time",
  { date_range: { field: "time", format: "yyyyMM", missing: "202511", ranges: [{ to: "202601" }] } },
  { buckets: [{ key: "*-202601", to: 1_767_225_600_000, to_as_string: "202601", doc_count: 2 }] },
]);
for (const [name, aggregation, answer] of answers) {
  test(name, async () => {
    const { aggregations } = await fixture.search({ size: 0, aggs: { a: aggregation } });
    assert.deepEqual(aggregations!["a"], answer);
  });
}

test("auto_date_histogram takes the unit that makes few enough buckets", async () => {
  const intervalOf = async (buckets: number): Promise<[unknown, number]> => {
    const { aggregations } = await fixture.search({
      size: 0,
      aggs: { a: { auto_date_histogram: { field: "time", buckets }, aggs: { m: { max: { field: "n" } } } } },
    });
    const answer = aggregations!["a"] as { interval: string; buckets: unknown[] };
    return [answer.interval, answer.buckets.length];
  };
  assert.deepEqual(await intervalOf(12), ["1M", 12]);
  assert.deepEqual(await intervalOf(4), ["3M", 4]);
  assert.deepEqual(await intervalOf(1), ["1y", 1]);
});

test("significant_terms finds terms that are frequent here and rare elsewhere", async () => {
  const { aggregations } = await fixture.search({
    size: 0,
    aggs: {
      classes: {
        terms: { field: "class" },
        aggs: { words: { significant_terms: { field: "text", min_doc_count: 2 } } },
      },
    },
  });
  const { buckets } = aggregations!["classes"] as {
    buckets: { key: string; words: { buckets: JsonObject[] } }[];
  };
  assert.deepEqual(
    buckets.map(({ key, words }) => [key, words.buckets[0]!["key"]]),
    [
      ["bad", "bad"],
      ["good", "good"],
    ],
  );
});

test("geo_bounds crosses the date line where that is the smaller box", async () => {
  const query = { range: { time: { gte: "2026-07-01" } } };
  const { aggregations } = await fixture.search({
    size: 0,
    query,
    aggs: { box: { geo_bounds: { field: "at" } }, middle: { geo_centroid: { field: "at" } } },
  });
  const { bounds } = aggregations!["box"] as { bounds: { top_left: JsonObject; bottom_right: JsonObject } };
  assert.ok(Math.abs(Number(bounds.top_left["lon"]) - 178) < 1e-6);
  assert.ok(Math.abs(Number(bounds.bottom_right["lon"]) + 172.1) < 1e-6);
  assert.equal((aggregations!["middle"] as JsonObject)["count"], 2);
});
