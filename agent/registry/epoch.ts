/** Counts the starts of an agent, never the same twice. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";

/**
 * Returns the epoch after `known` and writes it down. The epoch is part of message ids, which the hub's log takes for
 * repetitions when it has seen them. So it is also kept outside the database, and where both may be old the clock makes
 * the step: `nowMs`, null where they aren't. Throws file_unreadable, and the system's error where it can't be written.
 */
export function nextEpoch(folder: string, known: number, nowMs: number | null): number {
  const path = join(folder, "epoch");
  let kept = 0;
  try {
    if (existsSync(path)) kept = Number(readFileSync(path, "utf8")) || 0;
  } catch (error) {
    throw new AppError("file_unreadable", `cannot read ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const last = Math.max(known, kept);
  const next = nowMs === null ? last + 1 : Math.max(last + 1, Math.floor(nowMs / 1_000));
  writeFileAtomic(path, `${next}\n`);
  return next;
}
