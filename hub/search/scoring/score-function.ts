/** Functions that `function_score` makes scores of: weight, a field's value, a distance, chance. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { columnField, isNumeric, numericColumn } from "#hub/search/columns/column-values.ts";
import { describe, objectOf } from "#hub/search/options/json.ts";
import { number, oneOf, readOptions, required, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { DECAYS, decayFunction } from "./decay.ts";

/** Makes a number of a document. */
export interface ScoreFunction {
  /** Binds to a shard. Throws request_invalid where the mapping doesn't allow it. */
  bind(shard: ShardContext): (segment: SegmentReader) => (doc: number) => number;
}

/** Keys that are functions. */
export const FUNCTION_NAMES: readonly string[] = [
  "field_value_factor",
  "random_score",
  "script_score",
  ...DECAYS,
];

/** Reads a function by its key. Throws parsing, request_invalid, not_offered. */
export function parseFunction(name: string, body: unknown): ScoreFunction {
  const json = objectOf(body, name);
  if (name === "field_value_factor") return fieldValueFactor(json);
  if (name === "random_score") return randomScore(json);
  if (name === "script_score") {
    throw new AppError(
      "request_invalid",
      "[script_score] can't be used: scripts aren't offered; use field_value_factor or a decay function",
    );
  }
  return decayFunction(name, json);
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
  factor: number("what the value is multiplied by", 1),
  modifier: oneOf("what is made of the value", Object.keys(MODIFIERS), "none"),
  missing: number("value of documents without one", undefined),
} as const;

function fieldValueFactor(json: JsonObject): ScoreFunction {
  const options = readOptions("field_value_factor", json, FIELD_VALUE_OPTIONS);
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
          return checked(modify(value * options.factor), options.field);
        };
      };
    },
  };
}

function checked(score: number, field: string): number {
  if (Number.isFinite(score)) return score;
  throw new AppError(
    "request_invalid",
    `Result of field modification [${score}] of [${field}] must be a number`,
  );
}

const RANDOM_OPTIONS = {
  seed: text("the same seed gives the same scores", undefined),
  field: text("accepted; scores are made of the documents' ids", undefined),
} as const;

function randomScore(json: JsonObject): ScoreFunction {
  const { seed } = readOptions("random_score", json, RANDOM_OPTIONS);
  const start = seed === undefined ? Math.floor(Math.random() * 2 ** 32) : hash(seed, 0);
  return {
    bind: () => (segment) => (doc) => (hash(segment.id(doc), start) >>> 8) / 2 ** 24,
  };
}

/** FNV-1a with a last mixing, so that neighbouring ids differ in all bits. */
function hash(value: string, start: number): number {
  let state = (0x811c9dc5 ^ start) >>> 0;
  for (let at = 0; at < value.length; at++) state = Math.imul(state ^ value.charCodeAt(at), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

/** Reads a factor. Throws parsing. */
export function readWeight(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new AppError("parsing", `[weight] must be a number, but is ${describe(value)}`);
}
