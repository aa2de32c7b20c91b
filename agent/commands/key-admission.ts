/**
 * After an enrolment: waits until a nats-server of the hub accepts the new key, which takes a moment, and reports if it
 * can't be reached from this machine.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Finding } from "./check-output.ts";

/** A server that is busy reloads its users within seconds. */
const WAIT_MS = 10_000;
const EVERY_MS = 250;

/**
 * Returns the text for the terminal: empty when a server admits the key. `check` tries every server. A server that can't be
 * reached is not waited for. Throws unavailable where servers were reached and none admits the key in time.
 */
export async function waitForAdmission(
  check: () => Promise<readonly Finding[]>,
  clock: Clock,
): Promise<string> {
  const endMs = clock.monotonic() + WAIT_MS;
  for (;;) {
    const findings = await check();
    if (findings.some(({ ok }) => ok)) return "";
    const refusing = findings.find(({ isReached }) => isReached);
    if (refusing === undefined) {
      const reasons = findings.map(({ target, text }) => `${target}: ${text}`).join("; ");
      return `warning: the agent cannot reach the hub's log from here yet: ${reasons}\n`;
    }
    if (clock.monotonic() >= endMs)
      throw new AppError(
        "unavailable",
        `enrolled, but ${refusing.target} does not admit the key: ${refusing.text}`,
      );
    await clock.sleep(EVERY_MS);
  }
}
