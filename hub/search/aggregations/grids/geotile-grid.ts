/** `geotile_grid`: documents by the tiles of web maps that their points lie in. */

import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { readBox } from "#hub/search/geo/box.ts";
import { MAX_TILE_ZOOM, tileName, tileOf } from "#hub/search/geo/tile.ts";
import { integer } from "#hub/search/options/options.ts";
import { AppError } from "#proto/kit/errors.ts";
import { GeoGrid, GRID_OPTIONS } from "./geo-grid.ts";

/** Zoom of the tiles unless the request says otherwise. */
export const DEFAULT_ZOOM = 7;

const OPTIONS = {
  ...GRID_OPTIONS,
  precision: integer("zoom of the tiles, 0..29", DEFAULT_ZOOM, Number.MIN_SAFE_INTEGER),
} as const;

export const geotileGrid: AggregationType = {
  name: "geotile_grid",
  summary: "Documents by the tiles of web maps (zoom/x/y) that their points lie in.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("geotile_grid", body, OPTIONS);
    const zoom = checkZoom(options.precision ?? DEFAULT_ZOOM);
    return new GeoGrid({
      type: "geotile_grid",
      field: requireField(options.field, name),
      size: options.size,
      bounds: options.bounds === undefined ? undefined : readBox(options.bounds, "bounds"),
      below,
      cellOf: (lat, lon) => tileName(tileOf(lat, lon, zoom)),
    });
  },
};

/** Returns `zoom`. Throws request_invalid for one that no map has. */
export function checkZoom(zoom: number): number {
  if (zoom >= 0 && zoom <= MAX_TILE_ZOOM) return zoom;
  throw new AppError(
    "request_invalid",
    `Invalid geotile_grid precision of ${zoom}. Must be between 0 and ${MAX_TILE_ZOOM}.`,
  );
}
