/** Checks JSON bodies of this room's routes. */

import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { AppError } from "#proto/kit/errors.ts";

/** Returns the body where it fits the schema. Throws request_invalid naming the field. */
export function checked<T extends TSchema>(schema: T, body: unknown): NoInfer<Static<T>> {
  const fault = Value.Errors(schema, body)[0];
  if (fault === undefined) return body as NoInfer<Static<T>>;
  const where = fault.instancePath.slice(1).replaceAll("/", ".") || "the body";
  throw new AppError("request_invalid", `${where} ${fault.message}`);
}
