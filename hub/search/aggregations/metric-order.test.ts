/** Buckets in the order of metrics whose answers print whole fractions with a point: 5.0 counts as the number 5. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({
  shards: 2,
  mapping: {
    properties: { k: { type: "keyword" }, d: { type: "double" }, f: { type: "float" }, n: { type: "long" } },
  },
  docs: [
    { k: "a", d: 1, f: 1, n: 1 },
    { k: "b", d: 9.5, f: 9.5, n: 9 },
    { k: "c", d: 20, f: 20, n: 20 },
    { k: "d", d: 1, f: 1, n: 1 },
    { k: "d", d: 4, f: 4, n: 4 },
    { k: "e", n: 4 },
  ],
});
after(() => index.close());

const sumOf = (combined: string, reduced: string): JsonObject => ({
  scripted_metric: {
    init_script: "state.s = 0.0",
    map_script: "if (doc.d.size() > 0) { state.s += doc.d.value }",
    combine_script: combined,
    reduce_script: reduced,
  },
});

/** [name, path, aggregation, keys in ascending order; after a bar: those without a number, which are last in any order] */
const ROWS: readonly (readonly [name: string, path: string, metric: JsonObject, keys: string])[] = [
  [
    "top_metrics of doubles",
    "m",
    { top_metrics: { metrics: { field: "d" }, sort: { n: "desc" } } },
    "adbc|e",
  ],
  [
    "top_metrics of floats",
    "m.f",
    { top_metrics: { metrics: { field: "f" }, sort: { n: "desc" } } },
    "adbc|e",
  ],
  ["avg", "m", { avg: { field: "d" } }, "adbc|e"],
  ["the mean of stats", "m.avg", { stats: { field: "d" } }, "adbc|e"],
  [
    "a mean below a filter",
    "m>a",
    { filter: { match_all: {} }, aggs: { a: { avg: { field: "d" } } } },
    "adbc|e",
  ],
  ["a median", "m.50", { percentiles: { field: "d" } }, "adbc|e"],
  ["weighted_avg", "m", { weighted_avg: { value: { field: "d" }, weight: { field: "n" } } }, "adbc|e"],
  ["min", "m", { min: { field: "d" } }, "adbce"],
  ["the least of stats", "m.min", { stats: { field: "d" } }, "adbce"],
  ["max", "m", { max: { field: "d" } }, "eadbc"],
  ["sum", "m", { sum: { field: "d" } }, "eadbc"],
  ["the sum of stats", "m.sum", { extended_stats: { field: "d" } }, "eadbc"],
  ["top_metrics of whole numbers", "m.n", { top_metrics: { metrics: { field: "n" }, sort: "n" } }, "adebc"],
  [
    "scripted_metric of fractions",
    "m",
    sumOf("state.s", "double s = 0; for (x in states) { s += x } s"),
    "eadbc",
  ],
  [
    "scripted_metric of maps with fractions",
    "m.value",
    sumOf("['s': state.s]", "double s = 0; for (x in states) { s += x.s } s"),
    "eadbc",
  ],
  ["matrix_stats", "m.d.mean", { matrix_stats: { fields: ["d"] } }, "eadbc"],
  ["matrix_stats by count", "m.doc_count", { matrix_stats: { fields: ["d"] } }, "eabcd"],
];

for (const [name, path, metric, keys] of ROWS) {
  test(`buckets are ordered by ${name}`, async () => {
    for (const direction of ["asc", "desc"]) {
      const terms = { field: "k", order: [{ [path]: direction }, { _key: direction }] };
      const { aggregations } = await index.search({ size: 0, aggs: { t: { terms, aggs: { m: metric } } } });
      const { buckets } = aggregations!["t"] as { buckets: { key: string }[] };
      const found = buckets.map(({ key }) => key).join("");
      const [ascending = "", last = ""] = keys.split("|");
      const descending = ascending.split("").toReversed().join("");
      assert.equal(found, `${direction === "asc" ? ascending : descending}${last}`, direction);
    }
  });
}
