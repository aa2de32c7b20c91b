/** `geo_centroid`: the mean of all points. */

import type { Aggregation, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { PointValues } from "#hub/search/columns/point-values.ts";
import { text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { addExact, type ExactSum, sumOf } from "./exact-sum.ts";
import { fractions } from "./numeric-metric.ts";

const OPTIONS = { field: text("field of points", undefined) } as const;

export const geoCentroid: AggregationType = {
  name: "geo_centroid",
  summary: "The mean of all points.",
  options: OPTIONS,
  buckets: false,
  parse(body, { name }) {
    return new GeoCentroid(requireField(readAggregation("geo_centroid", body, OPTIONS).field, name));
  },
};

/** JSON-able sums. */
interface CentroidState {
  readonly lat: ExactSum;
  readonly lon: ExactSum;
  readonly count: number;
}

const NOTHING: CentroidState = { lat: 0, lon: 0, count: 0 };

class GeoCentroid implements Aggregation<CentroidState> {
  readonly #field: string;

  constructor(field: string) {
    this.#field = field;
  }

  collector(shard: ShardContext): Collector<CentroidState> {
    const points = new PointValues(shard, this.#field, "geo_centroid");
    const sums: { lat: number; lon: number; count: number }[] = [];
    return {
      segment: (segment) => points.open(segment),
      collect(docs, buckets, length) {
        for (let at = 0; at < length; at++) {
          const count = points.read(docs[at]!);
          const sum = (sums[buckets[at]!] ??= { lat: 0, lon: 0, count: 0 });
          for (let each = 0; each < count; each++) {
            sum.lat += points.latitudes[each]!;
            sum.lon += points.longitudes[each]!;
            sum.count++;
          }
        }
      },
      state: (bucket) => sums[bucket] ?? NOTHING,
    };
  }

  merge(states: readonly CentroidState[]): CentroidState {
    return states.reduce((a, b) => ({
      lat: addExact(a.lat, b.lat),
      lon: addExact(a.lon, b.lon),
      count: a.count + b.count,
    }));
  }

  render({ lat, lon, count }: CentroidState): JsonObject {
    return count === 0
      ? { count }
      : { location: fractions({ lat: sumOf(lat) / count, lon: sumOf(lon) / count }), count };
  }

  empty(): CentroidState {
    return NOTHING;
  }

  typedName(): string {
    return "geo_centroid";
  }
}
