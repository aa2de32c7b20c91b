/** When something is to be done again: by a cron line, or every this often. */

import { Cron } from "croner";
import { isHash, valueText } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { parseDuration } from "#proto/kit/units.ts";

/** The last part of a line of six or more may be a zone: UTC, Europe/Berlin. */
const ZONE = /^(?:UTC|[A-Za-z_]+\/[A-Za-z][\w+/-]*)$/;

/** Returns how long to wait from now, ms; undefined: never again. */
export type Schedule = (nowMs: number) => number | undefined;

/**
 * Reads `{ cron => "…" }`, `{ every => "5m" }`, `{ in => "1s" }` (once), `{ at => "time" }` (once), or a text: a cron
 * line of 5 or 6 parts, optionally followed by a zone. Throws settings_invalid.
 */
export function parseSchedule(value: unknown): Schedule {
  if (typeof value === "string") return cron(value);
  const entries = isHash(value) ? Object.entries(value) : [];
  const [kind, written] = entries[0] ?? [];
  const text = valueText(written);
  if (entries.length === 1 && kind === "cron") return cron(text);
  if (entries.length === 1 && kind === "every") {
    const everyMs = parseDuration(text);
    if (everyMs > 0) return () => everyMs;
  }
  if (entries.length === 1 && kind === "in") return once(parseDuration(text));
  if (entries.length === 1 && kind === "at" && !Number.isNaN(Date.parse(text))) {
    const atMs = Date.parse(text);
    let isDone = false;
    return (nowMs) => {
      if (isDone) return undefined;
      isDone = true;
      return Math.max(0, atMs - nowMs);
    };
  }
  throw new AppError(
    "settings_invalid",
    'a schedule is { cron => "*/5 * * * *" }, { every => "5m" }, { in => "1s" } or { at => "time" }',
  );
}

function once(waitMs: number): Schedule {
  let isDone = false;
  return () => {
    if (isDone) return undefined;
    isDone = true;
    return waitMs;
  };
}

function cron(text: string): Schedule {
  const parts = text.trim().split(/\s+/);
  // rufus-scheduler, whose lines existing pipelines have, takes a zone as the last part.
  const zone = parts.length > 5 && ZONE.test(parts.at(-1)!) ? parts.pop() : undefined;
  let line: Cron;
  try {
    line = new Cron(parts.join(" "), { paused: true, ...(zone !== undefined && { timezone: zone }) });
  } catch (error) {
    throw new AppError("settings_invalid", `"${text}" isn't a cron line: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return (nowMs) => {
    const next = line.nextRun(new Date(nowMs));
    return next === null ? undefined : next.getTime() - nowMs;
  };
}

/** Does `work` at each time of the schedule until `signal` is aborted; one run never begins before the one before ended. */
export async function runScheduled(
  schedule: Schedule,
  clock: Clock,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    const waitMs = schedule(clock.now());
    if (waitMs === undefined) return;
    await clock.sleep(waitMs, signal).catch(() => undefined);
    if (!signal.aborted) await work();
  }
}
