/** Ends processes of a stack with kill -9 at random moments and starts them again. */

import { systemClock } from "#proto/kit/clock.ts";
import type { Stack } from "./stack.ts";

export type Victim = "agent" | "hub" | "nats";

const VICTIMS: readonly Victim[] = ["agent", "hub", "nats"];
/** Longest time between a process being back and the next kill, ms. */
const MAX_PAUSE_MS = 1_000;
/** Longest time a killed process stays away, ms. */
const MAX_ABSENCE_MS = 400;

/** Returns each victim `times` times, in random order. */
export function shuffledVictims(times: number, random: () => number): Victim[] {
  const victims = VICTIMS.flatMap((victim) => new Array<Victim>(times).fill(victim));
  for (let at = victims.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [victims[at], victims[other]] = [victims[other]!, victims[at]!];
  }
  return victims;
}

/** Kills one after the other, each at a random moment, and resolves when the last is back. */
export async function killInTurn(
  stack: Stack,
  victims: Iterable<Victim>,
  random: () => number,
): Promise<void> {
  for (const victim of victims) {
    await systemClock.sleep(random() * MAX_PAUSE_MS);
    await killAndRestart(stack, victim, random() * MAX_ABSENCE_MS);
  }
}

async function killAndRestart({ hub, agent }: Stack, victim: Victim, absenceMs: number): Promise<void> {
  if (victim === "nats") return hub.killNats();
  const part = victim === "hub" ? hub : agent;
  await part.kill9();
  await systemClock.sleep(absenceMs);
  await part.start();
}
