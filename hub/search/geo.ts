/** Points on the earth: reading them, and the distance along a great circle. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "./json.ts";

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

function parsePoint(json: unknown, name: string): GeoPoint {
  if (isObject(json)) {
    if (typeof json["geohash"] === "string") return parseHash(json["geohash"], name);
    return checked(Number(json["lat"]), Number(json["lon"]), name);
  }
  if (Array.isArray(json)) return checked(Number(json[1]), Number(json[0]), name);
  if (typeof json === "string") {
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

/** Middle of the hash's cell. */
function parseHash(hash: string, name: string): GeoPoint {
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
  return { lat: (lat.low + lat.high) / 2, lon: (lon.low + lon.high) / 2 };
}
