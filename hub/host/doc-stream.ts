/** Messages of DOC as a host reads them: the front sends them ahead up to the credit that the host gave. */

import type { DocEntry } from "#hub/cluster/shards/log-follower.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Position } from "#proto/position.ts";
import type { Peer } from "./wire/peer.ts";

/** One reading, from a position until its end. */
class Reading {
  readonly number: number;
  readonly queue: DocEntry[] = [];
  ended: AppError | undefined;
  #grown = Promise.withResolvers<void>();

  constructor(number: number) {
    this.number = number;
  }

  add(message: DocEntry): void {
    this.queue.push(message);
    this.#grown.resolve();
  }

  end(error: AppError): void {
    this.ended ??= error;
    this.#grown.resolve();
  }

  async grown(): Promise<void> {
    await this.#grown.promise;
    this.#grown = Promise.withResolvers();
  }
}

export class DocStream {
  readonly #front: Pick<Peer, "notify">;
  #current: Reading | undefined;
  #last = 0;

  constructor(front: Pick<Peer, "notify">) {
    this.#front = front;
  }

  /**
   * Yields messages after a position until `signal` is aborted. Throws what reading the log throws. One reading at a time:
   * the previous one must have ended.
   */
  async *read(after: Position, signal: AbortSignal): AsyncIterable<DocEntry> {
    const reading = new Reading(++this.#last);
    const abort = (): void => reading.end(new AppError("cancelled", "reading was ended"));
    this.#current = reading;
    signal.addEventListener("abort", abort, { once: true });
    this.#front.notify("read", { reading: reading.number, after });
    try {
      while (!signal.aborted) {
        const message = reading.queue.shift();
        if (message !== undefined) {
          const bytes = message.data?.length;
          yield message;
          if (bytes !== undefined) this.#front.notify("credit", { reading: reading.number, bytes });
        } else if (reading.ended === undefined) await reading.grown();
        else throw reading.ended;
      }
    } finally {
      signal.removeEventListener("abort", abort);
      this.#front.notify("stopReading", { reading: reading.number });
    }
  }

  /** Takes a message that the front has sent; null: the messages up to the position belong to other hosts. */
  take(
    { reading, position }: { readonly reading: number; readonly position: Position },
    data: Uint8Array | null,
  ): void {
    // Messages of a reading that has ended may still arrive.
    if (this.#current?.number === reading) this.#current.add({ position, data });
  }

  /** Takes the end of a reading that failed at the front. */
  fail({ reading, error }: { readonly reading: number; readonly error: AppError }): void {
    if (this.#current?.number === reading) this.#current.end(error);
  }
}
