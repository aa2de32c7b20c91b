/** The view of a map: its section of the world, the resolution of its locations, and a ring of distance. */

/** A place on earth, degrees: latitude −90…90, longitude −180…180. */
export interface Point {
  readonly lat: number;
  readonly lon: number;
}

/** The part of the world in sight. */
export interface MapView extends Point {
  /** 1: the whole world's width; 2: half of it. */
  readonly zoom: number;
}

/** All places up to a distance. */
export interface Ring extends Point {
  readonly km: number;
}

/** A box, degrees. */
export interface Box {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

export const WORLD: MapView = { lat: 20, lon: 0, zoom: 1 };
/** The outlines of countries are too coarse for more. */
export const MAX_ZOOM = 400;
/** Half of the equator: nothing is farther away. */
export const MAX_RING_KM = 20_037;
/** Width of a geohash's cell by its length 1, 2, …, degrees of longitude. */
const CELL_DEGREES = [45, 11.25, 1.406_25, 0.351_563, 0.043_945, 0.010_986, 0.001_373] as const;
/** Cells of at least this many parts of the width: finer ones are drawn as one circle anyway. */
const CELLS_ACROSS = 320;
/** A fitted view leaves a margin around the outermost places. */
const FIT_ROOM = 1.25;

/** Reads `ZOOM:LAT:LON`; undefined for anything else. */
export function readMapView(text: string): MapView | undefined {
  const numbers = readNumbers(text);
  if (numbers === undefined) return undefined;
  const [zoom, lat, lon] = numbers;
  return zoom < 1 || zoom > MAX_ZOOM ? undefined : { zoom, lat, lon };
}

export function writeMapView({ zoom, lat, lon }: MapView): string {
  return `${round(zoom, 2)}:${round(lat, 3)}:${round(lon, 3)}`;
}

/** Reads `KM:LAT:LON`; undefined for anything else. */
export function readRing(text: string): Ring | undefined {
  const numbers = readNumbers(text);
  if (numbers === undefined) return undefined;
  const [km, lat, lon] = numbers;
  return km <= 0 || km > MAX_RING_KM ? undefined : { km, lat, lon };
}

export function writeRing({ km, lat, lon }: Ring): string {
  return `${round(km, 3)}:${round(lat, 4)}:${round(lon, 4)}`;
}

/** Returns a view moved and zoomed within the world; `zoom` is a factor. */
export function moveView(view: MapView, { dx = 0, dy = 0, zoom = 1 }): MapView {
  const span = 360 / view.zoom;
  return {
    zoom: clamp(view.zoom * zoom, 1, MAX_ZOOM),
    lon: clamp(view.lon + dx * span, -180, 180),
    lat: clamp(view.lat + dy * span, -80, 80),
  };
}

/** Returns the smallest view that holds a box, at most as near as `nearest`. */
export function fitView({ top, bottom, left, right }: Box, nearest = 40): MapView {
  const width = right < left ? right + 360 - left : right - left;
  const degrees = Math.max(width, (top - bottom) * 2, 360 / nearest) * FIT_ROOM;
  const middle = left + width / 2;
  return {
    zoom: clamp(360 / degrees, 1, nearest),
    lat: (top + bottom) / 2,
    lon: middle > 180 ? middle - 360 : middle,
  };
}

/** Returns the box that holds a view whatever the screen's form, or undefined if that is the whole world. */
export function boxOf({ lat, lon, zoom }: MapView): Box | undefined {
  if (zoom < 2) return undefined;
  const half = 180 / zoom;
  return {
    top: Math.min(90, lat + half),
    bottom: Math.max(-90, lat - half),
    left: Math.max(-180, lon - half),
    right: Math.min(180, lon + half),
  };
}

/** Returns the length of the requested geohashes, 1…7. */
export function precisionOf({ zoom }: MapView): number {
  const degrees = 360 / zoom / CELLS_ACROSS;
  return CELL_DEGREES.findLastIndex((cell) => cell >= degrees) + 1;
}

/** Returns a place in words: `52.52° N, 13.41° E`. */
export function pointName({ lat, lon }: Point): string {
  return `${Math.abs(lat).toFixed(2)}° ${lat < 0 ? "S" : "N"}, ${Math.abs(lon).toFixed(2)}° ${lon < 0 ? "W" : "E"}`;
}

function readNumbers(text: string): readonly [number, number, number] | undefined {
  const parts = text.split(":");
  const [first, lat, lon] = parts.map((part) => (part === "" ? Number.NaN : Number(part)));
  if (parts.length !== 3 || !Number.isFinite(first)) return undefined;
  if (!(Math.abs(lat!) <= 90) || !(Math.abs(lon!) <= 180)) return undefined;
  return [first!, lat!, lon!];
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
