/**
 * Values of frames as bytes, in V8's serialisation format: plain data with big whole numbers, NaN and bytes. Errors are
 * plain records on the way.
 */

import { deserialize, serialize } from "node:v8";
import { AppError, type ErrorCode, isErrorCode, toAppError } from "#proto/kit/errors.ts";

/** Marks the record of an error inside a value. */
const ERROR = "\u0000error";

/** An error on the way. */
interface ErrorRecord {
  readonly [ERROR]: ErrorCode;
  readonly message: string;
  readonly detail: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  /** A record, or the text of an error that is none of the catalogue. */
  readonly cause: ErrorRecord | string | undefined;
  /** Where it was thrown; for the log. */
  readonly stack: string | undefined;
}

/** Causes within each other that are sent. */
const MAX_CAUSES = 8;

/** Returns plain data as bytes. It must not hold errors, see `plainError`, nor instances of other classes. */
export function encodeValue(value: unknown): Uint8Array {
  return serialize(value);
}

/** Returns the data of `encodeValue`. */
export function decodeValue(bytes: Uint8Array): unknown {
  return bytes.length === 0 ? undefined : (deserialize(bytes) as unknown);
}

/** Returns an error as plain data, with its causes and with the errors in its data. */
export function plainError(error: unknown, depth = 0): ErrorRecord {
  const failure = toAppError(error);
  const { code, message, detail, data, cause, stack } = failure;
  return {
    [ERROR]: code,
    message,
    detail,
    data: plain(data) as ErrorRecord["data"],
    cause: cause === undefined || depth >= MAX_CAUSES ? undefined : plainCause(cause, depth),
    stack: failure.status >= 500 ? stack : undefined,
  };
}

/** Returns the error of `plainError`. */
export function errorOf(value: unknown): AppError {
  if (!isRecord(value)) return new AppError("internal", "internal error", { detail: "unreadable error" });
  const { message, detail, data, cause, stack } = value;
  const error = new AppError(value[ERROR], message, {
    data: withErrors(data) as ErrorRecord["data"],
    ...(detail !== undefined && { detail }),
    ...(cause !== undefined && { cause: typeof cause === "string" ? new Error(cause) : errorOf(cause) }),
  });
  if (stack !== undefined) error.stack = stack;
  return error;
}

function plainCause(cause: unknown, depth: number): ErrorRecord | string {
  if (cause instanceof AppError) return plainError(cause, depth + 1);
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

function plain(value: unknown): unknown {
  if (value instanceof AppError) return plainError(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

function withErrors(value: unknown): unknown {
  if (isRecord(value)) return errorOf(value);
  if (Array.isArray(value)) return value.map(withErrors);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withErrors(each)]));
}

function isRecord(value: unknown): value is ErrorRecord {
  if (typeof value !== "object" || value === null) return false;
  const code = (value as { [ERROR]?: unknown })[ERROR];
  return typeof code === "string" && isErrorCode(code);
}
