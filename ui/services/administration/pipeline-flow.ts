/** The flow through a pipeline: its steps with their counts, and the rates between two samples. */

import { asFacts, type Facts } from "#ui/services/hub/json-call.ts";
import { valueText } from "#ui/services/search/log-document.ts";

/** A plugin of a pipeline, or the events that enter it. */
export interface FlowStep {
  readonly name: string;
  /** Events that went in since the pipeline was started. */
  readonly count: number;
  /** Events that went in and didn't come out. */
  readonly dropped: number;
  readonly failures: number;
  /** Undefined if it was seen only once. */
  readonly perSecond: number | undefined;
  /** Time of an event in it, ms; undefined if none was measured. */
  readonly eventMs: number | undefined;
}

interface Seen {
  readonly atMs: number;
  readonly count: number;
}

/** Remembers the counts of earlier samples. */
export class PipelineFlow {
  #before: ReadonlyMap<string, Seen> = new Map();
  #rates = new Map<string, number>();

  /** Adds the hub's statistics of all pipelines at one time. */
  take(pipelines: readonly Facts[], nowMs: number): void {
    const seen = new Map<string, Seen>();
    this.#rates = new Map();
    for (const plugin of pipelines.flatMap(pluginsOf)) {
      const key = keyOf(plugin);
      const count = numberIn(plugin, "in");
      const before = this.#before.get(key);
      seen.set(key, { atMs: nowMs, count });
      // Fewer than before: the pipeline was started again.
      if (before !== undefined && nowMs > before.atMs && count >= before.count)
        this.#rates.set(key, ((count - before.count) * 1_000) / (nowMs - before.atMs));
    }
    this.#before = seen;
  }

  /** Returns the steps of a pipeline, in their order. */
  steps(pipeline: Facts): FlowStep[] {
    return pluginsOf(pipeline).map((plugin) => {
      const count = numberIn(plugin, "in");
      const ms = numberIn(plugin, "ms");
      return {
        name: valueText(plugin["name"] ?? plugin["id"]),
        count,
        dropped: Math.max(0, count - numberIn(plugin, "out")),
        failures: numberIn(plugin, "failures"),
        perSecond: this.#rates.get(keyOf(plugin)),
        eventMs: count > 0 && ms > 0 ? ms / count : undefined,
      };
    });
  }
}

function pluginsOf(pipeline: Facts): Facts[] {
  const { plugins } = pipeline;
  return Array.isArray(plugins) ? plugins.map(asFacts) : [];
}

function keyOf(plugin: Facts): string {
  return `${valueText(plugin["pipeline"])}/${valueText(plugin["id"])}`;
}

function numberIn(facts: Facts, name: string): number {
  const value = Number(facts[name]);
  return Number.isFinite(value) ? value : 0;
}
