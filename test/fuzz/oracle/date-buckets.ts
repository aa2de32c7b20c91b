/** Random date_histogram and date_range. */

import { DAY_MS, HOUR_MS, MINUTE_MS } from "#proto/kit/units.ts";
import { type Aggregation, grouped, type Scope } from "./aggregation.ts";
import { type Item, itemsAt, type Json, levelOf, numbersOf } from "./documents.ts";
import { DAY_FORMATS, MINUTE_FORMATS, printedTime } from "./printed-time.ts";
import { fieldsOf, someValue } from "./question.ts";
import { withMissing } from "./replaced-values.ts";
import type { SubAggregations } from "./sub-aggregations.ts";
import {
  type CalendarUnit,
  intervalStart,
  nextInterval,
  nextUnit,
  unitStart,
  ZONES,
  type Zone,
  zoneOf,
} from "./zoned-time.ts";

/** A rounding of times, with the options that ask for it. */
export interface Rounding {
  readonly options: Json;
  readonly zone: Zone;
  readonly start: (utcMs: number) => number;
  readonly next: (startMs: number) => number;
}

const UNITS: readonly CalendarUnit[] = ["minute", "hour", "day", "week", "month", "quarter", "year"];
const UNIT_NAMES: Readonly<Record<string, readonly string[]>> = {
  minute: ["minute", "1m"],
  hour: ["hour", "1h"],
  day: ["day", "1d"],
  week: ["week", "1w"],
  month: ["month", "1M"],
  quarter: ["quarter", "1q"],
  year: ["year", "1y"],
};
const INTERVALS: Readonly<Record<string, number>> = {
  "10m": 10 * MINUTE_MS,
  "90m": 90 * MINUTE_MS,
  "2h": 2 * HOUR_MS,
  "7h": 7 * HOUR_MS,
  "3d": 3 * DAY_MS,
  "20d": 20 * DAY_MS,
};
const ORDERS: readonly Json[] = [{ _count: "desc" }, { _key: "desc" }, { _count: "asc" }];
/** Buckets between the first and the last one that are written out; longer histograms have none that are empty. */
const MAX_EMPTY = 2_000;

export function randomRounding({ subject: { dice } }: Scope, hasOffset = true): Rounding {
  const zone = zoneOf(dice.pick(ZONES));
  const offsetMs = hasOffset ? dice.pick([0, 0, 0, 15 * MINUTE_MS, 3 * HOUR_MS, -6 * HOUR_MS]) : 0;
  const common = {
    ...(zone.name === "UTC" ? {} : { time_zone: zone.name }),
    ...(offsetMs === 0 ? {} : { offset: `${offsetMs > 0 ? "+" : "-"}${Math.abs(offsetMs) / MINUTE_MS}m` }),
  };
  if (dice.chance(0.65)) {
    const unit = dice.pick(UNITS);
    return {
      options: { interval: dice.pick(UNIT_NAMES[unit]!), ...common },
      zone,
      start: (utcMs) => unitStart(utcMs - offsetMs, unit, zone) + offsetMs,
      next: (startMs) => nextUnit(startMs - offsetMs, unit, zone) + offsetMs,
    };
  }
  const [interval, intervalMs] = dice.pick(Object.entries(INTERVALS));
  return {
    options: { interval, ...common },
    zone,
    start: (utcMs) => intervalStart(utcMs - offsetMs, intervalMs, zone) + offsetMs,
    next: (startMs) => nextInterval(startMs - offsetMs, intervalMs, zone) + offsetMs,
  };
}

export function dateHistogram(scope: Scope, sub: SubAggregations): Aggregation {
  const { subject, level } = scope;
  const { dice } = subject;
  const field = dice.pick(fieldsOf(level, "date"));
  const rounding = randomRounding(scope);
  const { missing, valuesOf, options: replaced } = withMissing(scope, field);
  const least = isShort(subject.items, field, rounding) ? dice.pick([0, 1, 2]) : dice.pick([1, 2]);
  const bounds = least === 0 && dice.chance(0.4) ? randomBounds(scope, field) : undefined;
  const order = least > 0 && dice.chance(0.3) ? dice.pick(ORDERS) : undefined;
  // A format would read the value for missing times as well.
  const format =
    missing === undefined && dice.chance(0.2) ? dice.pick([...MINUTE_FORMATS, ...DAY_FORMATS]) : undefined;
  const isKeyed = format === undefined && dice.chance(0.1);
  const histogram: Json = { field, ...rounding.options, min_doc_count: least, ...replaced };
  if (bounds !== undefined) histogram["extended_bounds"] = bounds;
  if (order !== undefined) histogram["order"] = order;
  if (isKeyed) histogram["keyed"] = true;
  if (format !== undefined) histogram["format"] = format;
  return {
    body: { date_histogram: histogram, ...sub.body },
    expect(items) {
      const groups = grouped(items, (item) => (valuesOf(item) as number[]).map(rounding.start));
      if (least === 0) addEmpty(groups, rounding, bounds);
      const kept = [...groups].filter(([, group]) => group.length >= least);
      const found = inOrder(kept, order);
      const buckets = found.map(([key, group]) => {
        return { key, key_as_string: printedTime(key, rounding.zone, format), ...sub.expectBucket(group) };
      });
      const byName = (): Json => Object.fromEntries(buckets.map((bucket) => [bucket.key_as_string, bucket]));
      return { buckets: isKeyed ? byName() : buckets };
    },
  };
}

function inOrder(buckets: [number, Item[]][], order: Json | undefined): [number, Item[]][] {
  const [by, direction] = Object.entries(order ?? { _key: "asc" })[0]!;
  const sign = direction === "asc" ? 1 : -1;
  return buckets.sort((a, b) =>
    by === "_count" ? sign * (a[1].length - b[1].length) || a[0] - b[0] : sign * (a[0] - b[0]),
  );
}

/** Whether there are few buckets from the first to the last one. */
function isShort(items: readonly Item[], field: string, rounding: Rounding): boolean {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const item of items.flatMap((each) => itemsAt(each, levelOf(field)))) {
    for (const time of numbersOf(item, field)) [first, last] = [Math.min(first, time), Math.max(last, time)];
  }
  if (first > last) return true;
  let start = rounding.start(first);
  for (let count = 0; count < MAX_EMPTY; count++) {
    if (start >= last) return true;
    start = rounding.next(start);
  }
  return false;
}

function randomBounds({ subject }: Scope, field: string): { min: number; max: number } {
  const times = subject.dice.times(
    2,
    () => Number(someValue(subject, field)) + subject.dice.between(-5, 5) * HOUR_MS,
  );
  return { min: Math.min(...times), max: Math.max(...times) };
}

/** Adds the buckets that no document is in, as 6.5 does: from each bucket on in steps, until the next one is reached. */
function addEmpty(
  groups: Map<number, Item[]>,
  { start, next }: Rounding,
  bounds: { min: number; max: number } | undefined,
): void {
  const keys = [...groups.keys()].sort((a, b) => a - b);
  if (bounds !== undefined) {
    const [low, high] = [start(bounds.min), start(bounds.max)];
    if (keys.length === 0) keys.push(low, high);
    else {
      if (low < keys[0]!) keys.unshift(low);
      if (high > keys.at(-1)!) keys.push(high);
    }
  }
  for (const [at, key] of keys.entries()) {
    const end = keys[at + 1] ?? key;
    if (!groups.has(key)) groups.set(key, []);
    for (let empty = next(key); empty < end; empty = next(empty)) groups.set(empty, []);
  }
}
