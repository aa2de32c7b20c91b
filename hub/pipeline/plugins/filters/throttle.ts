/** Filter throttle: decorates events of a key that arrive too rarely or too often. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { compileFormat } from "#proto/format.ts";
import { options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Periods kept per key, for events that come out of order. */
const PERIODS_PER_KEY = 16;

/** Events of one key in one period. */
interface Counter {
  startMs: number;
  count: number;
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
    const counters = new Map<string, Counter[]>();
    return {
      apply(event) {
        const name = keyOf(event);
        const periodMs = (Number(periodOf(event)) || 60) * 1000;
        const counter = take(counters, name, event.timeMs, Math.min(periodMs, max_age * 1000));
        counter.count++;
        if (max_counters >= 0 && counters.size > max_counters) counters.delete(counters.keys().next().value!);
        const isEarly = before_count !== -1 && counter.count < before_count;
        return isEarly || (after_count !== -1 && counter.count > after_count);
      },
    };
  },
});

/** Returns the counter of the period that `timeMs` lies in; one begins with the first event that lies in none. */
function take(counters: Map<string, Counter[]>, key: string, timeMs: number, periodMs: number): Counter {
  const known = counters.get(key) ?? [];
  const found = known.findLast(({ startMs }) => timeMs >= startMs && timeMs < startMs + periodMs);
  if (found !== undefined) return found;
  const counter = { startMs: timeMs, count: 0 };
  const kept = [...known, counter].sort((a, b) => a.startMs - b.startMs);
  counters.delete(key);
  counters.set(key, kept.slice(-PERIODS_PER_KEY));
  return counter;
}
