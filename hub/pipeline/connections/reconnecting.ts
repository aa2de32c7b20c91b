/** An input that reads from a server over a connection: it is opened again, with growing waits, until the input stops. */

import type { InputContext } from "#hub/pipeline/plugins/input.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import { Backoff } from "#proto/kit/retry.ts";

const RECONNECT = { firstMs: 200, capMs: 30_000 };

/** One connection's time. */
export interface Attempt {
  /** Aborted when the input stops. */
  readonly signal: AbortSignal;
  /** Attempts since it worked last, this one not counted. */
  readonly tries: number;
  /** To be called when it reads: what failed before is over. */
  readonly working: () => void;
}

export interface ReconnectingOptions {
  readonly context: Pick<InputContext, "clock" | "failing">;
  /** Connects, reads and closes the connection again; ends or throws when the connection is gone or at the stop. */
  readonly read: (attempt: Attempt) => Promise<void>;
  /** Returns why reading failed, for people; the error's message without it. */
  readonly reason?: (error: unknown) => string;
}

export class Reconnecting implements Component {
  readonly #options: ReconnectingOptions;
  readonly #task = new BackgroundTask();

  constructor(options: ReconnectingOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#task.start((signal) => this.#run(signal));
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { context, read, reason = (error: unknown) => (error as Error).message } = this.#options;
    const backoff = new Backoff(RECONNECT);
    const working = (): void => {
      context.failing(null);
      backoff.reset();
    };
    while (!signal.aborted) {
      try {
        await read({ signal, tries: backoff.tries, working });
      } catch (error) {
        if (!signal.aborted) context.failing(reason(error));
      }
      await context.clock.sleep(backoff.next(), signal);
    }
  }
}
