/** One input at work: started until it works, with the channels it opened. */

import type { FedRecord, InputContext } from "#hub/pipeline/plugins/input.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { CompiledInput } from "../program/compile-plugin.ts";
import { RawChannel } from "./input-channel.ts";
import type { InputReach, InputStatus } from "./input-host.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";

/** A port that is taken, a server that is away: tried again within a minute. */
const START_RETRY = { firstMs: 500, capMs: 60_000 };

export interface RunningInputOptions {
  readonly pipeline: string;
  readonly input: CompiledInput;
  /** True: its pipeline was made through the hub interface. */
  readonly isManaged: boolean;
  readonly reach: InputReach;
  readonly log: Logger;
  readonly clock: Clock;
  readonly metrics: PipelineMetrics;
}

export class RunningInput implements Component {
  readonly #options: RunningInputOptions;
  readonly #stopping = new AbortController();
  readonly #handlers = new Map<string, (records: readonly FedRecord[]) => Promise<void>>();
  #component: Component | undefined;
  #starting: Promise<void> = Promise.resolve();
  #state: InputStatus["state"] = "starting";
  #reason = "";
  #events = 0;

  constructor(options: RunningInputOptions) {
    this.#options = options;
  }

  /** Resolves after the first try to start; a failing one is repeated behind the scenes. */
  async start(): Promise<void> {
    const first = Promise.withResolvers<void>();
    this.#starting = this.#startUntilItWorks(first.resolve);
    await first.promise;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#starting;
    await this.#component?.stop();
  }

  status(): InputStatus {
    const { pipeline, input } = this.#options;
    const { id, name } = input;
    return { pipeline, id, name, state: this.#state, reason: this.#reason, events: this.#events };
  }

  /** Takes records of outputs `pipeline`; undefined where the input doesn't listen at the address. */
  feed(address: string, records: readonly FedRecord[]): Promise<void> | undefined {
    return this.#handlers.get(address)?.(records);
  }

  async #startUntilItWorks(tried: () => void): Promise<void> {
    const { input, clock, log, metrics, pipeline } = this.#options;
    const { signal } = this.#stopping;
    const backoff = new Backoff(START_RETRY);
    while (!signal.aborted) {
      const component = input.make(this.#context());
      try {
        await component.start();
        this.#component = component;
        if (this.#state === "starting" || backoff.tries > 0) this.#failing(null);
        tried();
        return;
      } catch (error) {
        await component.stop().catch(() => undefined);
        this.#failing(toAppError(error).message);
        metrics.inputRestarts.inc({ pipeline, plugin: input.id });
        log.error({ err: error, pipeline, input: input.id }, "an input can't start and is tried again");
        tried();
        await clock.sleep(backoff.next(), signal);
      }
    }
    tried();
  }

  #failing(message: string | null): void {
    this.#state = message === null ? "running" : "failing";
    this.#reason = message ?? "";
  }

  #context(): InputContext {
    const { reach, input, pipeline, isManaged, log, clock, metrics } = this.#options;
    const { hubName, hostName, version, publish } = reach;
    const { signal } = this.#stopping;
    const identity = { pipeline, plugin: input.id, type: input.name, hubName, hostName, version };
    return {
      id: input.id,
      log,
      clock,
      hubName,
      state: reach.states.of(pipeline, input.id),
      open: (source) =>
        new RawChannel({
          identity,
          source,
          decorate: input.decorate,
          publish,
          clock,
          log,
          signal,
          sent: (events) => {
            this.#events += events;
            metrics.inputEvents.inc({ pipeline, plugin: input.id }, events);
          },
        }),
      receive: (address, handler) => this.#handlers.set(address, handler),
      failing: (message) => this.#failing(message),
      bearer: (...asked) => reach.bearer(...asked),
      checkTarget: (host) => {
        if (isManaged) reach.checkTarget(host);
      },
      deadLetters: (after, letters) => reach.deadLetters(after, letters),
    };
  }
}
