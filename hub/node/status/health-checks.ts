/** The checks of the hub's parts, as functions over what each part reports of itself. */

import { freeDiskBytes } from "#proto/kit/files/disk-space.ts";
import { MIB, MINUTE_MS } from "#proto/kit/units.ts";
import { durationText } from "./duration-text.ts";
import { type Finding, type HealthCheck, OK } from "./health.ts";

/** With less, commits and the log fail within seconds. */
const FAILING_FREE_BYTES = 64 * MIB;
const LOW_FREE_BYTES = 512 * MIB;
/** Fill level of a stream at which somebody should look. */
const HIGH_FILL = 0.9;
/** A stream that would be full sooner than this at its present rate needs attention from a quarter on. */
const SOON_FULL_MS = 10 * MINUTE_MS;
const SOON_FULL_FILL = 0.25;
/** A part with work to do that does nothing for this long is stuck. */
const STUCK_MS = MINUTE_MS;

/** Checks the space on the disk of `folder`. */
export function diskCheck(
  folder: string,
  freeBytes: () => number = () => freeDiskBytes(folder),
): HealthCheck {
  return () => {
    const free = freeBytes();
    if (free >= LOW_FREE_BYTES) return OK;
    const level = free < FAILING_FREE_BYTES ? "failing" : "degraded";
    return { level, reason: `${Math.floor(free / MIB)} MiB are free on the disk of ${folder}` };
  };
}

export interface LogParts {
  /** Fails if the log doesn't answer. */
  readonly states: () => Promise<readonly { readonly name: string; bytes: number; maxBytes: number }[]>;
  /** Streams that publishers wait for. */
  readonly full: () => readonly string[];
}

/** Checks that the log answers, accepts messages and won't be full soon. */
export function logCheck({ states, full }: LogParts): HealthCheck {
  const before = new Map<string, { readonly atMs: number; readonly bytes: number }>();
  return async (nowMs) => {
    const waiting = full();
    if (waiting.length > 0)
      return { level: "failing", reason: `${waiting.join(", ")}: no space, publishers wait` };
    for (const { name, bytes, maxBytes } of await states()) {
      const last = before.get(name);
      before.set(name, { atMs: nowMs, bytes });
      const fill = maxBytes > 0 ? bytes / maxBytes : 0;
      const perMs = last === undefined ? 0 : (bytes - last.bytes) / Math.max(1, nowMs - last.atMs);
      const fullInMs = perMs > 0 ? (maxBytes - bytes) / perMs : Number.POSITIVE_INFINITY;
      const isSoonFull = fill >= SOON_FULL_FILL && fullInMs < SOON_FULL_MS;
      if (fill < HIGH_FILL && !isSoonFull) continue;
      const when = isSoonFull ? `, and full in ${Math.ceil(fullInMs / MINUTE_MS)} min at this rate` : "";
      return { level: "degraded", reason: `${name} is ${Math.floor(fill * 100)} % full${when}` };
    }
    return OK;
  };
}

/** Restarts of nats-server that are tolerated: a single one needs no attention. */
const MAX_RESTARTS = 1;
const MAX_SHOWN_RESTARTS = 100;

/** Returns a check that is degraded while nats-server ends again and again; `starts` counts its starts. */
export function restartCheck(starts: () => number): HealthCheck {
  let known = starts();
  let times: number[] = [];
  return (nowMs) => {
    const count = starts();
    for (; known < count; known++) times.push(nowMs);
    times = times.filter((atMs) => nowMs - atMs < MINUTE_MS).slice(-MAX_SHOWN_RESTARTS);
    if (times.length <= MAX_RESTARTS) return OK;
    const reason = `nats-server ended ${times.length} times within a minute and was restarted; if it goes on, its store is damaged: restore it from a snapshot, see the hub's log`;
    return { level: "degraded", reason };
  };
}

/** Dead letters are reported for this long after the last one. */
const LETTERS_MS = 15 * MINUTE_MS;

/** Returns a check that is degraded after dead letters were written; `sequence` returns the last one's. */
export function deadLettersCheck(sequence: () => Promise<number>): HealthCheck {
  let known: number | undefined;
  let first = 0;
  let grewMs = Number.NEGATIVE_INFINITY;
  return async (nowMs) => {
    const last = await sequence();
    known ??= last;
    if (last > known) {
      if (nowMs - grewMs >= LETTERS_MS) first = known;
      grewMs = nowMs;
    }
    known = last;
    const quietMs = nowMs - grewMs;
    if (quietMs >= LETTERS_MS) return OK;
    const ago = durationText(quietMs);
    const reason = `new dead letters: ${last - first}, the last one ${ago} ago; the page Pipelines shows them`;
    return { level: "degraded", reason };
  };
}

/** How far a reader of a stream is. */
export interface Progress {
  /** Sequence up to which it has done its work. */
  readonly done: number;
  /** Messages that it has not. */
  readonly waiting: number;
}

/** Returns a check that fails once `progress` stands still with work waiting; `what` names the work: "indexed". */
export function progressCheck(progress: () => Promise<Progress>, what: string): HealthCheck {
  let last: { readonly done: number; readonly atMs: number } | undefined;
  return async (nowMs) => {
    const { done, waiting } = await progress();
    if (last === undefined || last.done !== done || waiting === 0) last = { done, atMs: nowMs };
    const stillMs = nowMs - last.atMs;
    if (stillMs < STUCK_MS) return OK;
    const reason = `nothing was ${what} for ${Math.round(stillMs / 1_000)} s while ${waiting} messages wait`;
    return { level: "failing", reason };
  };
}

/** Returns a check of several findings: the first failing one counts, then the first degraded one. */
export function worstOf(...checks: readonly HealthCheck[]): HealthCheck {
  return async (nowMs) => {
    const findings: Finding[] = [];
    for (const check of checks) findings.push(await check(nowMs));
    return (
      findings.find(({ level }) => level === "failing") ??
      findings.find(({ level }) => level === "degraded") ??
      OK
    );
  };
}
