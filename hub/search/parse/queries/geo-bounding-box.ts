/** `geo_bounding_box`: documents with a point in a box. */

import { isInBox, readBox } from "#hub/search/geo/box.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { oneOf } from "#hub/search/options/options.ts";
import { type QueryType, withBoost } from "#hub/search/parse/query-parser.ts";
import { geoQuery, readGeoBody } from "./geo-query.ts";

const OPTIONS = {
  type: oneOf("accepted", ["memory", "indexed"], undefined),
} as const;

export const geoBoundingBox: QueryType = {
  name: "geo_bounding_box",
  summary: "Documents with a point in a box, given by two corners or four sides.",
  options: OPTIONS,
  parse(body) {
    const { field, shape, options } = readGeoBody("geo_bounding_box", body, OPTIONS);
    const box = readBox(objectOf(shape, `geo_bounding_box] [${field}`), field);
    const accepts = (lat: number, lon: number): boolean => isInBox(box, lat, lon);
    return withBoost(geoQuery(field, { box, accepts }, options.ignore_unmapped ?? false), options);
  },
};
