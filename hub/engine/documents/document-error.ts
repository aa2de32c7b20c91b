/** Why a document is refused, worded as in 6.5. */

import type { Field } from "#hub/engine/mapping/field.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { ValueError } from "./values.ts";

/** A name that a strict object doesn't know; `parent`: path of the object, "" for the document. */
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
