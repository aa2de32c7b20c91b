/** `gauss`, `exp`, `linear`: scores that fall with the distance of a value from an origin. */

import { type Field, isDate } from "#hub/engine/mapping/field.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { isNumeric, numericColumn } from "#hub/search/columns/column-values.ts";
import { parseDateMath } from "#hub/search/dates/date-math.ts";
import { distanceMetres, type GeoPoint, parseDistance, parsePoint } from "#hub/search/geo/point.ts";
import { objectOf, scalarText } from "#hub/search/options/json.ts";
import { anything, number, oneOf, readOptions, required } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { parseDuration } from "#proto/kit/units.ts";
import type { ScoreFunction } from "./score-function.ts";

export const DECAYS: readonly string[] = ["gauss", "exp", "linear"];

const OPTIONS = {
  origin: anything("value of the full score; now for dates"),
  scale: required(anything("distance from the origin at which the score is [decay]")),
  offset: anything("distance up to which the score is full"),
  decay: number("score at [scale]", 0.5),
} as const;

type Mode = "min" | "max" | "avg" | "sum";

const MODES = oneOf<Mode, Mode>("which of several values counts", ["min", "max", "avg", "sum"], "min");

/** Distances of a document's values from the origin. */
type Distances = (doc: number) => readonly number[];

/** Reads `{"<field>": {origin, scale, offset, decay}, "multi_value_mode": …}`. Throws parsing, request_invalid. */
export function decayFunction(kind: string, json: JsonObject): ScoreFunction {
  const { multi_value_mode: given, ...fields } = json;
  const mode = MODES.read(given ?? "min", `[${kind}] [multi_value_mode]`);
  const [entry, second] = Object.entries(fields);
  if (entry === undefined || second !== undefined)
    throw new AppError("parsing", `[${kind}] needs exactly one field`);
  const [name, body] = entry;
  const options = readOptions(kind, objectOf(body, name), OPTIONS);
  const decay = options.decay ?? 0.5;
  if (!(decay > 0 && decay < 1))
    throw new AppError("request_invalid", `decay must be in the range (0..1), but is [${decay}]`);
  return {
    bind(shard) {
      const field = shard.mapping.resolve(name);
      if (field === undefined) throw new AppError("query_shard", `unknown field [${name}]`);
      const unit = unitsOf(field, options, shard);
      if (!(unit.scale > 0))
        throw new AppError("request_invalid", `scale must be > 0 for function [${kind}]`);
      if (unit.offset < 0)
        throw new AppError("request_invalid", `offset must be >= 0 for function [${kind}]`);
      const curve = curveOf(kind, unit.scale, decay);
      return (segment) => {
        const distances = unit.open(segment);
        return (doc) => {
          const found = distances(doc);
          // A document without a value isn't far from anything.
          return found.length === 0 ? 1 : curve(Math.max(0, pick(found, mode) - unit.offset));
        };
      };
    },
  };
}

/** Distances from an origin, in the unit of a field: metres, ms, or the numbers' own. */
export interface Units {
  readonly scale: number;
  readonly offset: number;
  open(segment: SegmentReader): Distances;
}

type DecayOptions = { readonly origin: unknown; readonly scale: unknown; readonly offset: unknown };

/** Reads origin, scale and offset as a field's type has them. Throws parsing, request_invalid. */
export function unitsOf(field: Field, { origin, scale, offset }: DecayOptions, shard: ShardContext): Units {
  if (field.type === "geo_point") {
    const centre = parsePoint(origin, field.path);
    const metres = (value: unknown): number => parseDistance(value, "m", field.path);
    return {
      scale: metres(scale),
      offset: metres(offset ?? 0),
      open: (segment) => points(segment, field, centre),
    };
  }
  if (!isNumeric(field)) {
    throw new AppError(
      "parsing",
      `field [${field.path}] is of type [${field.type}], but only numeric types, dates and points are supported`,
    );
  }
  if (isDate(field)) {
    const at = parseDateMath(scalarText(origin ?? "now", "origin"), {
      format: field.format,
      nowMs: shard.nowMs,
      zone: UTC,
      roundUp: false,
    });
    const duration = (value: unknown): number => parseDuration(scalarText(value, field.path), 1);
    return {
      scale: duration(scale),
      offset: duration(offset ?? "0ms"),
      open: (segment) => numbers(segment, field, at),
    };
  }
  const [centre, width, free] = [Number(origin), Number(scale), Number(offset ?? 0)];
  if (origin === undefined || Number.isNaN(centre + width + free))
    throw new AppError("parsing", `[${field.path}] needs [origin], [scale] and [offset] as numbers`);
  return { scale: width, offset: free, open: (segment) => numbers(segment, field, centre) };
}

function numbers(segment: SegmentReader, field: Field, origin: number): Distances {
  const column = numericColumn(segment, field);
  const values: number[] = [];
  return (doc) => {
    const count = column?.read(doc, values) ?? 0;
    return values.slice(0, count).map((value) => Math.abs(value - origin));
  };
}

function points(segment: SegmentReader, field: Field, centre: GeoPoint): Distances {
  const column = segment.geoColumn(field.path);
  const [latitudes, longitudes]: [number[], number[]] = [[], []];
  return (doc) => {
    const count = column?.read(doc, latitudes, longitudes) ?? 0;
    return latitudes
      .slice(0, count)
      .map((lat, at) => distanceMetres(centre.lat, centre.lon, lat, longitudes[at]!));
  };
}

function pick(distances: readonly number[], mode: Mode): number {
  if (mode === "min") return Math.min(...distances);
  if (mode === "max") return Math.max(...distances);
  const sum = distances.reduce((total, each) => total + each, 0);
  return mode === "sum" ? sum : sum / distances.length;
}

function curveOf(kind: string, scale: number, decay: number): (distance: number) => number {
  if (kind === "gauss") {
    const factor = Math.log(decay) / (scale * scale);
    return (distance) => Math.exp(factor * distance * distance);
  }
  if (kind === "exp") {
    const factor = Math.log(decay) / scale;
    return (distance) => Math.exp(factor * distance);
  }
  const end = scale / (1 - decay);
  return (distance) => Math.max(0, (end - distance) / end);
}
