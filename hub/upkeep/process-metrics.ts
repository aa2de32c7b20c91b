/**
 * The hub's metrics as one document: gauges as they are, counters as growth since the previous document, so that sums
 * over any time are right. Integers only: an index takes the type of the first value it sees.
 */

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Metrics } from "#proto/kit/metrics.ts";
import { heapMemory, residentBytes } from "#proto/kit/process-memory.ts";

/** Field names below `hub`, with integers. */
export type OwnFigures = Readonly<Record<string, number>>;

/** Counters, recorded as growth; several are summed. */
const GROWING: Readonly<Record<string, readonly string[]>> = {
  events: ["tailrace_pipeline_events_total"],
  documents: ["tailrace_pipeline_documents_total"],
  messages_applied: ["tailrace_engine_messages_applied_total"],
  requests: ["tailrace_api_requests_total"],
  dead_letters: ["tailrace_pipeline_dead_letters_total"],
  live_rows_skipped: ["tailrace_live_rows_skipped_total"],
  errors: [
    "tailrace_pipeline_dead_letters_total",
    "tailrace_pipeline_sink_retries_total",
    "tailrace_pipeline_read_errors_total",
    "tailrace_pipeline_output_retries_total",
    "tailrace_pipeline_worker_restarts_total",
    "tailrace_engine_messages_refused_total",
    "tailrace_journal_publish_retries_total",
    "tailrace_journal_server_restarts_total",
  ],
};

/** Gauges, recorded as they are; those per stream with the stream's name. */
const STANDING: Readonly<Record<string, readonly [metric: string, stream?: string]>> = {
  raw_waiting: ["tailrace_journal_lag_messages", "RAW"],
  documents_waiting: ["tailrace_journal_lag_messages", "DOC"],
  raw_bytes: ["tailrace_journal_stream_bytes", "RAW"],
  documents_bytes: ["tailrace_journal_stream_bytes", "DOC"],
  in_flight_bytes: ["tailrace_pipeline_in_flight_bytes"],
  live_viewers: ["tailrace_live_sockets"],
};

const NS_PER_MS = 1e6;
/** A finer resolution would cost too much. */
const LOOP_RESOLUTION_MS = 20;

export class OwnFigureReader {
  readonly #metrics: Metrics;
  readonly #loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  #before: ReadonlyMap<string, number> | undefined;
  #cpu = process.cpuUsage();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** Starts measuring the event loop's delay. */
  start(): void {
    this.#loop.enable();
  }

  stop(): void {
    this.#loop.disable();
  }

  /** Returns the current values; for counters the growth since the last call, 0 at the first. */
  async read(): Promise<OwnFigures> {
    const values = await this.#values();
    const before = this.#before ?? values.sums;
    this.#before = values.sums;
    const growth = (name: string): number =>
      Math.max(0, (values.sums.get(name) ?? 0) - (before.get(name) ?? 0));
    const figures: Record<string, number> = this.#process();
    for (const [field, names] of Object.entries(GROWING))
      figures[field] = names.reduce((sum, name) => sum + growth(name), 0);
    for (const [field, [name, stream]] of Object.entries(STANDING))
      figures[field] =
        (stream === undefined ? values.sums.get(name) : values.byStream.get(`${name} ${stream}`)) ?? 0;
    return Object.fromEntries(Object.entries(figures).map(([field, value]) => [field, Math.round(value)]));
  }

  #process(): Record<string, number> {
    const { user, system } = process.cpuUsage(this.#cpu);
    this.#cpu = process.cpuUsage();
    const delayMs = this.#loop.percentile(99) / NS_PER_MS;
    this.#loop.reset();
    return {
      memory_bytes: residentBytes(),
      heap_bytes: heapMemory().usedBytes,
      cpu_ms: (user + system) / 1_000,
      // The resolution of the measurement is part of what it measures.
      loop_delay_ms: Math.max(0, delayMs - LOOP_RESOLUTION_MS),
    };
  }

  /** Returns the values of all metrics, summed over their labels, and those of streams by metric and stream. */
  async #values(): Promise<{ sums: Map<string, number>; byStream: Map<string, number> }> {
    const sums = new Map<string, number>();
    const byStream = new Map<string, number>();
    for (const { name, values } of await this.#metrics.registry.getMetricsAsJSON())
      for (const { value, labels } of values) {
        sums.set(name, (sums.get(name) ?? 0) + value);
        const stream = (labels as { stream?: string }).stream;
        if (stream !== undefined) byStream.set(`${name} ${stream}`, value);
      }
    return { sums, byStream };
  }
}
