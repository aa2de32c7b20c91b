/** Filter throttle: decorates events of a key that arrive too rarely or too often. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { compileFormat } from "#proto/format.ts";
import { options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Periods kept per key, for events that come out of order. */
const PERIODS_PER_KEY = 16;
/** Where an event's period isn't a number, or 0. */
const DEFAULT_PERIOD_S = 60;

/** Events of one key. */
interface Counters {
  /** Time of the key's first event, s: its periods are counted from there. */
  readonly createdS: number;
  /** Counts by the start of the period, s. */
  readonly counts: Map<number, number>;
}

export const throttleFilter = defineFilter({
  name: "throttle",
  description:
    "decorates the events of a key before the first and after the last number allowed in a period; counts restart with the hub",
  // Counters of several threads would each allow the number.
  stateful: true,
  options: options({
    key: text("key by which events are counted, a format"),
    before_count: Type.Integer({
      default: -1,
      description: "events whose number is below this are decorated; -1: none",
    }),
    after_count: Type.Integer({
      default: -1,
      description: "events whose number is above this are decorated; -1: none",
    }),
    period: text("length of a period, s, a format", "60"),
    max_age: Type.Number({ default: 3600, minimum: 0, description: "how long a counter is kept, s" }),
    max_counters: Type.Integer({
      default: 100_000,
      description: "maximum number of counters; the oldest are dropped first; -1: no limit",
    }),
  }),
  create({ key, before_count, after_count, period, max_age, max_counters }) {
    const keyOf = compileFormat(key);
    const periodOf = compileFormat(period);
    const counters = new Map<string, Counters>();
    return {
      apply(event) {
        const name = keyOf(event);
        const periodS = Number.parseInt(periodOf(event), 10) || DEFAULT_PERIOD_S;
        const count = counted(counters, name, Math.floor(event.timeMs / 1000), periodS, max_age);
        if (max_counters >= 0 && counters.size > max_counters) counters.delete(counters.keys().next().value!);
        const isEarly = before_count !== -1 && count < before_count;
        return isEarly || (after_count !== -1 && count > after_count);
      },
    };
  },
});

/** Counts an event at `timeS` and returns the number of events in its period so far, of those that aren't too old. */
function counted(
  counters: Map<string, Counters>,
  key: string,
  timeS: number,
  periodS: number,
  maxAgeS: number,
): number {
  const { createdS, counts } = counters.get(key) ?? { createdS: timeS, counts: new Map<number, number>() };
  const since = (timeS - createdS) % periodS;
  const startS = timeS - (since < 0 ? since + Math.abs(periodS) : since);
  const count = (counts.get(startS) ?? 0) + 1;
  counts.set(startS, count);
  const latestS = Math.max(...counts.keys());
  for (const each of counts.keys()) if (each < latestS - maxAgeS) counts.delete(each);
  if (counts.size > PERIODS_PER_KEY) counts.delete(Math.min(...counts.keys()));
  // The key that was seen last goes last.
  counters.delete(key);
  counters.set(key, { createdS, counts });
  return count;
}
