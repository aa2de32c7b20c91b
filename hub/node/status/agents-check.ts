/** Health of the agents as this hub sees them: those that fell silent. */

import type { FleetAgent } from "#hub/fleet/fleet.ts";
import { DAY_MS, MINUTE_MS } from "#proto/kit/units.ts";
import { durationText } from "./duration-text.ts";
import { type HealthCheck, OK } from "./health.ts";

/** Agents that are silent for longer were taken out of service; they stay in the list for some days. */
const COUNTED_MS = DAY_MS;
/** After its start a hub waits for the agents that it remembers. */
const GRACE_MS = MINUTE_MS;

/** `now`: ms since 1970, as in `lastSeenMs`. */
export function agentsCheck(agents: () => readonly FleetAgent[], now: () => number): HealthCheck {
  let startedMs: number | undefined;
  return (nowMs) => {
    startedMs ??= nowMs;
    if (nowMs - startedMs < GRACE_MS) return OK;
    const known = agents();
    const silent = known
      .map(({ name, health, lastSeenMs }) => ({ name, health, silentMs: now() - lastSeenMs }))
      .filter(({ health, silentMs }) => health === "lost" && silentMs < COUNTED_MS)
      .sort((a, b) => a.silentMs - b.silentMs);
    const [last] = silent;
    if (last === undefined) return OK;
    const reason = `silent agents: ${silent.length} of ${known.length}; ${last.name} was last seen ${durationText(last.silentMs)} ago`;
    return { level: "degraded", reason };
  };
}
