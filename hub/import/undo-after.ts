/** Work that changes the hub for its time: the change is taken back however the work ends. */

import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { ClusterClient } from "./cluster-client.ts";

/** Time that taking a change back may need once the import was stopped or has failed. */
const LIMIT_MS = 10_000;

/** How a change is taken back. */
export interface Undo {
  /** Has the same effect when it is run twice. */
  readonly run: (hub: ClusterClient) => Promise<unknown>;
  /** What stays changed where that fails, and what the user can do. */
  readonly remedy: string;
}

/**
 * Runs `work` and then `undo`, also where `work` fails or the import is stopped. Throws the first error; where the change
 * couldn't be taken back, its message ends with the remedy.
 */
export async function undoAfter<T>(hub: ClusterClient, work: () => Promise<T>, undo: Undo): Promise<T> {
  try {
    const result = await work();
    await undo.run(hub);
    return result;
  } catch (cause) {
    if (await undoStopped(hub, undo)) throw cause;
    const { code, message, detail } = toAppError(cause);
    throw new AppError(code, `${message}; ${undo.remedy}`, {
      cause,
      ...(detail !== undefined && { detail }),
    });
  }
}

/** Takes the change back over requests that the end of the import doesn't stop. Returns whether it succeeded. */
async function undoStopped(hub: ClusterClient, undo: Undo): Promise<boolean> {
  const last = hub.until(AbortSignal.timeout(LIMIT_MS));
  try {
    await undo.run(last);
    return true;
  } catch {
    return false;
  } finally {
    last.close();
  }
}
