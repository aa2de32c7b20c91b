/** Runs one input so that its failure stays its own: an input that can't start is tried again while the others run. */

import type { FileState, Input, InputState } from "#agent/contract/input.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";

export interface SupervisedInputOptions {
  readonly id: string;
  /** Makes the input; once for each attempt to start it. */
  readonly create: () => Input;
  readonly clock: Clock;
  readonly log: Logger;
}

const RETRY = { firstMs: 1_000, capMs: 30_000 };

export class SupervisedInput implements Input {
  readonly #options: SupervisedInputOptions;
  readonly #stop = new AbortController();
  #input: Input;
  #problem = "";
  #failures = 0;
  #task: Promise<void> | undefined;

  constructor(options: SupervisedInputOptions) {
    this.#options = options;
    this.#input = options.create();
  }

  /** Why the input doesn't run, or reads nothing; empty while it works. */
  problem(): string {
    return this.#problem === "" ? (this.#input.problem?.() ?? "") : this.#problem;
  }

  /** Starts the input. Resolves after the first attempt, whether it succeeded or not. */
  async start(): Promise<void> {
    await this.#attempt();
    if (this.#problem !== "") this.#task = this.#retry();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#task;
    await this.#input.stop();
  }

  preserve(): void {
    this.#input.preserve?.();
  }

  hasUnacknowledged(): boolean {
    return this.#input.hasUnacknowledged?.() ?? false;
  }

  release(): void {
    this.#input.release?.();
  }

  state(): InputState {
    const state = this.#input.state();
    if (this.#problem === "") return state;
    return { ...state, errors: state.errors + this.#failures, lastError: this.#problem };
  }

  files(): Iterable<FileState> {
    return this.#input.files?.() ?? [];
  }

  rewind(): void {
    this.#input.rewind?.();
  }

  async #attempt(): Promise<void> {
    const { id, log } = this.#options;
    try {
      await this.#input.start();
      if (this.#problem !== "") log.info(`input ${id} runs now`);
      this.#problem = "";
    } catch (error) {
      this.#failures++;
      const problem = (error as Error).message;
      if (problem !== this.#problem)
        log.error({ error }, `${problem}; retrying, other inputs are not affected`);
      this.#problem = problem;
      await this.#input.stop();
    }
  }

  async #retry(): Promise<void> {
    const { create, clock } = this.#options;
    const { signal } = this.#stop;
    const backoff = new Backoff(RETRY);
    while (this.#problem !== "") {
      await clock.sleep(backoff.next(), signal);
      if (signal.aborted) return;
      this.#input = create();
      await this.#attempt();
    }
  }
}
