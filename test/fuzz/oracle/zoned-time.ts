/**
 * Local times by the rules that Node's Intl has, and the rounding of 6.5's `Rounding`: calendar units begin with their first
 * instant in local time; hours and shorter units of the hour that is repeated are told apart; intervals are counted in local
 * time from 1970 on and cut at changes of the clocks.
 */

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#proto/kit/units.ts";

/** Changes of the clocks by an hour in both hemispheres, at midnight, and fixed offsets that aren't whole hours. */
export const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Sao_Paulo",
  "Asia/Kolkata",
  "+05:30",
  "-03:00",
] as const;

export type CalendarUnit = "second" | "minute" | "hour" | "day" | "week" | "month" | "quarter" | "year";

/** A zone's clocks change at most once in this time. */
const TRANSITION_STEP_MS = 20 * DAY_MS;
/** How far back a change of the clocks matters; zones without one in this time count as fixed. */
const LONGEST_WITHOUT_MS = 800 * DAY_MS;

const UNIT_MS: Readonly<Record<string, number>> = { second: SECOND_MS, minute: MINUTE_MS, hour: HOUR_MS };

export class Zone {
  readonly name: string;
  readonly #fixedMs: number | undefined;
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #offsets = new Map<number, number>();

  constructor(name: string) {
    this.name = name;
    const fixed = /^([+-])(\d\d):(\d\d)$/.exec(name);
    if (fixed !== null) {
      const ms = Number(fixed[2]) * HOUR_MS + Number(fixed[3]) * MINUTE_MS;
      this.#fixedMs = fixed[1] === "-" ? -ms : ms;
    } else if (name === "UTC") {
      this.#fixedMs = 0;
    } else {
      this.#format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
    }
  }

  get isFixed(): boolean {
    return this.#fixedMs !== undefined;
  }

  /** Milliseconds that local time is ahead of UTC. */
  offset(utcMs: number): number {
    if (this.#fixedMs !== undefined) return this.#fixedMs;
    // Clocks change at full quarters of an hour.
    const quarter = Math.floor(utcMs / (15 * MINUTE_MS));
    let offset = this.#offsets.get(quarter);
    if (offset === undefined) {
      const text = this.#format!.format(quarter * 15 * MINUTE_MS);
      const found = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(text)!;
      const ms = Number(found[2] ?? 0) * HOUR_MS + Number(found[3] ?? 0) * MINUTE_MS;
      offset = found[1] === "-" ? -ms : ms;
      this.#offsets.set(quarter, offset);
    }
    return offset;
  }

  toLocal(utcMs: number): number {
    return utcMs + this.offset(utcMs);
  }

  /** The first instant at or after a local time: of a time that is there twice the earlier one, of one that isn't there the change. */
  firstInstant(localMs: number): number {
    const candidates = this.instants(localMs);
    if (candidates.length > 0) return candidates[0]!;
    return this.transitionBefore(localMs - this.offset(localMs - DAY_MS) + DAY_MS)!;
  }

  /** The instants with a local time, ascending: none in the gap of spring, two in the overlap of autumn. */
  instants(localMs: number): number[] {
    const offsets = [this.offset(localMs - DAY_MS), this.offset(localMs + DAY_MS)];
    const found = [...new Set(offsets)].map((offset) => localMs - offset);
    return found.filter((utcMs) => this.toLocal(utcMs) === localMs).sort((a, b) => a - b);
  }

  /** The first instant of the offset in force just before `utcMs`; undefined without one. */
  transitionBefore(utcMs: number): number | undefined {
    if (this.isFixed) return undefined;
    let high = utcMs - 1;
    const offset = this.offset(high);
    let low = high;
    while (this.offset(low) === offset) {
      high = low;
      low -= TRANSITION_STEP_MS;
      if (utcMs - low > LONGEST_WITHOUT_MS) return undefined;
    }
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offset(middle) === offset) high = middle;
      else low = middle;
    }
    return high;
  }
}

const zones = new Map<string, Zone>();

export function zoneOf(name: string): Zone {
  let zone = zones.get(name);
  if (zone === undefined) zones.set(name, (zone = new Zone(name)));
  return zone;
}

/** Start of the calendar unit that holds an instant. */
export function unitStart(utcMs: number, unit: CalendarUnit, zone: Zone): number {
  const short = UNIT_MS[unit];
  if (short === undefined) return zone.firstInstant(localUnitStart(zone.toLocal(utcMs), unit));
  const offset = zone.offset(utcMs);
  return Math.floor((utcMs + offset) / short) * short - offset;
}

/** Start of the unit after the one that begins at `startMs`. */
export function nextUnit(startMs: number, unit: CalendarUnit, zone: Zone): number {
  const short = UNIT_MS[unit];
  if (short !== undefined) return startMs + short;
  const date = new Date(zone.toLocal(startMs));
  // A day that begins after midnight, as the clocks change then.
  date.setUTCHours(0, 0, 0, 0);
  if (unit === "day") date.setUTCDate(date.getUTCDate() + 1);
  if (unit === "week") date.setUTCDate(date.getUTCDate() + 7);
  const months = { month: 1, quarter: 3, year: 12 }[unit as string] ?? 0;
  if (months > 0) date.setUTCMonth(date.getUTCMonth() + months);
  return zone.firstInstant(date.getTime());
}

/** Start of the interval that holds an instant. */
export function intervalStart(utcMs: number, intervalMs: number, zone: Zone): number {
  const local = Math.floor(zone.toLocal(utcMs) / intervalMs) * intervalMs;
  const instants = zone.instants(local);
  const transition = zone.transitionBefore(utcMs + 1);
  if (instants.length === 0) return transition!;
  const offset = zone.offset(utcMs);
  const start = instants.find((each) => zone.offset(each) === offset) ?? instants[0]!;
  // An interval that began before the last change of the clocks.
  return transition !== undefined && transition > start
    ? intervalStart(transition - 1, intervalMs, zone)
    : start;
}

/**
 * Start of the interval after the one that begins at `startMs`. 6.5 itself leaves empty buckets of a repeated hour out or puts
 * some there twice; each is expected once.
 */
export function nextInterval(startMs: number, intervalMs: number, zone: Zone): number {
  let low = startMs;
  // An interval is longer by what the clocks go back.
  let high = startMs + intervalMs + DAY_MS;
  for (let step = low + intervalMs / 2; step < high; step += intervalMs / 2) {
    if (intervalStart(Math.floor(step), intervalMs, zone) === startMs) low = Math.floor(step);
    else {
      high = Math.floor(step);
      break;
    }
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (intervalStart(middle, intervalMs, zone) === startMs) low = middle;
    else high = middle;
  }
  return high;
}

function localUnitStart(localMs: number, unit: CalendarUnit): number {
  const date = new Date(localMs);
  date.setUTCHours(0, 0, 0, 0);
  if (unit === "week") date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  if (unit === "month") date.setUTCDate(1);
  if (unit === "quarter") date.setUTCMonth(date.getUTCMonth() - (date.getUTCMonth() % 3), 1);
  if (unit === "year") date.setUTCMonth(0, 1);
  return date.getTime();
}
