/** Interprets the values of documents for fields: numbers, dates, booleans, points. Wording of errors as in 6.5. */

import * as json from "#hub/engine/json/scanner.ts";
import { dateFormat, givenFormat } from "#hub/engine/mapping/date-format.ts";
import { parseNanos } from "#hub/engine/mapping/date-nanos.ts";
import type { Field, FieldType } from "#hub/engine/mapping/field.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Why a value doesn't fit, as the `caused_by` of an error body. */
export class ValueError extends Error {
  /** Type of the cause as error bodies name it. */
  readonly type: string;

  constructor(message: string, type = "illegal_argument_exception") {
    super(message);
    this.type = type;
  }
}

const RANGES: Readonly<Partial<Record<FieldType, readonly [bigint, bigint]>>> = {
  byte: [-128n, 127n],
  short: [-32_768n, 32_767n],
  integer: [-(2n ** 31n), 2n ** 31n - 1n],
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  unsigned_long: [0n, 2n ** 64n - 1n],
};

const TYPE_NAMES: Readonly<Partial<Record<FieldType, string>>> = {
  byte: "a byte",
  short: "a short",
  integer: "an integer",
  long: "a long",
  unsigned_long: "an unsigned long",
};

/** Returns the value of a whole-number field, a bigint only beyond 2^53. Throws ValueError. */
export function parseWhole(field: Field, text: string, isString: boolean): number | bigint {
  if (isString && !field.coerce) throw new ValueError("Integer value passed as String");
  const trimmed = text.trim();
  if (!/^[+-]?\d+$/.test(trimmed)) return parseFraction(field, text);
  const number = Number(trimmed);
  const [min, max] = RANGES[field.type]!;
  if (Number.isSafeInteger(number) && number >= Number(min) && number <= Number(max)) return number + 0;
  const exact = BigInt(trimmed.replace(/^\+/, ""));
  if (exact < min || exact > max) throw outOfRange(field, text);
  return Number.isSafeInteger(number) ? number : exact;
}

/** Fractions are cut where `coerce` allows. */
function parseFraction(field: Field, text: string): number | bigint {
  const number = toDouble(text);
  if (Number.isNaN(number)) throw new ValueError(`For input string: "${text}"`, "number_format_exception");
  const [min, max] = RANGES[field.type]!;
  if (!Number.isFinite(number) || number < Number(min) || number >= Number(max) + 1)
    throw outOfRange(field, text);
  if (!field.coerce && number !== Math.trunc(number))
    throw new ValueError(`${text} cannot be converted to ${typeName(field)} without data loss`);
  const whole = Math.trunc(number) + 0;
  return Number.isSafeInteger(whole) ? whole : BigInt(whole);
}

function typeName(field: Field): string {
  return (TYPE_NAMES[field.type] ?? field.type)
    .replace(/^an? /, "")
    .replace(/^./, (letter) => letter.toUpperCase());
}

function outOfRange(field: Field, text: string): ValueError {
  return new ValueError(`Value [${text}] is out of range for ${TYPE_NAMES[field.type] ?? field.type}`);
}

/** Returns the value of a fractional field as it is kept: rounded as its type is. Throws ValueError. */
export function parseDouble(field: Field, text: string, isString: boolean): number {
  if (isString && !field.coerce) throw new ValueError("Double value passed as String");
  const number = toDouble(text);
  if (Number.isNaN(number)) {
    throw new ValueError(
      text.trim() === "" ? "empty String" : `For input string: "${text}"`,
      "number_format_exception",
    );
  }
  const kept = roundAs(field, number);
  if (!Number.isFinite(kept))
    throw new ValueError(`[${field.type}] supports only finite values, but got [${text}]`);
  return kept;
}

function roundAs(field: Field, number: number): number {
  switch (field.type) {
    case "float":
      return Math.fround(number);
    case "half_float":
      return Math.f16round(number);
    case "scaled_float":
      return Math.round(number * field.scalingFactor) / field.scalingFactor;
    default:
      return number;
  }
}

function toDouble(text: string): number {
  const trimmed = text.trim();
  // Number() also takes "", hexadecimal and "Infinity".
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[dDfF]?$/.test(trimmed)
    ? Number(trimmed.replace(/[dDfF]$/, ""))
    : Number.NaN;
}

/** Returns ms since 1970-01-01 UTC. Throws ValueError. */
export function parseDate(field: Field, text: string): number {
  const timeMs = dateFormat(field.format).parse(text);
  if (Number.isNaN(timeMs)) {
    throw new ValueError(`failed to parse date field [${text}] with format [${givenFormat(field.format)}]`);
  }
  return timeMs;
}

/** Returns ns since 1970-01-01 UTC. Throws ValueError for a time that 64 bits don't hold, too. */
export function parseDateNanos(field: Field, text: string): bigint {
  const nanos = parseNanos(text, field.format);
  if (nanos !== null) return nanos;
  const why = parseDate(field, text) < 0 ? "before the epoch in 1970" : "after 2262-04-11T23:47:16.854775807";
  throw new ValueError(`date[${text}] is ${why} and cannot be stored in nanosecond resolution`);
}

/** Returns 1 or 0 of a boolean's text. Throws ValueError. */
export function parseBoolean(text: string): number {
  if (text === "true") return 1;
  if (text === "false" || text === "") return 0;
  throw notBoolean(text);
}

/** The error of a value that is neither true nor false. */
export function notBoolean(text: string): ValueError {
  return new ValueError(`Failed to parse value [${text}] as only [true] or [false] are allowed.`);
}

/** A point in degrees. */
interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

const GEOHASH_DIGITS = "0123456789bcdefghjkmnpqrstuvwxyz";

/** Reads "lat,lon", "POINT (lon lat)" or a geohash. Throws ValueError. */
export function parsePoint(field: Field, text: string): Point {
  const wkt = /^\s*POINT\s*\(\s*(\S+)\s+(\S+)(?:\s+\S+)?\s*\)\s*$/i.exec(text);
  if (wkt !== null) return checkedPoint(field, Number(wkt[2]), Number(wkt[1]));
  if (!text.includes(",")) return geohashPoint(text);
  const [latitude, longitude] = text.split(",").map((part) => part.trim());
  if (latitude === "" || Number.isNaN(Number(latitude)))
    throw new ValueError("latitude must be a number", "parse_exception");
  if (!longitude || Number.isNaN(Number(longitude)))
    throw new ValueError("longitude must be a number", "parse_exception");
  return checkedPoint(field, Number(latitude), Number(longitude));
}

/** Checks ranges. Throws ValueError. */
function checkedPoint(field: Field, latitude: number, longitude: number): Point {
  if (Number.isNaN(latitude)) throw new ValueError("latitude must be a number", "parse_exception");
  if (Number.isNaN(longitude)) throw new ValueError("longitude must be a number", "parse_exception");
  if (Math.abs(latitude) > 90) throw new ValueError(`illegal latitude value [${latitude}] for ${field.path}`);
  if (Math.abs(longitude) > 180)
    throw new ValueError(`illegal longitude value [${longitude}] for ${field.path}`);
  return { latitude, longitude };
}

/** Centre of a geohash cell. */
function geohashPoint(text: string): Point {
  const range = { latitude: [-90, 90] as [number, number], longitude: [-180, 180] as [number, number] };
  let even = true;
  for (const letter of text.toLowerCase()) {
    const digit = GEOHASH_DIGITS.indexOf(letter);
    if (digit < 0) throw new ValueError(`unsupported symbol [${letter}] in geohash [${text}]`);
    for (let bit = 16; bit > 0; bit >>= 1) {
      const axis = even ? range.longitude : range.latitude;
      const middle = (axis[0] + axis[1]) / 2;
      axis[digit & bit ? 0 : 1] = middle;
      even = !even;
    }
  }
  if (text === "") throw new ValueError("field must be either [lat], [lon] or [geohash]", "parse_exception");
  return {
    latitude: (range.latitude[0] + range.latitude[1]) / 2,
    longitude: (range.longitude[0] + range.longitude[1]) / 2,
  };
}

/** Returns the geohash of `length` characters that contains a point. */
export function geohashOf(lat: number, lon: number, length: number): string {
  const bounds = { lat: { low: -90, high: 90 }, lon: { low: -180, high: 180 } };
  let hash = "";
  let even = true;
  while (hash.length < length) {
    let value = 0;
    for (let bit = 0; bit < 5; bit++) {
      const range = even ? bounds.lon : bounds.lat;
      const middle = (range.low + range.high) / 2;
      const isHigh = (even ? lon : lat) >= middle;
      value = value * 2 + (isHigh ? 1 : 0);
      if (isHigh) range.low = middle;
      else range.high = middle;
      even = !even;
    }
    hash += GEOHASH_DIGITS[value];
  }
  return hash;
}

/**
 * Reads the value of `kind` that `scanner` has begun, to its end, and gives its points to `take`. Throws ValueError;
 * the value is read to its end anyway.
 */
export function readPoints(
  scanner: json.JsonScanner,
  kind: number,
  field: Field,
  take: (point: Point) => void,
): void {
  switch (kind) {
    case json.NULL:
      return;
    case json.STRING:
      take(parsePoint(field, scanner.text()));
      return;
    case json.OBJECT:
      take(readObject(scanner, field));
      return;
    case json.ARRAY:
      readArray(scanner, field, take);
      return;
    default:
      throw new ValueError("geo_point expected", "parse_exception");
  }
}

function readObject(scanner: json.JsonScanner, field: Field): Point {
  const parts = new Map<string, string>();
  let isKnown = true;
  for (let first = true; scanner.key(first); first = false) {
    const name = scanner.text();
    const kind = scanner.value();
    if (kind === json.STRING || kind === json.NUMBER) parts.set(name, scanner.text());
    else scanner.skip(kind);
    isKnown &&= name === "lat" || name === "lon" || name === "geohash";
  }
  if (!isKnown) throw new ValueError("field must be either [lat], [lon] or [geohash]", "parse_exception");
  const geohash = parts.get("geohash");
  if (geohash !== undefined) return parsePoint(field, geohash);
  for (const name of ["lat", "lon"]) {
    if (!parts.has(name)) throw new ValueError(`field [${name}] missing`, "parse_exception");
  }
  return checkedPoint(field, numberOf(parts.get("lat")!), numberOf(parts.get("lon")!));
}

/** Two or three numbers are one point, longitude first. */
function readArray(scanner: json.JsonScanner, field: Field, take: (point: Point) => void): void {
  const numbers: number[] = [];
  let problem: ValueError | undefined;
  for (let first = true; scanner.element(first); first = false) {
    const kind = scanner.value();
    if (kind === json.NUMBER) {
      numbers.push(Number(scanner.text()));
      continue;
    }
    try {
      readPoints(scanner, kind, field, take);
    } catch (error) {
      // The array is read to its end, so that what follows it is found.
      if (!(error instanceof ValueError)) throw error;
      problem ??= error;
    }
  }
  if (problem !== undefined) throw problem;
  if (numbers.length === 0) return;
  if (numbers.length < 2 || numbers.length > 3) {
    throw new ValueError("[geo_point] field type does not accept that many values", "parse_exception");
  }
  take(checkedPoint(field, numbers[1]!, numbers[0]!));
}

function numberOf(text: string): number {
  return text.trim() === "" ? Number.NaN : Number(text);
}

/** A name that a strict object lacks; `parent`: path of the object, "" for the document. */
export function strictError(name: string, parent: string): AppError {
  return new AppError(
    "mapping_strict",
    `mapping set to strict, dynamic introduction of [${name}] within [${parent === "" ? "_doc" : parent}] is not allowed`,
  );
}

/** A value that its field doesn't take. */
export function valueError(field: Field, cause: ValueError): AppError {
  return new AppError("mapping_parse", `failed to parse field [${field.path}] of type [${field.type}]`, {
    data: { caused_by: { type: cause.type, reason: cause.message } },
  });
}
