/** The checks of the hub's parts, as functions of what each part reports about itself. */

import { X509Certificate } from "node:crypto";
import { uptime } from "node:os";
import { takesPartitions } from "#hub/cluster/membership/member-record.ts";
import type { FleetAgent } from "#hub/fleet/fleet.ts";
import type { ClusterNode } from "#hub/node/wiring/cluster.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { freeDiskBytes } from "#proto/kit/files/disk-space.ts";
import { DAY_MS, HOUR_MS, MIB, MINUTE_MS } from "#proto/kit/units.ts";
import { RAW_STREAM } from "#proto/subjects.ts";
import { type Finding, type HealthCheck, OK } from "./health.ts";

/** With less, commits and the log fail within seconds. */
const FAILING_FREE_BYTES = 64 * MIB;
const LOW_FREE_BYTES = 512 * MIB;
/** Fill level of a stream that needs attention. */
const HIGH_FILL = 0.9;
/** A stream that would be full sooner than this at its current rate needs attention once it is a quarter full. */
const SOON_FULL_MS = 10 * MINUTE_MS;
const SOON_FULL_FILL = 0.25;
/** A part with work to do that does nothing for this long is stuck. */
const STUCK_MS = MINUTE_MS;
/** Agents that are silent for longer were taken out of service; they stay in the list for some days. */
const COUNTED_SILENCE_MS = DAY_MS;
/** After its start a hub waits for the agents that it remembers. */
const AGENTS_GRACE_MS = MINUTE_MS;
/** Renewal programs act when a third of the lifetime is left: with less than half of that, renewal has failed. */
const RENEWAL_DUE_SHARE = 1 / 6;
const RENEWAL_DUE_MS = 14 * DAY_MS;
/** Partitions that move between hubs for longer need attention. */
const PARTITIONS_MOVING_MS = MINUTE_MS;
/** Smaller steps come from a time daemon. */
const CLOCK_STEP_MS = 5_000;
/** How long a step is reported. */
const STEP_REMEMBERED_MS = 15 * MINUTE_MS;
/** Larger offsets can't come from the time that a status takes to arrive. */
const MAX_CLOCK_OFFSET_MS = MINUTE_MS;

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

/** Returns the streams that have no space for this hub or for agents, which publish into RAW themselves and report it. */
export function fullStreams(own: readonly string[], agents: readonly FleetAgent[]): string[] {
  const isFull = agents.some(({ health, isLogFull }) => isLogFull && health !== "lost");
  return [...new Set([...own, ...(isFull ? [RAW_STREAM] : [])])];
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

/** Tolerated restarts of nats-server: a single one needs no attention. */
const MAX_RESTARTS = 1;
const MAX_SHOWN_RESTARTS = 100;

/** Returns a check that is degraded while nats-server ends repeatedly; `starts` returns the number of its starts. */
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

/** The progress of a stream's reader. */
export interface Progress {
  /** Sequence up to which its work is done. */
  readonly done: number;
  /** Number of messages whose work isn't done. */
  readonly waiting: number;
}

/** Returns a check that fails once `progress` stops while work is waiting; `what` names the work: "indexed". */
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

/** An index whose name another one has; see IndexStore. */
export interface NamelessIndex {
  readonly name: string;
  readonly uuid: string;
}

/** Checks for indices that lost their names, and names the remedy. */
export function namesCheck(nameless: () => readonly NamelessIndex[]): HealthCheck {
  return () => {
    const [first, ...others] = nameless();
    if (first === undefined) return OK;
    const more = others.length === 0 ? "" : `, and ${others.length} more`;
    const reason = `index ${first.name} (${first.uuid}) lost its name to another index${more}: its documents are kept but not found; copy the other one with _reindex if you need it, then DELETE /${first.name}, and the first has its name again`;
    return { level: "degraded", reason };
  };
}

/** Checks for agents that have become silent, as this hub sees them. `now`: ms since 1970, as in `lastSeenMs`. */
export function agentsCheck(agents: () => readonly FleetAgent[], now: () => number): HealthCheck {
  let startedMs: number | undefined;
  return (nowMs) => {
    startedMs ??= nowMs;
    if (nowMs - startedMs < AGENTS_GRACE_MS) return OK;
    const known = agents();
    const silent = known
      .map(({ name, health, lastSeenMs }) => ({ name, health, silentMs: now() - lastSeenMs }))
      .filter(({ health, silentMs }) => health === "lost" && silentMs < COUNTED_SILENCE_MS)
      .sort((a, b) => a.silentMs - b.silentMs);
    const [last] = silent;
    if (last === undefined) return OK;
    const reason = `silent agents: ${silent.length} of ${known.length}; ${last.name} was last seen ${durationText(last.silentMs)} ago`;
    return { level: "degraded", reason };
  };
}

/** The listeners' certificate. */
interface CertificateParts {
  /** The certificate in use, PEM; undefined without TLS. */
  readonly certificate: () => Buffer | undefined;
  /** Why replaced files are not in use; empty without a reason. */
  readonly problem: () => string;
  /** ms since 1970. */
  readonly now: () => number;
}

/**
 * Checks how long the listeners' certificate is valid, and whether a replaced one is in use: degraded while it needs
 * renewal, failing once clients refuse it.
 */
export function certificateCheck({ certificate, problem, now }: CertificateParts): HealthCheck {
  return () => {
    const pem = certificate();
    if (pem === undefined) return OK;
    const { validFromDate, validToDate } = new X509Certificate(pem);
    const leftMs = validToDate.getTime() - now();
    if (leftMs <= 0)
      return { level: "failing", reason: `the certificate expired ${durationText(leftMs)} ago` };
    if (now() < validFromDate.getTime())
      return { level: "failing", reason: `the certificate is valid from ${validFromDate.toISOString()} on` };
    if (problem() !== "") return { level: "degraded", reason: `the old certificate is in use: ${problem()}` };
    const lifetimeMs = validToDate.getTime() - validFromDate.getTime();
    if (leftMs >= Math.min(RENEWAL_DUE_MS, lifetimeMs * RENEWAL_DUE_SHARE)) return OK;
    return { level: "degraded", reason: `the certificate expires in ${durationText(leftMs)}` };
  };
}

/** Checks the cluster as this hub sees it: its own membership, missing hubs, partitions without an owner. */
export function clusterCheck(
  cluster: Pick<ClusterNode, "membership" | "directory" | "partitions">,
): HealthCheck {
  const { membership, directory, partitions } = cluster;
  let settledMs: number | undefined;
  return (nowMs) => {
    if (membership.isDisplaced)
      return {
        level: "failing",
        reason: "another process has joined with this hub's identity: its data folder was copied",
      };
    if (!membership.isValid)
      return { level: "failing", reason: "this hub can't renew its membership, so it processes no lines" };
    const missing = directory.all().flatMap((member) => {
      const silentMs = directory.silentMs(member);
      if (member.record.id === membership.id || silentMs === 0) return [];
      const since =
        member.record.lostMs === undefined ? "" : ` since ${new Date(member.record.lostMs).toISOString()}`;
      return [`${member.record.name} doesn't answer${since}`];
    });
    if (missing.length > 0) return { level: "degraded", reason: missing.join("; ") };
    const { epoch } = partitions.table();
    const slow = directory.all().filter(({ record }) => takesPartitions(record) && record.active < epoch);
    if (slow.length === 0 || settledMs === undefined) settledMs = nowMs;
    if (nowMs - settledMs < PARTITIONS_MOVING_MS) return OK;
    const names = slow.map(({ record }) => record.name).join(", ");
    return { level: "degraded", reason: `partitions are not taken over yet by ${names}` };
  };
}

/**
 * Checks the clocks, which date lines without a time of their own: whether this machine's clock was set while the hub ran,
 * and whether agents' clocks differ from it. `uptimeMs` includes the time that the machine was suspended, which the
 * monotonic clock doesn't: a laptop's sleep isn't a step.
 */
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
    if (Math.abs(found - before) >= CLOCK_STEP_MS) step = { ms: found - before, atMs: nowMs };
    before = found;
    if (step !== undefined && nowMs - step.atMs >= STEP_REMEMBERED_MS) step = undefined;
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
    .filter(({ clockOffsetMs }) => Math.abs(clockOffsetMs) >= MAX_CLOCK_OFFSET_MS)
    .sort((a, b) => Math.abs(b.clockOffsetMs) - Math.abs(a.clockOffsetMs));
  const [worst] = off;
  if (worst === undefined) return OK;
  const side = worst.clockOffsetMs < 0 ? "behind" : "ahead of";
  const by = durationText(worst.clockOffsetMs);
  const reason = `agents whose clock differs from this machine's: ${off.length} of ${present.length}; ${worst.name} is ${by} ${side} it`;
  return { level: "degraded", reason };
}

/** Returns "40 s", "3 min", "5 h" or "12 days"; the sign is dropped. */
function durationText(ms: number): string {
  const size = Math.abs(ms);
  if (size < 2 * MINUTE_MS) return `${Math.round(size / 1_000)} s`;
  if (size < 2 * HOUR_MS) return `${Math.round(size / MINUTE_MS)} min`;
  if (size < 2 * DAY_MS) return `${Math.round(size / HOUR_MS)} h`;
  return `${Math.round(size / DAY_MS)} days`;
}
