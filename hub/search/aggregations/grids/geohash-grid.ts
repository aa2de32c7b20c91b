/** `geohash_grid`: documents by the cells (geohashes) that their points lie in. */

import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { readBox } from "#hub/search/geo/box.ts";
import { hashOf, parseDistance } from "#hub/search/geo/point.ts";
import { text } from "#hub/search/options/options.ts";
import { AppError } from "#proto/kit/errors.ts";
import { GeoGrid, GRID_OPTIONS } from "./geo-grid.ts";

/** Most characters of a hash. */
const MAX_PRECISION = 12;

/** Half the earth's way around the poles, and the way around the equator, in metres (WGS 84, as ES has them). */
const POLAR_METRES = Math.PI * 6_356_752.314245;
const EQUATOR_METRES = 2 * Math.PI * 6_378_137;

const OPTIONS = {
  ...GRID_OPTIONS,
  precision: text('characters of the hashes, 1..12, or the size of a cell: "10km"', "5"),
} as const;

export const geohashGrid: AggregationType = {
  name: "geohash_grid",
  summary: "Documents by the cells (geohashes) that their points lie in.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const { field, size, bounds, precision: given } = readAggregation("geohash_grid", body, OPTIONS);
    const precision = readPrecision(given ?? "5");
    return new GeoGrid({
      type: "geohash_grid",
      field: requireField(field, name),
      size,
      bounds: bounds === undefined ? undefined : readBox(bounds, "bounds"),
      below,
      cellOf: (lat, lon) => hashOf(lat, lon, precision),
    });
  },
};

/** Reads a number of characters, or the distance that cells should span at most. Throws request_invalid. */
function readPrecision(given: string): number {
  const precision = Number(given) || 0;
  const isDistance = given.trim() !== "" && Number.isNaN(Number(given));
  const characters = isDistance
    ? charactersFor(parseDistance(given, "m", "precision"))
    : Math.trunc(precision);
  if (characters >= 1 && characters <= MAX_PRECISION) return characters;
  throw new AppError(
    "request_invalid",
    isDistance
      ? `precision too high [${given}]`
      : `Invalid geohash aggregation precision of ${given}. Must be between 1 and 12.`,
  );
}

/** Returns how many characters hashes need for cells whose diagonals are about `metres` long at the equator. */
function charactersFor(metres: number): number {
  if (metres <= 0) return MAX_PRECISION;
  const ratio = 1 + POLAR_METRES / EQUATOR_METRES;
  const bits = Math.round(Math.log2(Math.ceil(EQUATOR_METRES / (metres / ratio))));
  const full = Math.floor(bits / 5);
  const left = bits - full * 5;
  return 2 * full + (left > 0 ? 1 : 0) + (left > 3 ? 1 : 0);
}
