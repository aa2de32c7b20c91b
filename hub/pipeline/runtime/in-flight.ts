/** Bounds what is between the log and the sink: who reads on waits here. */

import type { WorkItem, WorkResult } from "#hub/pipeline/batch/worker-protocol.ts";

/** A single message above the limit passes when nothing else is in flight. */
export class InFlight {
  readonly #limitBytes: number;
  readonly #limitMessages: number;
  #bytes = 0;
  #messages = 0;
  #wake: PromiseWithResolvers<void> | undefined;

  constructor(limitBytes: number, limitMessages: number) {
    this.#limitBytes = limitBytes;
    this.#limitMessages = limitMessages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get messages(): number {
    return this.#messages;
  }

  /** Takes capacity for a message; resolves when there is enough, or with false when `signal` is aborted. One caller at a time. */
  async acquire(bytes: number, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && this.#isFull(bytes)) {
      this.#wake = Promise.withResolvers<void>();
      const { resolve } = this.#wake;
      const wake = (): void => resolve();
      signal.addEventListener("abort", wake, { once: true });
      await this.#wake.promise;
      signal.removeEventListener("abort", wake);
    }
    if (signal.aborted) return false;
    this.#bytes += bytes;
    this.#messages++;
    return true;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    this.#messages--;
    this.#wake?.resolve();
    this.#wake = undefined;
  }

  #isFull(bytes: number): boolean {
    if (this.#messages === 0) return false;
    return this.#messages >= this.#limitMessages || this.#bytes + bytes > this.#limitBytes;
  }
}

interface Answer {
  /** Messages (or a flush) whose results aren't durable yet. */
  pending: number;
  /** Sequence of the oldest message needed after this work. */
  readonly heldFrom: number;
}

const NOTHING = Number.POSITIVE_INFINITY;

/** Follows the answers of one thread, in their order. */
export class HeldMessages {
  readonly #answers: Answer[] = [];
  readonly #bySequence = new Map<number, Answer>();
  #durable = NOTHING;

  /** The thread has answered for these messages; `heldSequence`: the oldest it needs now. */
  answered(sequences: readonly number[], heldSequence: number | undefined): void {
    const answer = { pending: sequences.length, heldFrom: heldSequence ?? NOTHING };
    this.#answers.push(answer);
    for (const sequence of sequences) this.#bySequence.set(sequence, answer);
    this.#settle();
  }

  /** All that a message led to is durable. */
  finished(sequence: number): void {
    const answer = this.#bySequence.get(sequence);
    if (answer === undefined) return;
    this.#bySequence.delete(sequence);
    answer.pending--;
    this.#settle();
  }

  /** Sequence that cursors must stay below; infinity where nothing is held. */
  get heldFrom(): number {
    return this.#answers.reduce((lowest, { heldFrom }) => Math.min(lowest, heldFrom), this.#durable);
  }

  #settle(): void {
    for (let first = this.#answers[0]; first?.pending === 0; first = this.#answers[0]) {
      this.#durable = first.heldFrom;
      this.#answers.shift();
    }
  }
}

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

  /** Passes on what is together. */
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
