/** Functions of `function_score`: field value, decay by distance, random numbers. */

import { type Field, isDate } from "#hub/engine/mapping/field.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { columnField, isNumeric, numericColumn } from "#hub/search/columns/column-values.ts";
import { parseDateMath } from "#hub/search/dates/date-math.ts";
import { distanceMetres, type GeoPoint, parseDistance, parsePoint } from "#hub/search/geo/point.ts";
import { describe, objectOf, scalarText } from "#hub/search/options/json.ts";
import {
  anything,
  number,
  oneOf,
  readOptions,
  required,
  text,
  withoutEffect,
} from "#hub/search/options/options.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { type DecayKind, decayCurve } from "#hub/search/scripting/decay-curve.ts";
import { readScoringScript, scoreOn } from "#hub/search/scripting/document-script.ts";
import { randomScore, randomStart } from "#hub/search/scripting/random-score.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { doubleText } from "#proto/kit/number-text.ts";
import { parseDuration } from "#proto/kit/units.ts";

/** Computes a number from a document. */
export interface ScoreFunction {
  /** Binds to a shard. Throws request_invalid if the mapping doesn't allow it. */
  bind(shard: ShardContext): (segment: SegmentReader) => (doc: number, score: number) => number;
}

export const DECAYS: readonly DecayKind[] = ["gauss", "exp", "linear"];

/** Keys that are functions. */
export const FUNCTION_NAMES: readonly string[] = [
  "field_value_factor",
  "random_score",
  "script_score",
  ...DECAYS,
];

/** Parses a function by its key. Throws parsing, request_invalid, script_failed. */
export function parseFunction(name: string, body: unknown): ScoreFunction {
  const json = objectOf(body, name);
  if (name === "field_value_factor") return fieldValueFactor(json);
  if (name === "random_score") return randomFunction(json);
  if (name === "script_score") {
    const made = scriptFunction(json["script"]);
    return answersAs(700) ? checkedScore(made, negativeScore) : made;
  }
  return decayFunction(name as DecayKind, json);
}

/** Returns the function that a script is. Throws parsing, script_failed. */
export function scriptFunction(given: unknown): ScoreFunction {
  const script = readScoringScript(given);
  return { bind: (shard) => scoreOn(script, shard) };
}

/** Returns a function that throws request_invalid with the message that `fault` gives for a score; undefined: it may be. */
export function checkedScore(
  made: ScoreFunction,
  fault: (score: number, doc: number) => string | undefined,
): ScoreFunction {
  return {
    bind(shard) {
      const bound = made.bind(shard);
      return (segment) => {
        const scoreOf = bound(segment);
        return (doc, before) => {
          const score = scoreOf(doc, before);
          const message = fault(score, doc);
          if (message === undefined) return score;
          throw new AppError("request_invalid", message);
        };
      };
    },
  };
}

/** The fault of a score that is negative, from 7.0 on. */
function negativeScore(score: number): string | undefined {
  return score < 0
    ? `script score function must not produce negative scores, but got: [${doubleText(score)}]`
    : undefined;
}

/** Returns the options that aren't null, which is as good as leaving them out. */
export function withoutNulls(json: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null));
}

const MODIFIERS: Readonly<Record<string, (value: number) => number>> = {
  none: (value) => value,
  log: Math.log10,
  log1p: (value) => Math.log10(value + 1),
  log2p: (value) => Math.log10(value + 2),
  ln: Math.log,
  ln1p: Math.log1p,
  ln2p: (value) => Math.log(value + 2),
  square: (value) => value * value,
  sqrt: Math.sqrt,
  reciprocal: (value) => 1 / value,
};

const FIELD_VALUE_OPTIONS = {
  field: required(text("field of numbers", undefined)),
  factor: number("factor of the value", 1),
  modifier: oneOf("function applied to the value", Object.keys(MODIFIERS), "none"),
  missing: number("value of documents without one", undefined),
} as const;

function fieldValueFactor(json: JsonObject): ScoreFunction {
  const options = readOptions("field_value_factor", withoutNulls(json), FIELD_VALUE_OPTIONS);
  const modify = MODIFIERS[options.modifier]!;
  return {
    bind(shard) {
      const field = columnField(shard, options.field);
      if (field === undefined && options.missing === undefined) {
        throw new AppError(
          "query_shard",
          `Unable to find a field mapper for field [${options.field}]. No 'missing' value defined.`,
        );
      }
      if (field !== undefined && !isNumeric(field))
        throw new AppError(
          "request_invalid",
          `[field_value_factor] needs numbers, but [${field.path}] holds [${field.type}]`,
        );
      return (segment) => {
        const column = numericColumn(segment, field);
        return (doc) => {
          const found = column?.first(doc) ?? Number.NaN;
          const value = Number.isNaN(found) ? options.missing : found;
          if (value === undefined)
            throw new AppError(
              "request_invalid",
              `Missing value for field [${options.field}]; give [missing]`,
            );
          return checked(modify(value * options.factor), value, options.field);
        };
      };
    },
  };
}

function checked(score: number, value: number, field: string): number {
  if (score < 0 && answersAs(700)) {
    throw new AppError(
      "request_invalid",
      `field value function must not produce negative scores, but got: [${doubleText(score)}] for field value: [${doubleText(value)}]`,
    );
  }
  if (Number.isFinite(score)) return score;
  throw new AppError(
    "request_invalid",
    `Result of field modification [${score}] of [${field}] must be a number`,
  );
}

/** Options of `random_score`. */
export const RANDOM_OPTIONS = {
  seed: text("the same seed gives the same scores", undefined),
  field: withoutEffect(text("numbers are made of the ids of documents", undefined)),
} as const;

function randomFunction(json: JsonObject): ScoreFunction {
  const { seed } = readOptions("random_score", json, RANDOM_OPTIONS);
  const start = seed === undefined ? Math.floor(Math.random() * 2 ** 32) : randomStart(seed);
  return { bind: () => (segment) => (doc) => randomScore(segment.id(doc), start) };
}

/** Reads a factor. Throws parsing; request_invalid if it is negative, from 7.0 on. */
export function readWeight(value: unknown): number {
  if (typeof value === "number" && value < 0 && answersAs(700))
    throw new AppError("request_invalid", "[weight] cannot be negative for a filtering function");
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new AppError("parsing", `[weight] must be a number, but is ${describe(value)}`);
}

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
export function decayFunction(kind: DecayKind, json: JsonObject): ScoreFunction {
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
      const curve = decayCurve(kind, unit.scale, decay);
      return (segment) => {
        const distances = unit.open(segment);
        return (doc) => {
          const found = distances(doc);
          // A document without a value has the distance 0.
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

/** Parses origin, scale and offset in the form of a field's type. Throws parsing, request_invalid. */
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
