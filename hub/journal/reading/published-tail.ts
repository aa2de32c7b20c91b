/**
 * The newest messages that this process stored in a stream, kept until its own reader has them: what was acknowledged
 * needn't be sent back. A message has its place by the sequence of its acknowledgement; the reader takes only what
 * follows without a hole and asks the server for everything else.
 */

import { setImmediate } from "node:timers/promises";
import type { Clock } from "#proto/kit/clock.ts";

/** A message as it was stored. */
export interface PublishedMessage {
  readonly subject: string;
  readonly sequence: number;
  readonly data: Uint8Array;
  readonly messageId: string;
  /** About when the stream took it, ms since 1970. */
  readonly timeMs: number;
}

/** Bytes kept: some requests' worth. What comes beyond is read from the server. */
const LIMIT_BYTES = 32 * 1024 ** 2;

/** So many acknowledgements without a hole show that nobody else stores at the same time. */
const RUN = 8;

/** Acknowledgements come in order, but for those of messages that were sent a second time. */
const HOLE_MS = 50;

/** How long nothing must come before the reader asks the server whether others have stored something. */
const QUIET_MS = 250;

/** Others get their turn when messages were handed out for so long. */
const TURN_MS = 10;

/** For one reader. */
export class PublishedTail {
  readonly #clock: Clock;
  readonly #messages = new Map<number, PublishedMessage>();
  #bytes = 0;
  #cuts = 0;
  /** Sequence of the last acknowledgement, the length of the run it ends, and when it came. */
  #last = 0;
  #run = 0;
  #lastAtMs = 0;
  /** The reader has everything up to here. */
  #passed = 0;
  #grown = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Bytes kept now. */
  get sizeBytes(): number {
    return this.#bytes;
  }

  /** Number of times that all was forgotten. */
  get cuts(): number {
    return this.#cuts;
  }

  /** Keeps a message that was acknowledged as a new one. Its bytes must not change any more. */
  add(message: PublishedMessage): void {
    const { sequence, data } = message;
    this.#run = sequence === this.#last + 1 ? this.#run + 1 : 1;
    this.#last = sequence;
    this.#lastAtMs = this.#clock.monotonic();
    if (sequence <= this.#passed || this.#bytes + data.length > LIMIT_BYTES) return;
    this.#drop(sequence);
    this.#messages.set(sequence, message);
    this.#bytes += data.length;
    this.#wake();
  }

  has(sequence: number): boolean {
    return this.#messages.has(sequence);
  }

  /** Notes that the reader has got a message from the server. */
  passed(sequence: number): void {
    this.#passed = sequence;
    this.#drop(sequence);
  }

  /** Whether a reader that needs `next` finds it here, or will as soon as it is stored. */
  goesOn(next: number): boolean {
    if (this.#run < RUN || this.#clock.monotonic() - this.#lastAtMs > QUIET_MS) return false;
    return this.has(next) || next === this.#last + 1;
  }

  /** Forgets all: the connection changed, and who knows what the stream holds now. */
  cut(): void {
    this.#cuts++;
    this.#messages.clear();
    this.#bytes = 0;
    this.#run = 0;
    this.#passed = 0;
    this.#wake();
  }

  /** Yields the messages from `next` on, until one is missing, nothing came for a while, or all was cut. */
  async *follow(next: number, signal: AbortSignal): AsyncGenerator<PublishedMessage, void, void> {
    const cuts = this.#cuts;
    const wake = (): void => this.#wake();
    signal.addEventListener("abort", wake, { once: true });
    this.#forgetBelow(next);
    let turnMs = this.#clock.monotonic();
    try {
      for (let sequence = next; !signal.aborted && this.#cuts === cuts; ) {
        const message = this.#messages.get(sequence);
        if (message === undefined) {
          if (!(await this.#comes(sequence, signal))) return;
          turnMs = this.#clock.monotonic();
          continue;
        }
        this.passed(sequence++);
        yield message;
        if (this.#clock.monotonic() - turnMs < TURN_MS) continue;
        await setImmediate();
        turnMs = this.#clock.monotonic();
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  /** Resolves with true as soon as `sequence` is there, with false where it doesn't come. */
  async #comes(sequence: number, signal: AbortSignal): Promise<boolean> {
    const cuts = this.#cuts;
    const startMs = this.#clock.monotonic();
    let holeMs = Number.POSITIVE_INFINITY;
    const over = new AbortController();
    const looking = this.#lookAgain(over.signal);
    try {
      while (!this.has(sequence)) {
        const nowMs = this.#clock.monotonic();
        if (this.#messages.size > 0) holeMs = Math.min(holeMs, nowMs);
        const isLate = nowMs - startMs >= QUIET_MS || nowMs - holeMs >= HOLE_MS;
        if (isLate || signal.aborted || this.#cuts !== cuts) return false;
        await this.#grown.promise;
      }
      return true;
    } finally {
      over.abort();
      await looking;
    }
  }

  /** Wakes the reader every now and then, so that it sees the time. */
  async #lookAgain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(HOLE_MS, signal);
      this.#wake();
    }
  }

  #wake(): void {
    this.#grown.resolve();
    this.#grown = Promise.withResolvers();
  }

  #forgetBelow(next: number): void {
    for (const sequence of this.#messages.keys()) if (sequence < next) this.#drop(sequence);
  }

  #drop(sequence: number): void {
    const message = this.#messages.get(sequence);
    if (message === undefined) return;
    this.#messages.delete(sequence);
    this.#bytes -= message.data.length;
  }
}
