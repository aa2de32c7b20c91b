/** `geo_distance`: documents by their distance from a point, in given intervals. */

import type { Sorter } from "#hub/search/aggregations/buckets/fixed-buckets.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { PointValues } from "#hub/search/columns/point-values.ts";
import { RAW } from "#hub/search/columns/value-format.ts";
import { distanceMetres, type GeoPoint, parsePoints, unitMetres } from "#hub/search/geo/point.ts";
import { anything, flag, list, oneOf, required, text, withoutEffect } from "#hub/search/options/options.ts";
import { Ranges, readBound, readRanges } from "./range.ts";
import { inRange, type RangeLimits } from "./sorted-ranges.ts";

const OPTIONS = {
  field: text("field of points", undefined),
  origin: required(anything("the point")),
  ranges: required(list("intervals {key, from, to} of distances; from inclusive, to exclusive")),
  unit: text("unit of the distances", "m"),
  distance_type: withoutEffect(
    oneOf("distances are those along the great circle", ["arc", "plane", "sloppy_arc"], "arc"),
  ),
  keyed: flag("whether buckets are an object by key", false),
} as const;

export const geoDistanceRanges: AggregationType = {
  name: "geo_distance",
  summary: "Documents by their distance from a point, in given intervals.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("geo_distance", body, OPTIONS);
    const metres = unitMetres(options.unit ?? "m");
    const [origin] = parsePoints(options.origin, "origin");
    const field = requireField(options.field, name);
    return new Ranges({
      name: "geo_distance",
      source: { field, script: undefined },
      ranges: readRanges(options.ranges, "geo_distance"),
      keyed: options.keyed ?? false,
      missing: undefined,
      below,
      checkField: () => undefined,
      formatOf: () => RAW,
      bound: (value) => readBound(value),
      lowest: 0,
      sorter: (shard, ranges) =>
        new DistanceSorter(new PointValues(shard, field, "geo_distance"), origin!, metres, ranges),
    });
  },
};

/** The nearest point of a document counts. */
class DistanceSorter implements Sorter {
  readonly #points: PointValues;
  readonly #origin: GeoPoint;
  readonly #metres: number;
  readonly #ranges: readonly RangeLimits[];

  constructor(points: PointValues, origin: GeoPoint, metres: number, ranges: readonly RangeLimits[]) {
    this.#points = points;
    this.#origin = origin;
    this.#metres = metres;
    this.#ranges = ranges;
  }

  segment(segment: Parameters<PointValues["open"]>[0]): void {
    this.#points.open(segment);
  }

  sort(docs: Int32Array, length: number, put: (index: number, bucket: number) => void): void {
    const { lat, lon } = this.#origin;
    for (let index = 0; index < length; index++) {
      const count = this.#points.read(docs[index]!);
      let nearest = Number.POSITIVE_INFINITY;
      for (let at = 0; at < count; at++) {
        const metres = distanceMetres(lat, lon, this.#points.latitudes[at]!, this.#points.longitudes[at]!);
        nearest = Math.min(nearest, metres / this.#metres);
      }
      if (count === 0) continue;
      for (let bucket = 0; bucket < this.#ranges.length; bucket++)
        if (inRange(nearest, this.#ranges[bucket]!)) put(index, bucket);
    }
  }
}
