/** Runs the inputs of all pipelines: those that a configuration change doesn't affect keep running. */

import type { FedRecord, IntakeShares } from "#hub/pipeline/plugins/input.ts";
import type { PlannedInput } from "#hub/pipeline/program/plan.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";
import { type InputReach, type InputStatus, RunningInput } from "./running-input.ts";

export interface InputHostOptions {
  /** Undefined: inputs are checked but not run. */
  readonly reach: InputReach | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  readonly metrics: PipelineMetrics;
  readonly shares: IntakeShares;
}

export class InputHost implements Component {
  readonly #options: InputHostOptions;
  readonly #running = new Map<string, RunningInput>();

  constructor(options: InputHostOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    await this.apply([]);
  }

  /** Stops inputs that are not among `planned` or were changed, then starts the new ones. */
  async apply(planned: readonly PlannedInput[]): Promise<void> {
    const { reach } = this.#options;
    if (reach === undefined) return;
    const wanted = new Map(planned.map((each) => [keyOf(each), each]));
    const gone = [...this.#running].filter(([key]) => !wanted.has(key));
    for (const [key] of gone) this.#running.delete(key);
    await Promise.all(gone.map(([, input]) => input.stop()));
    for (const [key, planned] of wanted) {
      if (this.#running.has(key)) continue;
      const { log, clock, metrics, shares } = this.#options;
      const running = new RunningInput({ ...planned, reach, log, clock, metrics, shares });
      this.#running.set(key, running);
      await running.start();
    }
  }

  status(): InputStatus[] {
    return [...this.#running.values()].map((input) => input.status());
  }

  /** See WriterContext.feed. */
  async feed(address: string, records: readonly FedRecord[]): Promise<void> {
    const taken = [...this.#running.values()]
      .map((input) => input.feed(address, records))
      .filter((each) => each !== undefined);
    if (taken.length === 0) {
      throw new AppError("unavailable", `no pipeline has an input pipeline with the address "${address}"`);
    }
    await Promise.all(taken);
  }
}

/** The same for an input that needn't be restarted. */
function keyOf({ pipeline, input }: PlannedInput): string {
  return JSON.stringify([pipeline, input.id, input.fingerprint]);
}
