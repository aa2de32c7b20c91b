/** Deletes what an account had, after a change that has ended it already. */

import type { Logger } from "#proto/kit/log.ts";

/**
 * Waits for the deletions. One that fails is only logged: its records are invalid whether or not they are stored, and a
 * change that has taken effect must not be reported as failed.
 */
export async function cleanUp(log: Logger, ...deletions: readonly Promise<unknown>[]): Promise<void> {
  for (const deletion of await Promise.allSettled(deletions))
    if (deletion.status === "rejected")
      log.warn(
        { err: deletion.reason },
        "sessions, grants or consents of a changed account were not deleted; they are invalid",
      );
}
