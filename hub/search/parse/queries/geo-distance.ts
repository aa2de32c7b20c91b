/** `geo_distance`: documents with a point near another one. */

import { boxAround, distanceMetres, parseDistance, parsePoint } from "#hub/search/geo/point.ts";
import { anything, oneOf, required, text } from "#hub/search/options/options.ts";
import { type QueryType, withBoost } from "#hub/search/parse/query-parser.ts";
import { AppError } from "#proto/kit/errors.ts";
import { geoQuery, readGeoBody } from "./geo-query.ts";

const OPTIONS = {
  distance: required(anything('largest distance: "12km"')),
  unit: text("unit of a distance without one", "m"),
  distance_type: oneOf("accepted; distances are those of the arc", ["arc", "plane", "sloppy_arc"], undefined),
} as const;

export const geoDistance: QueryType = {
  name: "geo_distance",
  summary: "Documents with a point within a distance of another one.",
  options: OPTIONS,
  parse(body) {
    const { field, shape, options } = readGeoBody("geo_distance", body, OPTIONS);
    const metres = parseDistance(options.distance, options.unit ?? "m", "distance");
    if (!(metres > 0)) throw new AppError("request_invalid", "distance must be greater than zero");
    const centre = parsePoint(shape, field);
    const test = {
      box: boxAround(centre, metres),
      accepts: (lat: number, lon: number) => distanceMetres(centre.lat, centre.lon, lat, lon) <= metres,
    };
    return withBoost(geoQuery(field, test, options.ignore_unmapped ?? false), options);
  },
};
