/** Scripts whose results are the values of an aggregation: of the document alone, or of each value of a field (`_value`). */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { DateTime } from "#hub/scripts/library/dates.ts";
import { readScript, type Script } from "#hub/scripts/script.ts";
import { toJson } from "#hub/scripts/values/json.ts";
import { Decimal } from "#hub/scripts/values/values.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DocValues } from "./doc-values.ts";

/** Steps of one run: those of a batch of some thousand documents have the thread without a pause, for less than a second. */
const MAX_STEPS = 1000;

/** A value of an aggregation. */
export type ScriptedValue = string | number | boolean;

/** A script of an aggregation. */
export interface ValueScript {
  readonly script: Script;
  /** The field whose values the script sees as `_value`, one by one. */
  readonly field: string | undefined;
}

/** Reads the script. Throws script_failed, parsing, request_invalid. */
export function readValueScript(given: unknown, field: string | undefined): ValueScript {
  const names = field === undefined ? ["params", "doc"] : ["params", "doc", "_value"];
  return { script: readScript(given, names, { expressions: "number" }), field };
}

/** Returns what makes the values of a document. It throws script_failed, request_invalid. */
export function valuesOn(
  { script, field }: ValueScript,
  shard: ShardContext,
): (segment: SegmentReader) => (doc: number) => ScriptedValue[] {
  const values = new DocValues(shard);
  const isMapped = field !== undefined && shard.mapping.resolve(field) !== undefined;
  const run = (inputs: readonly unknown[]): ScriptedValue[] =>
    flatten(script.compiled.run([script.params, values, ...inputs], MAX_STEPS));
  return (segment) => (doc) => {
    values.move(segment, doc);
    if (field === undefined) return run([]);
    return isMapped ? [...values.lookup(field)].flatMap((value) => run([rawValue(value)])) : [];
  };
}

/** `_value` of a date is its time, as the 6.5 server has it. */
function rawValue(value: unknown): unknown {
  return value instanceof DateTime ? value.timeMs : value;
}

function flatten(result: unknown): ScriptedValue[] {
  if (result instanceof DateTime) return [result.timeMs];
  // What 6.5 prints of a fraction has its point, which JSON drops.
  if (result instanceof Decimal) return [Number(result.toJSON())];
  const value = toJson(result);
  return (Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [value]).filter(
    (each): each is ScriptedValue => ["string", "number", "boolean"].includes(typeof each),
  );
}

/** Returns a value as a number; booleans are 0 and 1. Throws request_invalid. */
export function scriptedNumber(value: ScriptedValue, owner: string): number {
  const number = typeof value === "string" && value.trim() === "" ? Number.NaN : Number(value);
  if (!Number.isNaN(number)) return number;
  throw new AppError(
    "request_invalid",
    `the script of [${owner}] must return numbers, but returned ${JSON.stringify(value)}`,
  );
}
