/** What all threads' plugins did since the start: as metrics, and for those who ask. */

import type { PipelineFigures } from "../program/pipeline-set.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";

/** Figures of one plugin since the start. */
export interface PluginTotal {
  readonly pipeline: string;
  readonly id: string;
  readonly name: string;
  readonly in: number;
  readonly out: number;
  readonly failures: number;
  /** Projected from samples. */
  readonly ms: number;
  /** Longest time of a sampled event, ms. */
  readonly slowestMs: number;
}

/** Plugins that are remembered; those of removed pipelines go first. */
const PLUGIN_LIMIT = 2_000;

export class PluginTotals {
  readonly #metrics: PipelineMetrics;
  readonly #totals = new Map<string, PluginTotal>();

  constructor(metrics: PipelineMetrics) {
    this.#metrics = metrics;
  }

  add(figures: readonly PipelineFigures[]): void {
    for (const { pipeline, plugins } of figures) {
      for (const figure of plugins) {
        const labels = { pipeline, plugin: figure.id };
        this.#metrics.pluginIn.inc(labels, figure.in);
        this.#metrics.pluginOut.inc(labels, figure.out);
        this.#metrics.pluginFailures.inc(labels, figure.failures);
        this.#metrics.pluginSeconds.inc(labels, figure.ms / 1000);
        const key = `${pipeline}\n${figure.id}`;
        const before = this.#totals.get(key);
        this.#totals.delete(key);
        this.#totals.set(key, {
          pipeline,
          id: figure.id,
          name: figure.name,
          in: (before?.in ?? 0) + figure.in,
          out: (before?.out ?? 0) + figure.out,
          failures: (before?.failures ?? 0) + figure.failures,
          ms: (before?.ms ?? 0) + figure.ms,
          slowestMs: Math.max(before?.slowestMs ?? 0, figure.slowestMs),
        });
        const [oldest] = this.#totals.keys();
        if (this.#totals.size > PLUGIN_LIMIT && oldest !== undefined) this.#totals.delete(oldest);
      }
    }
  }

  all(): PluginTotal[] {
    return [...this.#totals.values()];
  }
}
