/** Offsets of time zones, by IANA name or written as +02:00. */

import { AppError } from "#proto/kit/errors.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Offsets change at whole quarters of an hour at the earliest. */
const STEP_MS = 15 * MINUTE_MS;

/** Quarters kept per zone. */
const CACHE_LIMIT = 10_000;

/** A zone: from its civil time to UTC. */
export class TimeZone {
  readonly #fixedMs: number | undefined;
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #offsets = new Map<number, number>();

  /** `name`: "Europe/Berlin", "UTC", "+02:00". Throws settings_invalid. */
  constructor(name: string) {
    this.#fixedMs = parseOffset(name);
    if (this.#fixedMs !== undefined) return;
    try {
      this.#format = new Intl.DateTimeFormat("en-US", {
        timeZone: name,
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
    } catch {
      throw new AppError(
        "settings_invalid",
        `"${name}" is no time zone; write for example Europe/Berlin or +02:00`,
      );
    }
  }

  /** Returns UTC for a civil time given as if it were UTC, ms each. In the hour that comes twice the first one counts. */
  toUtcMs(civilMs: number): number {
    if (this.#fixedMs !== undefined) return civilMs - this.#fixedMs;
    const guess = civilMs - this.#offset(civilMs);
    return civilMs - this.#offset(guess);
  }

  /** Offset at a UTC time, ms. */
  #offset(utcMs: number): number {
    const step = Math.floor(utcMs / STEP_MS);
    const known = this.#offsets.get(step);
    if (known !== undefined) return known;
    const parts: Record<string, number> = {};
    for (const { type, value } of this.#format!.formatToParts(step * STEP_MS)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const offset = Date.UTC(year, month - 1, day, hour, minute, second) - step * STEP_MS;
    if (this.#offsets.size >= CACHE_LIMIT) this.#offsets.clear();
    this.#offsets.set(step, offset);
    return offset;
  }
}

/** Returns ms of "Z", "+02:00", "+0200", "+02", or undefined. */
export function parseOffset(text: string): number | undefined {
  if (text === "Z" || text === "UTC" || text === "GMT") return 0;
  const found = /^([+-])(\d{2}):?(\d{2})?$/.exec(text);
  if (found === null) return undefined;
  const [, sign, hours, minutes = "0"] = found;
  return (sign === "-" ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS);
}
