/** Metrics: declared by what measures, kept in one registry per process, named tailrace_<part>_<noun>_<unit>[_total]. */

import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";

export type { Counter, Gauge, Histogram };

const NAME = /^tailrace_[a-z]+(_[a-z0-9]+)+$/;

/** The values of one metric, as another thread sends them. */
export type MetricRecord = MetricObjectWithValues<MetricValue<string>>;

/** Makes metrics and prints them in the Prometheus text format. One per process, given through constructors. */
export class Metrics {
  readonly registry = new Registry();
  readonly #sources: (() => Promise<readonly MetricRecord[]>)[] = [];

  /** Adds the metrics of another thread, which have names of their own; threads with the same metrics are summed. */
  addSource(source: () => Promise<readonly MetricRecord[]>): void {
    this.#sources.push(source);
  }

  /** Returns the metrics that were made here. */
  own(): Promise<MetricRecord[]> {
    return this.registry.getMetricsAsJSON();
  }

  /** Returns all metrics, those of other threads included. */
  async all(): Promise<MetricRecord[]> {
    return [...(await this.own()), ...(await (await this.#others()).getMetricsAsJSON())];
  }

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

  /** A number that `value` returns at each scrape; where threads have the same metric, their greatest is shown. */
  maximum(name: string, help: string, value: () => number): void {
    checkName(name, !name.endsWith("_total"));
    const gauge: Gauge = new Gauge({
      name,
      help,
      aggregator: "max",
      registers: [this.registry],
      collect: () => gauge.set(value()),
    });
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
  async text(): Promise<string> {
    const own = await this.registry.metrics();
    return this.#sources.length === 0 ? own : `${own}${await (await this.#others()).metrics()}`;
  }

  async #others(): Promise<Registry> {
    return AggregatorRegistry.aggregate(await Promise.all(this.#sources.map((source) => source())));
  }
}

function checkName(name: string, ok: boolean): void {
  if (!ok || !NAME.test(name))
    throw new Error(`metric name ${name} breaks the rule tailrace_<part>_<noun>_<unit>[_total]`);
}
