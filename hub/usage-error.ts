/** Wrong command lines. */

import { AppError } from "#proto/kit/errors.ts";

/** Returns the error for `message`, with where to look. */
export function usageError(message: string, cause?: unknown): AppError {
  return new AppError("usage_invalid", `${message}; see tailrace-hub --help`, { cause });
}
