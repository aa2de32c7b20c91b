/**
 * The time by which indices are deleted for their age. A clock that is set forward by mistake would make all of them old at
 * once, so a step forward counts only after the clock has kept it for a day. What is known → what is done → what can go wrong:
 *
 * | known | done | what can go wrong |
 * |---|---|---|
 * | set forward by 5 s or more | not counted for a day | what is due by the right time is deleted a day late, two where steps follow each other |
 * | set back | counted at once | indices are kept longer |
 * | corrected gradually | counted at once | an error may grow by 5 s between two readings |
 * | the machine was suspended | counted at once | – |
 * | wrong when the hub starts | taken as right | what that time makes old is deleted |
 */

import { uptime } from "node:os";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { DAY_MS } from "#proto/kit/units.ts";

/** A change by less is a correction. */
const STEP_MS = 5_000;
const SETTLED_AFTER_MS = DAY_MS;

/**
 * Returns a clock whose `now` follows steps forward late. `uptimeMs`: time since the machine started, including suspension,
 * which the monotonic clock lacks.
 */
export function settledClock(
  clock: Clock,
  log: Logger,
  uptimeMs: () => number = () => uptime() * 1_000,
): Clock {
  let offset = clock.now() - uptimeMs();
  /** The least that the clock was set forward to since then. */
  let step: { readonly offset: number; readonly sinceMs: number } | undefined;
  const now = (): number => {
    const up = uptimeMs();
    const found = clock.now() - up;
    if (step !== undefined && up - step.sinceMs >= SETTLED_AFTER_MS) {
      offset = Math.min(step.offset, found);
      step = undefined;
    }
    if (found - offset < STEP_MS) {
      offset = found;
      step = undefined;
    } else if (step === undefined) {
      step = { offset: found, sinceMs: up };
      log.warn({ byMs: found - offset }, "the clock was set forward; for a day this makes no index older");
    } else step = { ...step, offset: Math.min(step.offset, found) };
    return up + offset;
  };
  return { ...clock, now };
}
