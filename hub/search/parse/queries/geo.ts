/** Queries on points: `geo_bounding_box`, `geo_distance`, `geo_polygon`, and the options they share. */

import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { GeoNode, type GeoTest } from "#hub/search/execute/nodes/geo.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { fieldOf } from "#hub/search/fields/field-terms.ts";
import {
  boxAround,
  distanceMetres,
  type GeoPoint,
  isInBox,
  parseDistance,
  parsePoint,
  readBox,
} from "#hub/search/geo/point.ts";
import { objectOf } from "#hub/search/options/json.ts";
import {
  anything,
  flag,
  hint,
  type Options,
  oneOf,
  readOptions,
  required,
  text,
  type Values,
  withoutEffect,
} from "#hub/search/options/options.ts";
import { COMMON_OPTIONS, type QueryType, withBoost } from "#hub/search/parse/query-parser.ts";
import type { Query } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Options of every query on points. */
export const GEO_OPTIONS = {
  validation_method: withoutEffect(
    oneOf("points out of bounds are refused", ["STRICT", "COERCE", "IGNORE_MALFORMED"], "STRICT"),
  ),
  ignore_malformed: withoutEffect(flag("points out of bounds are refused", false)),
  coerce: withoutEffect(flag("points out of bounds are refused", false)),
  ignore_unmapped: flag("whether an index without the field has no hits instead of failing", false),
} as const;

/** Splits `{"<field>": <shape>, <option>: …}`. Throws parsing. */
export function readGeoBody<O extends Options>(
  owner: string,
  body: unknown,
  options: O,
): { field: string; shape: unknown; options: Values<O & typeof COMMON_OPTIONS & typeof GEO_OPTIONS> } {
  const known = { ...COMMON_OPTIONS, ...GEO_OPTIONS, ...options };
  const given: JsonObject = {};
  const fields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(objectOf(body, owner))) {
    if (Object.hasOwn(known, name)) given[name] = value;
    else fields.push([name, value]);
  }
  const [field, second] = fields;
  if (field === undefined) throw new AppError("parsing", `[${owner}] needs a field of type geo_point`);
  if (second !== undefined) {
    throw new AppError(
      "parsing",
      `[${owner}] query doesn't support multiple fields, found [${field[0]}] and [${second[0]}]`,
    );
  }
  return { field: field[0], shape: field[1], options: readOptions(owner, given, known) };
}

/** Returns the documents with a point in `name` that `test` accepts; each scores 1. */
export function geoQuery(name: string, test: GeoTest, ignoreUnmapped: boolean): Query {
  return new MappedNode((shard) => {
    const field = fieldOf(shard, name);
    if (field?.type === "geo_point") return new GeoNode(field.path, test);
    if (field === undefined && ignoreUnmapped) return new NoneNode();
    throw new AppError(
      "query_shard",
      field === undefined
        ? `failed to find geo_point field [${name}]`
        : `field [${name}] is not a geo_point field`,
      { data: { index: shard.index, index_uuid: shard.indexUuid } },
    );
  });
}

const BOX_OPTIONS = {
  type: hint(oneOf("how other engines compute it", ["memory", "indexed"], undefined)),
} as const;

export const geoBoundingBox: QueryType = {
  name: "geo_bounding_box",
  summary: "Documents with a point in a box, given by two corners or four sides.",
  options: BOX_OPTIONS,
  parse(body) {
    const { field, shape, options } = readGeoBody("geo_bounding_box", body, BOX_OPTIONS);
    const box = readBox(objectOf(shape, `geo_bounding_box] [${field}`), field);
    const accepts = (lat: number, lon: number): boolean => isInBox(box, lat, lon);
    return withBoost(geoQuery(field, { box, accepts }, options.ignore_unmapped ?? false), options);
  },
};

const DISTANCE_OPTIONS = {
  distance: required(anything('largest distance: "12km"')),
  unit: text("unit of a distance without one", "m"),
  distance_type: withoutEffect(
    oneOf("distances are those along the great circle", ["arc", "plane", "sloppy_arc"], "arc"),
  ),
} as const;

export const geoDistance: QueryType = {
  name: "geo_distance",
  summary: "Documents with a point within a distance of another one.",
  options: DISTANCE_OPTIONS,
  parse(body) {
    const { field, shape, options } = readGeoBody("geo_distance", body, DISTANCE_OPTIONS);
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

/** Maximum number of corners of a polygon; each is examined for every point. */
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
