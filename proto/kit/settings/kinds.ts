/**
 * Settings that are written with a unit: durations and sizes. Values that can't be parsed are found while settings are
 * checked.
 */

import type { Static, TSchema } from "typebox";
import { parseDuration, parseSize } from "#proto/kit/units.ts";
import { Type } from "../schema.ts";

/** Annotations of a setting's schema. */
interface Notes<Default> {
  readonly description: string;
  readonly default?: Default;
}

const DURATION = Type.Union([Type.String(), Type.Number()]);
const SIZE = Type.Union([Type.String(), Type.Integer()]);

/** Returns the schema of a duration: "5s", or a number of seconds. */
export function durationSetting(notes: Notes<Static<typeof DURATION>>): typeof DURATION {
  return Type.Union([Type.String(), Type.Number()], { ...notes, unit: "duration" });
}

/** Returns the schema of a size: "10mb", or a number of bytes. */
export function sizeSetting(notes: Notes<Static<typeof SIZE>>): typeof SIZE {
  return Type.Union([Type.String(), Type.Integer()], { ...notes, unit: "size" });
}

/**
 * Returns the fault of a value that has a unit; undefined for a valid one, for an empty one where
 * that is the default, and for settings without a unit.
 */
export function unitFault(schema: TSchema, value: unknown): string | undefined {
  const { unit, default: usual } = schema as { unit?: "duration" | "size"; default?: unknown };
  if (value === "" && usual === "") return undefined;
  if (unit === undefined || (typeof value !== "string" && typeof value !== "number")) return undefined;
  try {
    const amount = unit === "duration" ? parseDuration(value) : parseSize(value);
    return amount < 0 ? `${value} is negative` : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
