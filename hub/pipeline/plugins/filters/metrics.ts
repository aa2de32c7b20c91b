/** Filter metrics: counts and measures events, and emits the results as events. */

import { hostname } from "node:os";
import { toFloat } from "#hub/pipeline/formats/value-conversion.ts";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { decimal } from "#proto/codec/json.ts";
import { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat, type Format } from "#proto/format.ts";
import { list, options, table } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** How often rates are taken again, as load averages are. s */
const TICK_S = 5;

/** Values kept for percentiles of a timer: a sample that each value has the same chance to be in. */
const SAMPLE = 1028;

/** Minutes over which rates can be computed. */
const MINUTES = [1, 5, 15];

/** Names that formats give; others are not counted. */
const MAX_NAMES = 10_000;

export const metricsFilter = defineFilter({
  name: "metrics",
  description: "adds events with the count, rate and percentiles of those that pass",
  options: options({
    meter: list("names under which events are counted, as formats"),
    timer: table("values to measure by name, both as formats"),
    ignore_older_than: Type.Number({
      default: 0,
      minimum: 0,
      description: "events older than this are not counted, s; 0: all are counted",
    }),
    flush_interval: Type.Number({
      default: 5,
      exclusiveMinimum: 0,
      description: "interval between events, s",
    }),
    clear_interval: Type.Number({
      default: -1,
      description: "interval at which counts are reset, s; -1: never",
    }),
    rates: Type.Array(Type.Number(), {
      default: [1, 5, 15],
      description: "minutes over which average rates are computed: 1, 5, 15",
    }),
    percentiles: Type.Array(Type.Number({ minimum: 0, maximum: 100 }), {
      default: [1, 5, 10, 90, 95, 99, 100],
      description: "percentiles to report for a timer",
    }),
  }),
  stateful: true,
  create(values, context) {
    if (!values.rates.every((minutes) => MINUTES.includes(minutes)))
      context.report("error", "rates", `rates are computed over ${MINUTES.join(", ")} minutes`);
    const meters = values.meter.map(compileFormat);
    const timers = Object.entries(values.timer).map(
      ([name, value]) => [compileFormat(name), compileFormat(value)] as const,
    );
    const statistics = new Meters(values.rates, values.percentiles, context);
    const started = context.clock.monotonic();
    const due = {
      flushMs: started + values.flush_interval * 1000,
      clearMs: started + values.clear_interval * 1000,
    };
    let first: number | undefined;
    return {
      apply(event) {
        const { clock, place } = context;
        if (values.ignore_older_than > 0 && clock.now() - event.timeMs > values.ignore_older_than * 1000)
          return false;
        first ??= place();
        for (const name of meters) statistics.count(name(event), undefined);
        for (const [name, value] of timers) countTimer(statistics, name, value, event);
        return true;
      },
      flush(emit) {
        const nowMs = context.clock.monotonic();
        if (nowMs < due.flushMs) return;
        due.flushMs = nowMs + values.flush_interval * 1000;
        if (!statistics.isEmpty) emit(statistics.event(), `${first ?? 0} ${context.clock.now()}`);
        first = undefined;
        if (values.clear_interval < 0 || nowMs < due.clearMs) return;
        due.clearMs = nowMs + values.clear_interval * 1000;
        statistics.clear();
      },
    };
  },
});

/** The number at the start of the value counts, 0 without one. */
function countTimer(meters: Meters, name: Format, value: Format, event: Event): void {
  const measured = toFloat(value(event));
  if (typeof measured === "number") meters.count(name(event), measured);
}

/** Rate over some minutes, an average that forgets. */
class Rate {
  readonly #share: number;
  #perSecond: number | undefined;

  constructor(minutes: number) {
    this.#share = 1 - Math.exp(-TICK_S / 60 / minutes);
  }

  get perSecond(): number {
    return this.#perSecond ?? 0;
  }

  tick(events: number): void {
    const now = events / TICK_S;
    this.#perSecond =
      this.#perSecond === undefined ? now : this.#perSecond + this.#share * (now - this.#perSecond);
  }
}

/** What is known of one name. */
class Meter {
  count = 0;
  sum = 0;
  squares = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  readonly sample: number[] = [];
  readonly isTimer: boolean;
  readonly rates: readonly Rate[];
  #sinceTick = 0;

  constructor(isTimer: boolean, minutes: readonly number[]) {
    this.isTimer = isTimer;
    this.rates = minutes.map((each) => new Rate(each));
  }

  add(value: number | undefined, random: () => number): void {
    this.count++;
    this.#sinceTick++;
    if (value === undefined) return;
    this.sum += value;
    this.squares += value * value;
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
    if (this.sample.length < SAMPLE) {
      this.sample.push(value);
      return;
    }
    const place = Math.floor(random() * this.count);
    if (place < SAMPLE) this.sample[place] = value;
  }

  tick(): void {
    for (const rate of this.rates) rate.tick(this.#sinceTick);
    this.#sinceTick = 0;
  }
}

class Meters {
  readonly #minutes: readonly number[];
  readonly #percentiles: readonly number[];
  readonly #context: FilterContext;
  readonly #meters = new Map<string, Meter>();
  #tickedMs: number;

  constructor(minutes: readonly number[], percentiles: readonly number[], context: FilterContext) {
    this.#minutes = minutes;
    this.#percentiles = percentiles;
    this.#context = context;
    this.#tickedMs = context.clock.monotonic();
  }

  get isEmpty(): boolean {
    return this.#meters.size === 0;
  }

  count(name: string, value: number | undefined): void {
    let meter = this.#meters.get(name);
    if (meter === undefined) {
      if (this.#meters.size >= MAX_NAMES) return;
      meter = new Meter(value !== undefined, this.#minutes);
      this.#meters.set(name, meter);
    }
    meter.add(value, this.#context.random);
  }

  clear(): void {
    this.#meters.clear();
  }

  event(): Event {
    const nowMs = this.#context.clock.monotonic();
    for (; this.#tickedMs + TICK_S * 1000 <= nowMs; this.#tickedMs += TICK_S * 1000)
      for (const meter of this.#meters.values()) meter.tick();
    const event = new Event({ message: hostname() }, this.#context.clock.now());
    for (const [name, meter] of this.#meters) this.#tell(event, name, meter);
    return event;
  }

  #tell(event: Event, name: string, meter: Meter): void {
    const set = (key: string, value: number): void => {
      if (Number.isFinite(value))
        event.set(
          fieldReference(`[${name.replace(/[[\]]/g, "_")}][${key}]`),
          key === "count" ? value : decimal(value),
        );
    };
    set("count", meter.count);
    for (const [index, minutes] of this.#minutes.entries())
      set(`rate_${minutes}m`, meter.rates[index]!.perSecond);
    if (!meter.isTimer) return;
    const { count, sum, squares, min, max } = meter;
    const mean = sum / count;
    set("min", min);
    set("max", max);
    set("mean", mean);
    set("stddev", count > 1 ? Math.sqrt(Math.max(0, (squares - count * mean * mean) / (count - 1))) : 0);
    const sorted = [...meter.sample].sort((a, b) => a - b);
    for (const percentile of this.#percentiles) {
      const place = Math.ceil((percentile / 100) * sorted.length) - 1;
      set(`p${percentile}`, sorted[Math.max(0, place)] ?? Number.NaN);
    }
  }
}
