/** Indices that have just got their name back from one that was deleted. */

import { AppError } from "#proto/kit/errors.ts";
import { MINUTE_MS } from "#proto/kit/units.ts";
import type { IndexMetadata } from "./index-metadata.ts";

/** For this long such an index isn't deleted by name: longer than clients repeat a request. */
const RETURNED_MS = 5 * MINUTE_MS;

/** Throws request_invalid for an index that got its name back some minutes ago: a repeated request would delete it too. */
export function checkDeletable(
  { name, uuid, returnedMs = Number.NEGATIVE_INFINITY }: IndexMetadata,
  nowMs: number,
): void {
  // A time ahead of this hub's clock by more is of a clock that was set back, and must not refuse indefinitely.
  if (Math.abs(nowMs - returnedMs) >= RETURNED_MS) return;
  throw new AppError(
    "request_invalid",
    `the index [${name}/${uuid}] has just got its name back from one that was deleted; so that a repeated request ` +
      `doesn't delete it too, it can be deleted from ${new Date(returnedMs + RETURNED_MS).toISOString()} on`,
  );
}
