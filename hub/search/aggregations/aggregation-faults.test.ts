import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { AggregationsFixture } from "#test/support/search/aggregations.ts";

const fixture = new AggregationsFixture();
after(() => fixture.close());
const { one } = fixture;

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
  [{ percentiles: { field: "score", percents: null } }, /\[percents\] must not be null/],
  [
    { percentiles: { field: "score", hdr: { number_of_significant_value_digits: null } } },
    /must be between 0 and 5/,
  ],
  [
    { median_absolute_deviation: { field: "score", compression: 0 } },
    /\[compression\] must be greater than 0. Found \[0\.0\] in \[a\]/,
  ],
  [{ filters: {} }, /\[filters\] cannot be empty/],
  [{ filters: { filters: [] } }, /\[filters\] cannot be empty/],
  [{ composite: { sources: [] } }, /Composite \[sources\] cannot be null or empty/],
  [
    { composite: { sources: [{ h: { terms: { field: "host" } } }, { h: { terms: { field: "ip" } } }] } },
    /must be unique, found duplicates: \[h\]/,
  ],
  [{ cardinality: { field: "score", precision_threshold: -1 } }, /\[precisionThreshold\] .* Found \[-1\] in/],
  [{ histogram: { field: "score", interval: 0 } }, /must be >0/],
  [
    { reverse_nested: {} },
    /Reverse nested aggregation \[a\] can only be used inside a \[nested\] aggregation/,
  ],
  [
    { ip_range: { field: "ip", ranges: [{ mask: "10.0.0.0/40" }] } },
    /Illegal prefix length \[40\] in \[10\.0\.0\.0\/40\]\. Must be 0-32 for IPv4 ranges, 0-128 for IPv6 ranges/,
  ],
  [{ ip_range: { field: "ip", ranges: [{ mask: "ten/8" }] } }, /Expected \[ip\/prefix\] but was \[ten\/8\]/],
  [
    {
      date_histogram: { field: "at", interval: "1d" },
      aggs: { d: { derivative: { buckets_path: "nothing" } } },
    },
    /No aggregation found for path \[nothing\]/,
  ],
  [
    { date_histogram: { field: "at", interval: "1d", time_zone: "Europe/Berlin", offset: 1e308 } },
    /\[offset\] \[1e\+308\] is out of the range of times/,
  ],
  [{ date_histogram: { field: "at", interval: "1d", offset: "-9999999999d" } }, /out of the range of times/],
  [{ date_histogram: { field: "at", interval: "1.5d" } }, /fractional time values are not supported/],
  [{ min: { field: "score" }, aggs: { x: { max: { field: "score" } } } }, /cannot accept sub-aggregations/],
];

describe("faulty aggregations", () => {
  for (const type of ["range", "date_range", "ip_range", "geo_distance"]) {
    test(`${type} of more ranges than are compared is refused before they are read`, async () => {
      const ranges = new Array(10_001).fill(null);
      const aggregation = { [type]: { field: "score", origin: "0,0", ranges } };
      if (type !== "geo_distance") delete (aggregation[type] as { origin?: string }).origin;
      await assert.rejects(one.search({ aggs: { a: aggregation } }), /10001 ranges, more than 10000/);
    });
  }

  for (const [aggregation, message] of FAULTS) {
    test(`${JSON.stringify(aggregation)} is refused`, async () => {
      await assert.rejects(one.search({ aggs: { a: aggregation } }), (error) => {
        assert.ok(error instanceof AppError);
        assert.match(
          error.message === "all shards failed" ? (error.cause as AppError).message : error.message,
          message,
        );
        // The 6.5 server answers 500 to what an aggregation can't do with a field.
        assert.ok(error.status < 500 || error.code === "aggregation_failed");
        return true;
      });
    });
  }
});
