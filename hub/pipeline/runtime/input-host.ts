/** Runs the inputs of all pipelines: those that stay the same over a change of the configuration run on. */

import type { FedRecord, InputDeadLetter } from "#hub/pipeline/plugins/input.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { PlannedInput } from "../program/plan.ts";
import type { PublishRaw } from "./input-channel.ts";
import type { InputStates } from "./input-state.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";
import { RunningInput } from "./running-input.ts";

/** What inputs work with. */
export interface InputReach {
  readonly publish: PublishRaw;
  readonly states: InputStates;
  readonly hubName: string;
  readonly hostName: string;
  readonly version: string;
  /** Returns a token of a connection. Throws not_found, unauthenticated. */
  bearer(connection: string, host: string, rejected?: string): Promise<string>;
  /** Throws forbidden where pipelines made on the page may not connect to the host. */
  checkTarget(host: string): void;
  deadLetters(after: number, signal: AbortSignal): AsyncIterable<InputDeadLetter>;
}

export interface InputHostOptions {
  /** Undefined: inputs are checked but not run. */
  readonly reach: InputReach | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  readonly metrics: PipelineMetrics;
}

/** How an input does. */
export interface InputStatus {
  readonly pipeline: string;
  readonly id: string;
  readonly name: string;
  readonly state: "starting" | "running" | "failing";
  /** Empty while it works. */
  readonly reason: string;
  readonly events: number;
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
      const { log, clock, metrics } = this.#options;
      const running = new RunningInput({ ...planned, reach, log, clock, metrics });
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
