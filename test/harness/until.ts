/** Waits for a condition of the outside world: checks it until it holds or the deadline passes. */

import { systemClock } from "#proto/kit/clock.ts";

/** A machine with two busy cores is slow: this is about being stuck, not about being fast. */
const DEADLINE_MS = 60_000;

export interface UntilOptions {
  /** ms; a minute without it. */
  readonly deadlineMs?: number;
  /** ms between two questions. */
  readonly everyMs?: number;
}

/**
 * Resolves with the first answer of `ask` that is neither false, null nor undefined. An error of `ask` counts as
 * "not yet". Throws at the deadline, naming `what`, the last answer and the last error.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T> | T,
  { deadlineMs = DEADLINE_MS, everyMs = 50 }: UntilOptions = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const end = systemClock.monotonic() + deadlineMs;
  let last = "nothing asked yet";
  do {
    try {
      const answer = await ask();
      if (answer !== false && answer !== null && answer !== undefined) {
        return answer as NonNullable<Exclude<T, false>>;
      }
      last = `last answer ${String(answer)}`;
    } catch (error) {
      last = `last error ${(error as Error).message}`;
    }
    await systemClock.sleep(everyMs);
  } while (systemClock.monotonic() < end);
  throw new Error(`${what} did not come true within ${deadlineMs} ms; ${last}`);
}

/** Resolves when `measure` gives the same number `times` times in a row; throws at the deadline. */
export async function untilSteady(
  what: string,
  measure: () => Promise<number>,
  { times = 10, everyMs = 200, deadlineMs = 60_000 }: UntilOptions & { readonly times?: number } = {},
): Promise<number> {
  let last = Number.NaN;
  let same = 0;
  return until(
    `${what} standing still`,
    async () => {
      const now = await measure();
      same = now === last ? same + 1 : 0;
      last = now;
      return same >= times ? { value: now } : false;
    },
    { everyMs, deadlineMs },
  ).then(({ value }) => value);
}
