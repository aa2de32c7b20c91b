/** What inputs without files share: their place in the output, and what they tell of themselves. */

import { EventBatcher } from "#agent/batcher.ts";
import type { InputContext, InputState } from "./input.ts";

/** Messages of one stream input on their way into batches. */
export class StreamSink {
  readonly #context: InputContext;
  readonly #batcher: EventBatcher;
  #errors = 0;
  #lastError = "";

  constructor(type: string, context: InputContext) {
    this.#context = context;
    this.#batcher = new EventBatcher(type, context);
  }

  get maxMessageBytes(): number {
    return this.#batcher.maxMessageBytes;
  }

  /** Takes a message, waiting for a place; for inputs that can hold up their sender. */
  async put(message: Uint8Array, fieldsJson: Uint8Array): Promise<void> {
    while (!this.#batcher.add({ message, timeMs: this.#context.clock.now(), fieldsJson })) {
      if (this.#batcher.stopped) {
        this.#context.metrics.dropped.inc({ input: this.#context.id });
        return;
      }
      await this.#batcher.whenReady();
    }
  }

  /** Takes a message or counts it as dropped; for inputs whose sender can't be held up. */
  offer(message: Uint8Array, fieldsJson: Uint8Array): boolean {
    const taken = this.#batcher.add({ message, timeMs: this.#context.clock.now(), fieldsJson });
    if (!taken) this.#context.metrics.dropped.inc({ input: this.#context.id });
    return taken;
  }

  /** Makes ready to take messages. */
  open(): Promise<void> {
    return this.#batcher.whenReady();
  }

  /** Sends what is there; takes nothing any more. */
  close(): void {
    this.#batcher.stop();
  }

  /** Counts a failure and logs it. */
  fail(text: string, error: unknown): void {
    this.#errors++;
    this.#lastError = `${text}: ${(error as Error).message}`;
    this.#context.metrics.errors.inc({ input: this.#context.id });
    this.#context.log.warn({ error }, text);
  }

  state(): InputState {
    return {
      files: 0,
      linesRead: this.#batcher.events,
      bytesRead: this.#batcher.bytes,
      lagBytes: this.#batcher.unackedBytes,
      openDeletedBytes: 0,
      errors: this.#errors,
      lastError: this.#lastError,
    };
  }
}

/** Fields that tell where a message came from. */
export function peerFields(address: string | undefined, port: number | undefined): Uint8Array {
  if (address === undefined) return new Uint8Array();
  return Buffer.from(JSON.stringify({ log: { source: { address: `${address}:${port ?? 0}` } } }));
}
