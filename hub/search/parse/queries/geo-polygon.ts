/** `geo_polygon`: documents with a point in a polygon. */

import { type GeoPoint, parsePoint } from "#hub/search/geo/point.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { type QueryType, withBoost } from "#hub/search/parse/query-parser.ts";
import { AppError } from "#proto/kit/errors.ts";
import { geoQuery, readGeoBody } from "./geo-query.ts";

/** Corners of a polygon; each is looked at for every point. */
const MAX_CORNERS = 10_000;

export const geoPolygon: QueryType = {
  name: "geo_polygon",
  summary: "Documents with a point in a polygon.",
  options: {},
  parse(body) {
    const { field, shape, options } = readGeoBody("geo_polygon", body, {});
    const { points } = objectOf(shape, `geo_polygon] [${field}`);
    if (!Array.isArray(points))
      throw new AppError("parsing", "[geo_polygon] no points defined for geo_polygon query");
    if (points.length > MAX_CORNERS)
      throw new AppError("request_invalid", `[geo_polygon] has more than ${MAX_CORNERS} points`);
    const corners = points.map((each) => parsePoint(each, field));
    if (corners.length < 3)
      throw new AppError("request_invalid", "too few points defined for geo_polygon query");
    const test = {
      box: boundsOf(corners),
      accepts: (lat: number, lon: number) => isInside(corners, lat, lon),
    };
    return withBoost(geoQuery(field, test, options.ignore_unmapped ?? false), options);
  },
};

function boundsOf(corners: readonly GeoPoint[]): {
  south: number;
  north: number;
  west: number;
  east: number;
} {
  const bounds = { south: 90, north: -90, west: 180, east: -180 };
  for (const { lat, lon } of corners) {
    bounds.south = Math.min(bounds.south, lat);
    bounds.north = Math.max(bounds.north, lat);
    bounds.west = Math.min(bounds.west, lon);
    bounds.east = Math.max(bounds.east, lon);
  }
  return bounds;
}

/** Counts the sides that a ray to the north crosses. */
function isInside(corners: readonly GeoPoint[], lat: number, lon: number): boolean {
  let inside = false;
  for (let at = 0, before = corners.length - 1; at < corners.length; before = at++) {
    const [a, b] = [corners[at]!, corners[before]!];
    if (a.lon > lon === b.lon > lon) continue;
    const crossing = ((b.lat - a.lat) * (lon - a.lon)) / (b.lon - a.lon) + a.lat;
    if (lat < crossing) inside = !inside;
  }
  return inside;
}
