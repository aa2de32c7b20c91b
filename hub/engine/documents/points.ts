/** geo_point values: an object, a text, an array of two numbers, or an array of those. */

import * as json from "#hub/engine/json/scanner.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { checkedPoint, type Point, parsePoint, ValueError } from "./values.ts";

/**
 * Reads the value of `kind` that `scanner` has begun, to its end, and gives its points to `take`.
 * Throws ValueError; the value is read to its end all the same.
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
