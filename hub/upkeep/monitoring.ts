/**
 * The hub's self-monitoring: writes a document of metrics each interval to a daily index, for the health dashboard.
 * It records only while that dashboard exists, which `setup` and the page's samples create.
 */

import { randomUUID } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { INTERNAL_PREFIX } from "#hub/cluster/catalog/index-names.ts";
import type { WriteItem, WriteOptions, WriteResult } from "#hub/cluster/writes/writes.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { heapMemory, residentBytes } from "#proto/kit/process/process-memory.ts";

/** Health of an agent, as monitoring records it. */
export interface AgentHealth {
  readonly health: string;
  readonly lagBytes: number;
}

export interface MonitoringOptions {
  /** 0: disabled. */
  readonly intervalMs: number;
  readonly documents: {
    write(items: readonly WriteItem[], options: WriteOptions): Promise<WriteResult[]>;
  };
  /** Id of the dashboard without which nothing is recorded. */
  readonly dashboard: string;
  readonly saved: { get(type: "dashboard", id: string): Promise<unknown> };
  readonly agents: () => readonly AgentHealth[];
  /** Name of the hub, stored in each document. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Prefix of the daily indices. */
export const METRICS_PREFIX = `${INTERNAL_PREFIX}metrics-`;
const WRITE_TIMEOUT_MS = 5_000;

export class Monitoring implements Component {
  readonly #options: MonitoringOptions;
  readonly #reader: ProcessMetricsReader;
  readonly #task = new BackgroundTask();

  constructor(options: MonitoringOptions) {
    this.#options = options;
    this.#reader = new ProcessMetricsReader(options.metrics);
  }

  start(): Promise<void> {
    if (this.#options.intervalMs > 0) this.#task.start((signal) => this.#run(signal));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.record(signal);
      } catch (err) {
        // This interval has no document; the next one covers its growth.
        if (!signal.aborted) log.warn({ err }, "the hub's metrics cannot be recorded now");
      }
      await clock.sleep(intervalMs, signal);
    }
    this.#reader.stop();
  }

  /** Writes one document if the dashboard exists. Throws what the journal or the index throws. */
  async record(signal: AbortSignal): Promise<void> {
    const { documents, clock, node, agents } = this.#options;
    // The samples wake the thread, which would be most of what wakes one at rest.
    if (!(await this.#isWanted())) return this.#reader.stop();
    this.#reader.start();
    const now = new Date(clock.now()).toISOString();
    const known = agents();
    const hub = {
      ...(await this.#reader.read()),
      agents: known.length,
      agents_in_trouble: known.filter(({ health }) => health !== "ok").length,
      agents_behind_bytes: known.reduce((sum, { lagBytes }) => sum + lagBytes, 0),
    };
    const source = Buffer.from(JSON.stringify({ "@timestamp": now, node: { name: node }, hub }));
    const index = `${METRICS_PREFIX}${now.slice(0, 10).replaceAll("-", ".")}`;
    const item: WriteItem = { kind: "create", index, id: randomUUID(), source };
    const [result] = await documents.write([item], { refresh: "false", timeoutMs: WRITE_TIMEOUT_MS, signal });
    if (result !== undefined && "error" in result) throw result.error;
  }

  async #isWanted(): Promise<boolean> {
    try {
      await this.#options.saved.get("dashboard", this.#options.dashboard);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === "not_found") return false;
      throw error;
    }
  }
}

/** Field names below `hub`, with integers. */
export type ProcessMetrics = Readonly<Record<string, number>>;

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

/** Gauges, recorded with their value; those per stream with the stream's name. */
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

export class ProcessMetricsReader {
  readonly #metrics: Metrics;
  readonly #loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  #before: ReadonlyMap<string, number> | undefined;
  #cpu = process.cpuUsage();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** Starts measuring the event loop's delay, unless that is running. */
  start(): void {
    this.#loop.enable();
  }

  stop(): void {
    this.#loop.disable();
  }

  /** Returns the current values; for counters the growth since the last call, 0 at the first. */
  async read(): Promise<ProcessMetrics> {
    const values = await this.#values();
    const before = this.#before ?? values.sums;
    this.#before = values.sums;
    const growth = (name: string): number =>
      Math.max(0, (values.sums.get(name) ?? 0) - (before.get(name) ?? 0));
    const fields: Record<string, number> = this.#process();
    for (const [field, names] of Object.entries(GROWING))
      fields[field] = names.reduce((sum, name) => sum + growth(name), 0);
    for (const [field, [name, stream]] of Object.entries(STANDING))
      fields[field] =
        (stream === undefined ? values.sums.get(name) : values.byStream.get(`${name} ${stream}`)) ?? 0;
    return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, Math.round(value)]));
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
    for (const { name, values } of await this.#metrics.all())
      for (const { value, labels } of values) {
        sums.set(name, (sums.get(name) ?? 0) + value);
        const stream = (labels as { stream?: string }).stream;
        if (stream !== undefined) byStream.set(`${name} ${stream}`, value);
      }
    return { sums, byStream };
  }
}
