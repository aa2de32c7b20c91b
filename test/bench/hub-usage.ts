/** What a hub under measurement has used: CPU of its processes, bytes of its files, and when it is at rest. */

import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestHub } from "#test/harness/hub.ts";
import { cpuSeconds } from "#test/harness/processes.ts";

/** At rest: so little CPU of all processes for so long. A hub without work takes 0.3 s in that time. */
const QUIET_SECONDS = 0.5;
const QUIET_MS = 7_000;
const MOST_WAITS = 60;

/** CPU-seconds of the hub and of its nats-server. */
export function cpuOf(hub: TestHub): [hub: number, nats: number] {
  return [cpuSeconds(hub.pid), hub.natsPids().reduce((sum, pid) => sum + cpuSeconds(pid), 0)];
}

/**
 * Waits until the processes have nothing to do, on a machine that has processors left for them. Throws if they never rest: what
 * they used meanwhile would be counted as work.
 */
export async function untilQuiet(hub: TestHub): Promise<void> {
  for (let wait = 0; wait < MOST_WAITS; wait++) {
    const [hubBefore, natsBefore] = cpuOf(hub);
    await sleep(QUIET_MS);
    const [hubAfter, natsAfter] = cpuOf(hub);
    if (hubAfter + natsAfter - hubBefore - natsBefore < QUIET_SECONDS) return;
  }
  throw new Error(`the hub is still busy after ${(MOST_WAITS * QUIET_MS) / 1_000} s`);
}

/** The files below a folder of the hub's data. */
export function filesBelow(
  hub: TestHub,
  folder: string,
): { readonly name: string; readonly bytes: number }[] {
  const path = join(hub.dataDir, folder);
  return globSync("**/*", { cwd: path }).flatMap((name) => {
    const found = statSync(join(path, name), { throwIfNoEntry: false });
    return found?.isFile() === true ? [{ name, bytes: found.size }] : [];
  });
}

/** Bytes of these files. */
export function bytesBelow(hub: TestHub, folder: string): number {
  return filesBelow(hub, folder).reduce((sum, { bytes }) => sum + bytes, 0);
}
