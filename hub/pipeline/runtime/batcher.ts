/** Gathers messages until a batch is full or has waited long enough, as `pipeline.batch.size` and `.delay` say. */

import type { WorkItem, WorkResult } from "#hub/pipeline/batch/worker-protocol.ts";

interface BatcherOptions {
  /** Events that a batch holds before it is passed on. */
  readonly size: number;
  /** Longest wait of a message for its batch to fill, ms. */
  readonly delayMs: number;
  /** Processes the messages of a batch; the results come in the same order. */
  readonly run: (items: readonly WorkItem[]) => Promise<readonly WorkResult[]>;
}

interface Pending {
  readonly item: WorkItem;
  readonly resolve: (result: WorkResult) => void;
  readonly reject: (error: unknown) => void;
}

export class Batcher {
  readonly #options: BatcherOptions;
  #pending: Pending[] = [];
  #events = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  /** Adds a message of about `events` events; resolves with what it became. */
  add(item: WorkItem, events: number): Promise<WorkResult> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ item, resolve, reject });
      this.#events += events;
      if (this.#events >= this.#options.size) this.flush();
      else this.#timer ??= setTimeout(() => this.flush(), this.#options.delayMs);
    });
  }

  /** Runs the pending batch. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#pending;
    if (batch.length === 0) return;
    this.#pending = [];
    this.#events = 0;
    this.#options.run(batch.map(({ item }) => item)).then(
      (results) => {
        for (const [place, { resolve }] of batch.entries()) resolve(results[place]!);
      },
      (error: unknown) => {
        for (const { reject } of batch) reject(error);
      },
    );
  }
}
