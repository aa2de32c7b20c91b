/** Random ranges of times: date math, rounding, zones, formats and texts that lack parts. */

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#proto/kit/units.ts";
import type { Level } from "./documents.ts";
import { numbersOf } from "./documents.ts";
import { fieldsOf, type Question, type Subject, someValue } from "./question.ts";
import { type CalendarUnit, nextUnit, unitStart, ZONES, type Zone, zoneOf } from "./zoned-time.ts";

type Bound = "gte" | "gt" | "lte" | "lt";

/** A text of a time, with the instants that it means where it is rounded down and up. */
export interface DateText {
  readonly text: string;
  readonly format?: string;
  readonly down: number;
  readonly up: number;
}

const UNITS: Readonly<Record<string, CalendarUnit>> = {
  y: "year",
  M: "month",
  w: "week",
  d: "day",
  h: "hour",
  m: "minute",
  s: "second",
};
const FIXED_MS: Readonly<Record<string, number>> = { h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS };
/** Lengths of an ISO time's text without its last parts, and how long the last part left is. */
const SHORTENED: readonly (readonly [length: number, lengthMs: number])[] = [
  [10, DAY_MS],
  [13, HOUR_MS],
  [16, MINUTE_MS],
  [19, SECOND_MS],
];

export function dateRange(subject: Subject, level: Level): Question {
  const { dice } = subject;
  const field = dice.pick(fieldsOf(level, "date"));
  const zone = zoneOf(dice.pick(ZONES));
  const bounds: Partial<Record<Bound, DateText>> = {};
  const lower = dice.pick(["gte", "gt", undefined] as const);
  const upper = dice.pick(["lte", "lt", undefined] as const);
  const first = dateText(subject, field, zone);
  if (lower !== undefined) bounds[lower] = first;
  if (upper !== undefined) bounds[upper] = dateText(subject, field, zone, first.format ?? null);
  const format = first.format;
  return {
    query: {
      range: {
        [field]: {
          ...Object.fromEntries(Object.entries(bounds).map(([name, { text }]) => [name, text])),
          ...(zone.name === "UTC" ? {} : { time_zone: zone.name }),
          ...(format === undefined ? {} : { format }),
        },
      },
    },
    fits: (item) => numbersOf(item, field).some((value) => isWithin(value, bounds)),
  };
}

/** `gt` and `lte` mean the end of what the text names, `gte` and `lt` its begin. */
function isWithin(value: number, { gte, gt, lte, lt }: Partial<Record<Bound, DateText>>): boolean {
  return (
    (gte === undefined || value >= gte.down) &&
    (gt === undefined || value > gt.up) &&
    (lte === undefined || value <= lte.up) &&
    (lt === undefined || value < lt.down)
  );
}

/** Returns a text near the times of documents, read in `zone`; in `format` where that is given, in that of the field if it is null. */
export function dateText(subject: Subject, field: string, zone: Zone, format?: string | null): DateText {
  const { dice } = subject;
  const instant = Number(someValue(subject, field)) + (dice.below(5) - 2) * HOUR_MS;
  const local = zone.toLocal(instant);
  const iso = new Date(local).toISOString().slice(0, 23);
  if (format === undefined ? dice.chance(0.15) : format !== null) {
    const text = `${iso.slice(8, 10)}/${iso.slice(5, 7)}/${iso.slice(0, 4)}`;
    const start = fromLocal(Date.parse(iso.slice(0, 10)), zone);
    return {
      text,
      format: "dd/MM/yyyy",
      down: start,
      up: fromLocal(Date.parse(iso.slice(0, 10)) + DAY_MS - 1, zone),
    };
  }
  if (dice.chance(0.5)) return mathText(subject, iso, zone);
  const [length, lengthMs] = dice.pick(SHORTENED);
  const text = iso.slice(0, length);
  const start = Date.parse(`${iso.slice(0, 19).slice(0, length) + "2018-01-01T00:00:00".slice(length)}Z`);
  return { text, down: fromLocal(start, zone), up: fromLocal(start + lengthMs - 1, zone) };
}

/** A whole time with steps of date math, rounded at the end or not. */
function mathText({ dice }: Subject, iso: string, zone: Zone): DateText {
  let at = fromLocal(Date.parse(`${iso}Z`), zone);
  let text = `${iso}||`;
  for (let step = dice.below(3); step > 0; step--) {
    const unit = dice.pick(Object.keys(UNITS));
    const amount = dice.below(5) - 2;
    text += `${amount < 0 ? "-" : "+"}${Math.abs(amount)}${unit}`;
    at = added(at, amount, unit, zone);
  }
  if (dice.chance(0.3)) return { text, down: at, up: at };
  const unit = dice.pick(Object.keys(UNITS));
  const down = unitStart(at, UNITS[unit]!, zone);
  return { text: `${text}/${unit}`, down, up: nextUnit(down, UNITS[unit]!, zone) - 1 };
}

/** Adds units of date math: days and longer ones in local time, the others in passed time. */
export function added(utcMs: number, amount: number, unit: string, zone: Zone): number {
  const fixed = FIXED_MS[unit];
  if (fixed !== undefined) return utcMs + amount * fixed;
  const date = new Date(zone.toLocal(utcMs));
  if (unit === "d" || unit === "w") {
    date.setUTCDate(date.getUTCDate() + amount * (unit === "w" ? 7 : 1));
  } else {
    const day = date.getUTCDate();
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() + amount * (unit === "y" ? 12 : 1));
    const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    date.setUTCDate(Math.min(day, lastDay));
  }
  return fromLocal(date.getTime(), zone, zone.offset(utcMs));
}

/** The instant of a local time: the one with the offset if there are two; one hour later by the clock where the clocks skip it. */
export function fromLocal(localMs: number, zone: Zone, offset?: number): number {
  const instants = zone.instants(localMs);
  const same = instants.find((each) => zone.offset(each) === offset);
  return same ?? instants[0] ?? localMs - zone.offset(localMs - DAY_MS);
}
