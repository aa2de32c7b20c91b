/** An input that runs: it is started until it works, takes its turn where several hubs share its source, and is stopped. */

import type { FedRecord, InputContext, InputDeadLetter, IntakeShares } from "#hub/pipeline/plugins/input.ts";
import type { CompiledInput } from "#hub/pipeline/program/compile-plugin.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { type PublishRaw, RawChannel } from "./input-channel.ts";
import type { InputStates } from "./input-states.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";
import type { InputTurn, SharedInputs } from "./shared-inputs.ts";

/** The dependencies of inputs. */
export interface InputReach {
  readonly publish: PublishRaw;
  readonly states: InputStates;
  /** Set where inputs of shared sources run on one of several hubs; without it all run here. */
  readonly shared?: SharedInputs;
  readonly hubName: string;
  readonly hostName: string;
  readonly version: string;
  /** Returns a token of a connection. Throws not_found, unauthenticated. */
  bearer(connection: string, host: string, rejected?: string): Promise<string>;
  /** See InputContext. */
  mayIngest(authorization: string, ip: string): Promise<boolean>;
  /** Throws forbidden where pipelines made on the page may not connect to the host. */
  checkTarget(host: string): void;
  deadLetters(after: number, signal: AbortSignal): AsyncIterable<InputDeadLetter>;
}

/** The state of an input. */
export interface InputStatus {
  readonly pipeline: string;
  readonly id: string;
  readonly name: string;
  /** `standby`: another hub runs it. */
  readonly state: "starting" | "running" | "failing" | "standby";
  /** Empty while it works. */
  readonly reason: string;
  readonly events: number;
}

/** Time for sends to end before a stop, ms: while the log is full or unreachable they don't end. */
const STOP_GRACE_MS = 2_000;

/** For a port in use or an unreachable server: the next attempt follows within a minute. */
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
  readonly shares: IntakeShares;
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

  /**
   * Resolves after the first attempt to start; a failing one is retried in the background. An input of a shared source
   * starts in the background only, when it is this hub's turn.
   */
  async start(): Promise<void> {
    const first = Promise.withResolvers<void>();
    const { reach, input } = this.#options;
    if (input.isShared && reach.shared !== undefined) {
      this.#starting = this.#takeTurns(reach.shared);
      return;
    }
    this.#starting = this.#startUntilItWorks(first.resolve, this.#stopping.signal);
    await first.promise;
  }

  /** Sends in progress may complete first: a sender without an answer would repeat what the log has stored. */
  async stop(): Promise<void> {
    const { input, reach, clock } = this.#options;
    // Events of a shared source carry their position, so that nothing of it comes twice.
    const component = input.isShared && reach.shared !== undefined ? undefined : this.#component;
    const stopped = component?.stop();
    try {
      if (stopped !== undefined)
        await Promise.race([stopped, clock.sleep(STOP_GRACE_MS, this.#stopping.signal)]);
    } finally {
      this.#stopping.abort();
    }
    await this.#starting;
    await (stopped ?? this.#component?.stop());
  }

  status(): InputStatus {
    const { pipeline, input } = this.#options;
    const { id, name } = input;
    return { pipeline, id, name, state: this.#state, reason: this.#reason, events: this.#events };
  }

  /** Takes records of outputs `pipeline`; undefined if the input doesn't listen at the address. */
  feed(address: string, records: readonly FedRecord[]): Promise<void> | undefined {
    return this.#handlers.get(address)?.(records);
  }

  /** Runs the input whenever it is this hub's turn, until it is stopped. */
  async #takeTurns(shared: SharedInputs): Promise<void> {
    const { input, pipeline, log, clock } = this.#options;
    const { signal } = this.#stopping;
    const backoff = new Backoff(START_RETRY);
    while (!signal.aborted) {
      try {
        this.#state = "standby";
        const turn = await shared.turn(pipeline, input.id, signal);
        await this.#runTurn(turn);
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error, pipeline, input: input.id }, "an input can't take its turn and tries again");
        await clock.sleep(backoff.next(), signal);
      }
    }
  }

  async #runTurn(turn: InputTurn): Promise<void> {
    const ends = AbortSignal.any([this.#stopping.signal, turn.lost]);
    this.#state = "starting";
    try {
      await this.#startUntilItWorks(() => undefined, ends);
      if (!ends.aborted)
        await new Promise((resolve) => ends.addEventListener("abort", resolve, { once: true }));
    } finally {
      const component = this.#component;
      this.#component = undefined;
      this.#handlers.clear();
      await component?.stop();
      await turn.release();
    }
  }

  async #startUntilItWorks(tried: () => void, signal: AbortSignal): Promise<void> {
    const { input, clock, log, metrics, pipeline } = this.#options;
    const backoff = new Backoff(START_RETRY);
    while (!signal.aborted) {
      const component = input.make(this.#context(signal));
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

  #context(signal: AbortSignal): InputContext {
    const { reach, input, pipeline, isManaged, log, clock, metrics } = this.#options;
    const { hubName, hostName, version, publish } = reach;
    const shared = input.isShared ? reach.shared : undefined;
    const sourceName = shared?.hubName ?? hubName;
    const identity = { pipeline, plugin: input.id, type: input.name, hubName, sourceName, hostName, version };
    return {
      id: input.id,
      log,
      clock,
      hubName: sourceName,
      state: (shared?.states ?? reach.states).of(pipeline, input.id),
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
      cut: (count) => metrics.inputCuts.inc({ pipeline, plugin: input.id }, count),
      dropped: (count) => metrics.inputDrops.inc({ pipeline, plugin: input.id }, count),
      failing: (message) => this.#failing(message),
      bearer: (...asked) => reach.bearer(...asked),
      mayIngest: (...asked) => reach.mayIngest(...asked),
      shares: this.#options.shares,
      checkTarget: (host) => {
        if (isManaged) reach.checkTarget(host);
      },
      deadLetters: (after, letters) => reach.deadLetters(after, letters),
    };
  }
}
