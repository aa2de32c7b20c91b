/** Parses points and distances, and measures distances along a great circle. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Degrees. */
export interface GeoPoint {
  readonly lat: number;
  readonly lon: number;
}

/** Mean radius in metres, as Lucene's SloppyMath has it. */
const EARTH_RADIUS_METRES = 6_371_008.7714;

const UNITS: Readonly<Record<string, number>> = {
  in: 0.0254,
  inch: 0.0254,
  yd: 0.9144,
  yards: 0.9144,
  ft: 0.3048,
  feet: 0.3048,
  km: 1000,
  kilometers: 1000,
  nmi: 1852,
  NM: 1852,
  nauticalmiles: 1852,
  mm: 0.001,
  millimeters: 0.001,
  cm: 0.01,
  centimeters: 0.01,
  mi: 1609.344,
  miles: 1609.344,
  m: 1,
  meters: 1,
};

const GEOHASH = "0123456789bcdefghjkmnpqrstuvwxyz";

/** Returns the metres of a unit. Throws request_invalid. */
export function unitMetres(unit: string): number {
  const metres = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  if (metres === undefined) {
    throw new AppError("request_invalid", `No distance unit match [${unit}]; write for example m, km or mi`);
  }
  return metres;
}

/** Reads a distance such as "12km" or 200 (in `unit`) as metres. Throws request_invalid. */
export function parseDistance(value: unknown, unit: string, name: string): number {
  const match = /^\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*([A-Za-z]*)\s*$/.exec(String(value));
  const length = Number(match?.[1]);
  if (match === null || !Number.isFinite(length)) {
    throw new AppError(
      "request_invalid",
      `[${name}] must be a distance such as "12km", but is [${String(value)}]`,
    );
  }
  return length * unitMetres(match[2] === "" ? unit : match[2]!);
}

/** Reads one point or a list of them. Throws parsing. */
export function parsePoints(json: unknown, name: string): GeoPoint[] {
  const single = !Array.isArray(json) || (json.length >= 2 && typeof json[0] === "number");
  const points = (single ? [json] : (json as unknown[])).map((each) => parsePoint(each, name));
  if (points.length === 0) throw new AppError("parsing", `[${name}] needs at least one point`);
  return points;
}

/** Returns the distance of two points in metres. */
export function distanceMetres(lat1: number, lon1: number, lat2: number, lon2: number): number {
  const radians = Math.PI / 180;
  const latitude = Math.sin(((lat2 - lat1) * radians) / 2);
  const longitude = Math.sin(((lon2 - lon1) * radians) / 2);
  const h = latitude * latitude + Math.cos(lat1 * radians) * Math.cos(lat2 * radians) * longitude * longitude;
  return 2 * EARTH_RADIUS_METRES * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Reads one point. Throws parsing, request_invalid. */
export function parsePoint(json: unknown, name: string): GeoPoint {
  if (isObject(json)) {
    if (typeof json["geohash"] === "string") return parseHash(json["geohash"], name);
    return checked(Number(json["lat"]), Number(json["lon"]), name);
  }
  if (Array.isArray(json)) return checked(Number(json[1]), Number(json[0]), name);
  if (typeof json === "string") {
    const wkt = /^\s*POINT\s*\(\s*(\S+)\s+(\S+)\s*\)\s*$/i.exec(json);
    if (wkt !== null) return checked(Number(wkt[2]), Number(wkt[1]), name);
    const pair = /^\s*([-+.\deE]+)\s*,\s*([-+.\deE]+)\s*$/.exec(json);
    return pair === null ? parseHash(json, name) : checked(Number(pair[1]), Number(pair[2]), name);
  }
  throw new AppError(
    "parsing",
    `[${name}] must be a point: {"lat": …, "lon": …}, [lon, lat], "lat,lon" or a geohash`,
  );
}

function checked(lat: number, lon: number, name: string): GeoPoint {
  if (!(Math.abs(lat) <= 90))
    throw new AppError("request_invalid", `illegal latitude value [${lat}] for [${name}]`);
  if (!(Math.abs(lon) <= 180))
    throw new AppError("request_invalid", `illegal longitude value [${lon}] for [${name}]`);
  return { lat, lon };
}

/** The corner of the hash's cell with the least coordinates. */
function parseHash(hash: string, name: string): GeoPoint {
  const { south, west } = hashCell(hash, name);
  return { lat: south, lon: west };
}

/** Degrees. */
export interface GeoBox {
  readonly south: number;
  readonly north: number;
  /** Above `east` if the box crosses the date line. */
  readonly west: number;
  readonly east: number;
}

/** Metres of a degree of latitude, and a little less: what is made of it is never too small. */
const METRES_OF_DEGREE = (Math.PI / 180) * EARTH_RADIUS_METRES * 0.999_999;

/** Returns a box that holds every point within `metres` of `point`; the whole width if it holds a pole or crosses the date line. */
export function boxAround({ lat, lon }: GeoPoint, metres: number): GeoBox {
  const span = metres / METRES_OF_DEGREE + 1e-6;
  const south = Math.max(-90, lat - span);
  const north = Math.min(90, lat + span);
  const wide = { south, north, west: -180, east: 180 };
  if (south <= -90 || north >= 90 || span >= 90) return wide;
  const radians = Math.PI / 180;
  // The farthest east and west of a circle lie a little towards the pole.
  const width = Math.asin(Math.min(1, Math.sin(span * radians) / Math.cos(lat * radians))) / radians + 1e-6;
  if (Number.isNaN(width) || lon - width < -180 || lon + width > 180) return wide;
  return { south, north, west: lon - width, east: lon + width };
}

/** Returns the cell of a geohash. Throws parsing. */
export function hashCell(hash: string, name: string): GeoBox {
  const lat = { low: -90, high: 90 };
  const lon = { low: -180, high: 180 };
  let even = true;
  for (const character of hash.toLowerCase()) {
    const value = GEOHASH.indexOf(character);
    if (value < 0) throw new AppError("parsing", `[${name}] "${hash}" is neither "lat,lon" nor a geohash`);
    for (let bit = 16; bit > 0; bit >>>= 1) {
      const range = even ? lon : lat;
      const middle = (range.low + range.high) / 2;
      if ((value & bit) === 0) range.high = middle;
      else range.low = middle;
      even = !even;
    }
  }
  return { south: lat.low, north: lat.high, west: lon.low, east: lon.high };
}

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
