/** The tails of the streams whose readers take from memory what this process stores. */

import type { Connection } from "#hub/journal/connection/connection.ts";
import type { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { type PublishedMessage, PublishedTail } from "./published-tail.ts";

export class PublishedTails {
  readonly #clock: Clock;
  readonly #tails = new Map<string, PublishedTail>();

  constructor(connection: Connection, clock: Clock, metrics: JournalMetrics) {
    this.#clock = clock;
    metrics.tails(() => [...this.#tails].map(([stream, { sizeBytes }]) => ({ stream, sizeBytes })));
    connection.onChange(() => {
      for (const tail of this.#tails.values()) tail.cut();
    });
  }

  /** Returns the stream's tail, which is filled from now on. */
  of(stream: string): PublishedTail {
    let tail = this.#tails.get(stream);
    if (tail === undefined) {
      tail = new PublishedTail(this.#clock);
      this.#tails.set(stream, tail);
    }
    return tail;
  }

  /** Adds a message to the tail of its stream, if there is one. */
  add(stream: string, message: Omit<PublishedMessage, "timeMs">): void {
    this.#tails.get(stream)?.add({ ...message, timeMs: this.#clock.now() });
  }

  /** Stops keeping messages of the stream. */
  end(stream: string): void {
    this.#tails.get(stream)?.cut();
    this.#tails.delete(stream);
  }

  /** Ends all tails. */
  clear(): void {
    for (const stream of this.#tails.keys()) this.end(stream);
  }
}
