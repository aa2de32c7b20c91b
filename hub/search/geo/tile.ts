/** Tiles of web maps: squares of the Mercator projection, 2^zoom in each direction, counted from the north west. */

import { AppError } from "#proto/kit/errors.ts";

/** Largest zoom: a tile is some 7 cm wide then. */
export const MAX_TILE_ZOOM = 29;

/** Latitude at which the projection ends, so that the whole map is a square. */
const MAX_LATITUDE = 85.0511287798066;

/** Digits of the largest number of a tile. */
const DIGITS = 9;

export interface Tile {
  readonly zoom: number;
  readonly x: number;
  readonly y: number;
}

/** Returns the tile that a point lies in; what is nearer to a pole than the map is in its first or last row. */
export function tileOf(lat: number, lon: number, zoom: number): Tile {
  const tiles = 2 ** zoom;
  const sine = Math.sin((Math.min(MAX_LATITUDE, Math.max(-MAX_LATITUDE, lat)) * Math.PI) / 180);
  const x = Math.floor(((lon + 180) / 360) * tiles);
  const y = Math.floor((0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * tiles);
  const last = tiles - 1;
  return {
    zoom,
    x: Math.min(last, Math.max(0, x)),
    y: Math.min(last, Math.max(0, y)),
  };
}

/** Returns the tile's name: zoom/x/y. */
export function tileName({ zoom, x, y }: Tile): string {
  return `${zoom}/${x}/${y}`;
}

/** Returns a text that sorts among those of the same zoom as the tiles do, by x and then by y. */
export function sortableTile({ zoom, x, y }: Tile): string {
  return `${zoom}/${String(x).padStart(DIGITS, "0")}/${String(y).padStart(DIGITS, "0")}`;
}

/** Reads a tile's name, or what `sortableTile` made. Throws request_invalid for anything but a tile of that zoom. */
export function readTile(name: unknown, zoom: number): Tile {
  const match = typeof name === "string" ? /^(\d{1,2})\/(\d{1,9})\/(\d{1,9})$/.exec(name) : null;
  const [, z, x, y] = match ?? [];
  const tile = { zoom: Number(z), x: Number(x), y: Number(y) };
  if (tile.zoom === zoom && tile.x < 2 ** zoom && tile.y < 2 ** zoom) return tile;
  throw new AppError(
    "request_invalid",
    `Invalid geotile_grid hash string of ${JSON.stringify(name)}. Must be ${zoom}/x/y, with x and y below ${2 ** zoom}.`,
  );
}
