/** Metrics: made in one place per process, named tailrace_<part>_<noun>_<unit>[_total]. */

import { Counter, Gauge, Histogram, Registry } from "prom-client";

export type { Counter, Gauge, Histogram };

const NAME = /^tailrace_[a-z]+(_[a-z0-9]+)+$/;

/** Makes metrics and prints them in the Prometheus text format. One per process, given through constructors. */
export class Metrics {
  readonly registry = new Registry();

  /** A number that only grows; the name ends in _total. `collect` may raise it at each scrape. */
  counter<L extends string = never>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    collect?: (counter: Counter<L>) => void,
  ): Counter<L> {
    checkName(name, name.endsWith("_total"));
    const counter: Counter<L> = new Counter<L>({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      ...(collect === undefined ? {} : { collect: () => collect(counter) }),
    });
    return counter;
  }

  /** A number that moves both ways. `collect` may set it at each scrape. */
  gauge<L extends string = never>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    collect?: (gauge: Gauge<L>) => void,
  ): Gauge<L> {
    checkName(name, !name.endsWith("_total"));
    const gauge: Gauge<L> = new Gauge<L>({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      ...(collect === undefined ? {} : { collect: () => collect(gauge) }),
    });
    return gauge;
  }

  /** Durations in seconds by default. */
  histogram<L extends string = never>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    buckets: readonly number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  ): Histogram<L> {
    checkName(name, !name.endsWith("_total"));
    return new Histogram<L>({
      name,
      help,
      labelNames: labels,
      buckets: [...buckets],
      registers: [this.registry],
    });
  }

  /** Returns all metrics in the text exposition format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}

function checkName(name: string, ok: boolean): void {
  if (!ok || !NAME.test(name))
    throw new Error(`metric name ${name} breaks the rule tailrace_<part>_<noun>_<unit>[_total]`);
}
