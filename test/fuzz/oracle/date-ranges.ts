/** Random date_range. */

import type { Aggregation, Scope } from "./aggregation.ts";
import { dateText } from "./date-queries.ts";
import { type Json, numbersOf } from "./documents.ts";
import { printedTime } from "./printed-time.ts";
import { compareBounds, fieldsOf } from "./question.ts";
import type { SubAggregations } from "./sub-aggregations.ts";
import { ZONES, type Zone, zoneOf } from "./zoned-time.ts";

export function dateRanges(scope: Scope, sub: SubAggregations): Aggregation {
  const { subject, level } = scope;
  const { dice } = subject;
  const field = dice.pick(fieldsOf(level, "date"));
  const zone = zoneOf(dice.pick(ZONES));
  const printed = (time: number): string => printedTime(time, zone);
  const ranges = dice.times(1 + dice.below(3), () => randomRange(scope, field, zone));
  ranges.sort((a, b) => compareBounds(a.from, b.from) || compareBounds(a.to, b.to));
  return {
    body: {
      date_range: {
        field,
        ranges: ranges.map(({ body }) => body),
        ...(zone.name === "UTC" ? {} : { time_zone: zone.name }),
      },
      ...sub.body,
    },
    expect: (items) => ({
      buckets: ranges.map(({ from, to }) => ({
        key: `${from === Number.NEGATIVE_INFINITY ? "*" : printed(from)}-${to === Number.POSITIVE_INFINITY ? "*" : printed(to)}`,
        ...(from === Number.NEGATIVE_INFINITY ? {} : { from, from_as_string: printed(from) }),
        ...(to === Number.POSITIVE_INFINITY ? {} : { to, to_as_string: printed(to) }),
        ...sub.expectBucket(
          items.filter((item) => numbersOf(item, field).some((value) => value >= from && value < to)),
        ),
      })),
    }),
  };
}

/** Both ends of a range are rounded down. */
function randomRange(
  { subject }: Scope,
  field: string,
  zone: Zone,
): { body: Json; from: number; to: number } {
  const from = subject.dice.chance(0.8) ? dateText(subject, field, zone, null) : undefined;
  const to =
    subject.dice.chance(0.8) || from === undefined ? dateText(subject, field, zone, null) : undefined;
  return {
    body: {
      ...(from === undefined ? {} : { from: from.text }),
      ...(to === undefined ? {} : { to: to.text }),
    },
    from: from?.down ?? Number.NEGATIVE_INFINITY,
    to: to?.down ?? Number.POSITIVE_INFINITY,
  };
}
