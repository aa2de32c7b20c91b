/**
 * Health of the clocks, by which lines without a time of their own are dated: this machine's clock was set while the hub
 * ran, or those of agents differ from it.
 */

import { uptime } from "node:os";
import type { FleetAgent } from "#hub/fleet/fleet.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { MINUTE_MS } from "#proto/kit/units.ts";
import { durationText } from "./duration-text.ts";
import { type Finding, type HealthCheck, OK } from "./health.ts";

/** Smaller steps are those of a time daemon. */
const STEP_MS = 5_000;
/** How long a step is reported. */
const REMEMBERED_MS = 15 * MINUTE_MS;
/** A status takes no longer to arrive. */
const MAX_OFFSET_MS = MINUTE_MS;

/** `uptimeMs` counts the time that the machine was suspended, too, as the monotonic clock doesn't: a laptop's sleep is no step. */
export function clockCheck(
  clock: Pick<Clock, "now">,
  agents: () => readonly FleetAgent[],
  uptimeMs: () => number = () => uptime() * 1_000,
): HealthCheck {
  const difference = (): number => clock.now() - uptimeMs();
  let before = difference();
  let step: { readonly ms: number; readonly atMs: number } | undefined;
  return (nowMs) => {
    const found = difference();
    if (Math.abs(found - before) >= STEP_MS) step = { ms: found - before, atMs: nowMs };
    before = found;
    if (step !== undefined && nowMs - step.atMs >= REMEMBERED_MS) step = undefined;
    return step === undefined ? offsetFinding(agents()) : stepFinding(step.ms, nowMs - step.atMs);
  };
}

function stepFinding(stepMs: number, agoMs: number): Finding {
  const direction = stepMs < 0 ? "back" : "forward";
  const reason = `the clock was set ${direction} by ${durationText(stepMs)}, ${durationText(agoMs)} ago`;
  return { level: "degraded", reason };
}

function offsetFinding(agents: readonly FleetAgent[]): Finding {
  const present = agents.filter(({ health }) => health !== "lost");
  const off = present
    .filter(({ clockOffsetMs }) => Math.abs(clockOffsetMs) >= MAX_OFFSET_MS)
    .sort((a, b) => Math.abs(b.clockOffsetMs) - Math.abs(a.clockOffsetMs));
  const [worst] = off;
  if (worst === undefined) return OK;
  const side = worst.clockOffsetMs < 0 ? "behind" : "ahead of";
  const by = durationText(worst.clockOffsetMs);
  const reason = `agents whose clock differs from this machine's: ${off.length} of ${present.length}; ${worst.name} is ${by} ${side} it`;
  return { level: "degraded", reason };
}
