/**
 * How much memory single requests take of a hub that does nothing else: by how much its resident memory, of all threads together,
 * is at most above what it was before, while the request is under way. Garbage counts, since it has to be somewhere until it
 * is collected.
 *
 * One request after the other is sent to the same hub first. What earlier ones left behind counts too then: the sum is never too
 * small. Those for which it is above the limit are sent to hubs of their own, started anew: up to three, of which the least
 * counts, as when garbage is collected is chance.
 *
 * It can't see: what a request takes after its client has left it, memory of other processes (nats-server), pages that aren't
 * resident, and what requests of several clients take together.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { MIB } from "#proto/kit/units.ts";
import type { TestHub } from "#test/harness/hub.ts";
import type { PlainRequest } from "#test/harness/pipelined-http.ts";
import { peakResidentBytes, residentBytes } from "#test/harness/processes.ts";

/** No request may take more. */
const LIMIT_BYTES = 256 * MIB;
/** Longest wait for an answer, ms; then the client leaves. */
const ANSWER_MS = 5_000;
/** Hubs that a request is sent to alone, at most. */
const RUNS = 3;
/** Requests that are told. */
const TOLD = 10;
/** Writing it to clear_refs sets the peak back to what is resident now (proc(5)). */
const RESET_PEAK = "5";

/** A hub that does nothing else. */
export type MeasuredHub = Pick<TestHub, "pid" | "searchUrl" | "start" | "stop">;

/** What one request takes alone. */
export interface MemoryCost {
  readonly asked: PlainRequest;
  /** Of its answer; undefined: it was left without one. */
  readonly status: number | undefined;
  readonly bytes: number;
  /** The hub was started anew for it. */
  readonly isAlone: boolean;
}

/** Returns whether the system sets peaks back. */
export function measuresPeaks({ pid }: MeasuredHub): boolean {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
    return /^VmHWM:/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Sends each request alone and returns those that take most, the largest first. */
export async function memoryCosts(
  hub: MeasuredHub,
  requests: readonly PlainRequest[],
): Promise<readonly MemoryCost[]> {
  const before = residentBytes(hub.pid);
  const costs: MemoryCost[] = [];
  for (const asked of requests) costs.push(await measured(hub, asked, before, false));
  costs.sort((a, b) => b.bytes - a.bytes);
  for (const [at, { asked, bytes }] of costs.entries()) {
    if (bytes <= LIMIT_BYTES) break;
    costs[at] = await measuredAlone(hub, asked);
  }
  return costs.sort((a, b) => b.bytes - a.bytes).slice(0, TOLD);
}

async function measuredAlone(hub: MeasuredHub, asked: PlainRequest): Promise<MemoryCost> {
  let least: MemoryCost | undefined;
  for (let run = 0; run < RUNS && (least === undefined || isTooLarge(least)); run++) {
    await hub.stop();
    await hub.start();
    // What each first search loads isn't this one's.
    await send(hub, { method: "GET", path: "/_search?q=nothing", headers: {}, body: "" });
    const cost = await measured(hub, asked, residentBytes(hub.pid), true);
    if (least === undefined || cost.bytes < least.bytes) least = cost;
  }
  return least!;
}

/** Returns whether a request takes too much. */
export function isTooLarge({ bytes }: MemoryCost): boolean {
  return bytes > LIMIT_BYTES;
}

/** Returns a line for a report. */
export function memoryLine({ asked, status, bytes, isAlone }: MemoryCost): string {
  const { method, path, body } = asked;
  const what = `${method} ${path.slice(0, 120)} ${body.slice(0, 200).replaceAll("\n", "\\n")}`;
  return `${Math.round(bytes / MIB)} MiB${isAlone ? "" : " at most"}, ${status ?? "left"}: ${what}`;
}

async function measured(
  hub: MeasuredHub,
  asked: PlainRequest,
  before: number,
  isAlone: boolean,
): Promise<MemoryCost> {
  writeFileSync(`/proc/${hub.pid}/clear_refs`, RESET_PEAK);
  const status = await send(hub, asked);
  return { asked, status, isAlone, bytes: Math.max(0, peakResidentBytes(hub.pid) - before) };
}

/** Resolves to the status of the answer; undefined where it didn't come in time. */
async function send({ searchUrl }: MeasuredHub, asked: PlainRequest): Promise<number | undefined> {
  const { method, path, headers, body } = asked;
  try {
    const answer = await fetch(searchUrl + path, {
      method,
      headers,
      ...(method !== "GET" && method !== "HEAD" && { body }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
}
