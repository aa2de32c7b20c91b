/** Functions that Elasticsearch gives scripts that score documents, from 7.0 on. Those of vectors are left out. */

import { Moment } from "#hub/scripts/library/moment.ts";
import { toDouble } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Callable, Decimal, print } from "#hub/scripts/values/values.ts";
import { parseDateMath } from "#hub/search/dates/date-math.ts";
import { distanceMetres, parseDistance, parsePoint } from "#hub/search/geo/point.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { type DecayKind, decayCurve } from "./decay-curve.ts";
import { Point } from "./field-values.ts";
import { randomScore, randomStart } from "./random-score.ts";

/** The document that is scored. */
export interface ScoredDocument {
  readonly nowMs: number;
  id(): string;
  /** The first value of a field, undefined without one. Throws IllegalArgumentException for a field that isn't mapped. */
  value(field: string): unknown;
}

type Arguments = readonly unknown[];
type Compute = (values: Arguments, document: ScoredDocument) => number;

/** Number of arguments that a function takes, and what it returns. */
interface ScoreFunction {
  readonly takes: readonly number[];
  readonly compute: Compute;
}

const KINDS: Readonly<Record<string, DecayKind>> = { Linear: "linear", Exp: "exp", Gauss: "gauss" };

/** Returns the distance of a value from an origin, the scale and the offset, in one unit. */
type Measure = (
  origin: unknown,
  scale: unknown,
  offset: unknown,
  value: unknown,
  nowMs: number,
) => { readonly distance: number; readonly scale: number; readonly offset: number };

const MEASURES: Readonly<Record<string, Measure>> = {
  Numeric: (origin, scale, offset, value) => ({
    distance: Math.abs(toDouble(value) - toDouble(origin)),
    scale: toDouble(scale),
    offset: toDouble(offset),
  }),
  Geo(origin, scale, offset, value) {
    if (!(value instanceof Point)) throw wrong("a geo point is needed");
    const { lat, lon } = parsePoint(String(origin), "origin");
    return {
      distance: distanceMetres(lat, lon, value.lat, value.lon),
      scale: parseDistance(String(scale), "m", "scale"),
      offset: parseDistance(String(offset), "m", "offset"),
    };
  },
  Date(origin, scale, offset, value, nowMs) {
    if (!(value instanceof Moment)) throw wrong("a date is needed");
    const format = "strict_date_optional_time||epoch_millis";
    const originMs = parseDateMath(String(origin), { format, nowMs, zone: UTC, roundUp: false });
    return {
      distance: Math.abs(value.timeMs - originMs),
      scale: parseDuration(String(scale), 1),
      offset: parseDuration(String(offset), 1),
    };
  },
};

const FUNCTIONS: Readonly<Record<string, ScoreFunction>> = {
  saturation: {
    takes: [2],
    compute([value, k]) {
      const pivot = toDouble(k);
      const given = toDouble(value);
      return given / (pivot + given);
    },
  },
  sigmoid: {
    takes: [3],
    compute([value, k, a]) {
      const exponent = toDouble(a);
      const power = toDouble(value) ** exponent;
      return power / (toDouble(k) ** exponent + power);
    },
  },
  randomScore: {
    takes: [1, 2],
    compute([seed, field], document) {
      // Sequence numbers are those of documents, as ids are.
      const text =
        field === undefined || field === "_seq_no" ? document.id() : print(document.value(print(field)) ?? 0);
      return randomScore(text, randomStart(String(seed)));
    },
  },
  ...Object.fromEntries(
    Object.entries(MEASURES).flatMap(([unit, measure]) =>
      Object.entries(KINDS).map(([name, kind]) => [`decay${unit}${name}`, decay(kind, measure)]),
    ),
  ),
};

function decay(kind: DecayKind, measure: Measure): ScoreFunction {
  return {
    takes: [5],
    compute([origin, scaleGiven, offsetGiven, rate, value], { nowMs }) {
      const { distance, scale, offset } = measure(origin, scaleGiven, offsetGiven, value, nowMs);
      return decayCurve(kind, scale, toDouble(rate))(Math.max(0, distance - offset));
    },
  };
}

/** Names of the functions as variables of scripts, which can't name them otherwise than by calls. */
export const SCORE_FUNCTION_NAMES: readonly string[] = Object.keys(FUNCTIONS).map((name) => `${name}()`);

/** Returns the functions, in the order of their names. */
export function scoreFunctionsOn(document: ScoredDocument): readonly Callable[] {
  return Object.entries(FUNCTIONS).map(
    ([name, { takes, compute }]) =>
      new Callable((...values) => {
        if (!takes.includes(values.length))
          throw wrong(`Unknown call [${name}] with [${values.length}] arguments.`);
        return new Decimal(compute(values, document));
      }),
  );
}

function wrong(message: string): ScriptException {
  return new ScriptException("IllegalArgumentException", message);
}
