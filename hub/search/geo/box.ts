/** Parses bounding boxes. */

import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { type GeoBox, parsePoint } from "./point.ts";

/** Returns whether a point lies in a box or on its edge. */
export function isInBox(box: GeoBox, lat: number, lon: number): boolean {
  return (
    lat >= box.south &&
    lat <= box.north &&
    (box.west <= box.east ? lon >= box.west && lon <= box.east : lon >= box.west || lon <= box.east)
  );
}

/** Reads a box: two corners, four sides or a text (`wkt`). Throws parsing, request_invalid. */
export function readBox(json: JsonObject, name: string): GeoBox {
  const box = typeof json["wkt"] === "string" ? envelope(json["wkt"], name) : corners(json, name);
  for (const [side, value] of Object.entries(box) as [string, number][]) {
    const limit = side === "north" || side === "south" ? 90 : 180;
    if (!(Math.abs(value) <= limit))
      throw new AppError("parsing", `failed to parse bounding box of [${name}]: [${side}] is [${value}]`);
  }
  if (box.north < box.south)
    throw new AppError("request_invalid", `top is below bottom corner: ${box.north} vs. ${box.south}`);
  return box;
}

function corners(json: JsonObject, name: string): GeoBox {
  const at = (corner: string): { lat: number; lon: number } | undefined =>
    json[corner] === undefined ? undefined : parsePoint(json[corner], name);
  const [topLeft, topRight] = [at("top_left") ?? at("topLeft"), at("top_right") ?? at("topRight")];
  const [bottomLeft, bottomRight] = [
    at("bottom_left") ?? at("bottomLeft"),
    at("bottom_right") ?? at("bottomRight"),
  ];
  const side = (key: string): number => Number(json[key] ?? Number.NaN);
  return {
    north: topLeft?.lat ?? topRight?.lat ?? side("top"),
    south: bottomRight?.lat ?? bottomLeft?.lat ?? side("bottom"),
    west: topLeft?.lon ?? bottomLeft?.lon ?? side("left"),
    east: bottomRight?.lon ?? topRight?.lon ?? side("right"),
  };
}

/** BBOX (west, east, north, south). */
function envelope(text: string, name: string): GeoBox {
  const match = /^\s*(?:BBOX|ENVELOPE)\s*\(([^()]*)\)\s*$/i.exec(text);
  const [west, east, north, south] = (match?.[1] ?? "").split(",").map(Number);
  if (west === undefined || east === undefined || north === undefined || south === undefined)
    throw new AppError("parsing", `[${name}] [wkt] must be BBOX (west, east, north, south)`);
  return { west, east, north, south };
}
