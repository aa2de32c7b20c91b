/** What stops a shard's files from being written. */

import { AppError, systemCode, toAppError } from "#proto/kit/errors.ts";

/** Returns why the shard of `index` in `folder` can't be written: disk_full where the disk is full. */
export function commitError(error: unknown, index: string, folder: string): AppError {
  if (error instanceof AppError) return error;
  if (systemCode(error) === "ENOSPC") {
    const message = `the disk of ${folder} is full: the shard of [${index}] can't be written; free space or delete old indices`;
    return new AppError("disk_full", message, { cause: error });
  }
  return toAppError(error);
}
