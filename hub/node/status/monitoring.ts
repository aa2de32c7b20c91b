/**
 * The hub's self-monitoring: writes a document of metrics each interval to a daily index, for the health dashboard.
 * It records only while that dashboard exists, which `setup` and the page's samples create.
 */

import { randomUUID } from "node:crypto";
import type { WriteItem, WriteOptions, WriteResult } from "#hub/api/ports/indices.ts";
import { METRICS_PREFIX } from "#hub/node/access/index-access.ts";
import { HUB_HEALTH } from "#hub/saved/sample-objects.ts";
import type { SavedObjects } from "#hub/saved/saved-objects.ts";
import { OwnFigureReader } from "#hub/upkeep/process-metrics.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";

/** Health of an agent, as monitoring records it. */
export interface AgentFigures {
  readonly health: string;
  readonly lagBytes: number;
}

export interface MonitoringOptions {
  /** 0: disabled. */
  readonly intervalMs: number;
  readonly documents: {
    write(items: readonly WriteItem[], options: WriteOptions): Promise<WriteResult[]>;
  };
  readonly saved: Pick<SavedObjects, "get">;
  readonly agents: () => readonly AgentFigures[];
  /** Name of the hub, stored in each document. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const WRITE_TIMEOUT_MS = 5_000;

export class Monitoring implements Component {
  readonly #options: MonitoringOptions;
  readonly #reader: OwnFigureReader;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: MonitoringOptions) {
    this.#options = options;
    this.#reader = new OwnFigureReader(options.metrics);
  }

  start(): Promise<void> {
    if (this.#options.intervalMs > 0) this.#running = this.#run();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, intervalMs, log } = this.#options;
    const { signal } = this.#stopping;
    this.#reader.start();
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
    if (!(await this.#isWanted())) return;
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
      await this.#options.saved.get("dashboard", HUB_HEALTH);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === "not_found") return false;
      throw error;
    }
  }
}
