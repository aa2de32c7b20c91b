/** The error of one operation, made of what the shard said of it. */

import { AppError, isErrorCode } from "#proto/kit/errors.ts";

/** A value that doesn't fit its field: the field, then why. */
const UNFIT = /^(failed to parse field \[.*?\] of type \[\w+\]); (.*)$/s;

/** Beginnings of causes with the type that clients of 6.5 know them by; others are illegal_argument_exception. */
const CAUSES: readonly (readonly [beginning: string, type: string])[] = [
  ["For input string", "number_format_exception"],
  ["Can't get text on", "illegal_state_exception"],
  ["Current token", "json_parse_exception"],
  ["geo_point expected", "parse_exception"],
  ["field must be either", "parse_exception"],
  ["latitude must be", "parse_exception"],
  ["longitude must be", "parse_exception"],
  ["field [", "parse_exception"],
  ["[geo_point]", "parse_exception"],
];

/** Returns the error with its cause apart, as far as the text says it. `data`: where it happened. */
export function documentError(
  errorCode: string,
  reason: string,
  data: Readonly<Record<string, unknown>>,
): AppError {
  const code = isErrorCode(errorCode) ? errorCode : "internal";
  const [, message, cause] = (code === "mapping_parse" && UNFIT.exec(reason)) || [];
  if (message === undefined || cause === undefined) return new AppError(code, reason, { data });
  const type = CAUSES.find(([beginning]) => cause.startsWith(beginning))?.[1] ?? "illegal_argument_exception";
  return new AppError(code, message, { data: { ...data, caused_by: { type, reason: cause } } });
}
