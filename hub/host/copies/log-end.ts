/** The end of the log, read once for all callers that ask at the same time. */

import type { Position } from "#proto/position.ts";

export class LogEnd {
  readonly #read: () => Promise<Position>;
  #running: Promise<Position> | undefined;
  #next: Promise<Position> | undefined;

  /** `read` returns the position of the last message of the log. */
  constructor(read: () => Promise<Position>) {
    this.#read = read;
  }

  /** Returns a position at or after every message that was stored before the call. Throws what reading throws. */
  position(): Promise<Position> {
    // A reading that is under way may have begun before the caller's message was stored.
    if (this.#running !== undefined) {
      this.#next ??= this.#running.then(
        () => this.#begin(),
        () => this.#begin(),
      );
      return this.#next;
    }
    return this.#begin();
  }

  #begin(): Promise<Position> {
    this.#next = undefined;
    const running = this.#read().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
