/**
 * The newest messages that this process stored in a stream. They are kept until its own reader has them, which saves reading
 * them back from the server. Messages are ordered by the sequence of their acknowledgement; the reader takes only those that
 * follow without a gap and reads all others from the server.
 */

import { setImmediate } from "node:timers/promises";
import type { Connection } from "#hub/journal/connection/connection.ts";
import type { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";
import type { Clock } from "#proto/kit/clock.ts";

/** A message as it was stored. */
export interface PublishedMessage {
  readonly subject: string;
  readonly sequence: number;
  readonly data: Uint8Array;
  readonly messageId: string;
  /** Approximately when the stream stored it, ms since 1970. */
  readonly timeMs: number;
}

/** Maximum bytes kept: a few requests. The rest is read from the server. */
const LIMIT_BYTES = 32 * 1024 ** 2;

/**
 * This many acknowledgements without a gap in this time show that no other process is storing at the same time: where others do, a
 * reader would change between memory and a consumer several times a second, and a new consumer needs a cluster that has a leader.
 */
const RUN = 8;
const RUN_MS = 1_000;

/** Acknowledgements arrive in order, except for messages that were sent a second time. */
const HOLE_MS = 50;

/** Silence after which the reader checks the server for messages of other processes. */
const QUIET_MS = 250;

/** Time in one run after which the reader yields to the event loop. */
const TURN_MS = 10;

/** Serves one reader. */
export class PublishedTail {
  readonly #clock: Clock;
  readonly #messages = new Map<number, PublishedMessage>();
  #bytes = 0;
  #cuts = 0;
  /** Sequence of the last acknowledgement, the length of its gapless run, when that began, and when it arrived. */
  #last = 0;
  #run = 0;
  #runSinceMs = 0;
  #lastAtMs = 0;
  /** Sequence up to which the reader has everything. */
  #passed = 0;
  #grown = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Bytes kept now. */
  get sizeBytes(): number {
    return this.#bytes;
  }

  /** Number of times that everything was dropped. */
  get cuts(): number {
    return this.#cuts;
  }

  /** Keeps a message that was acknowledged as new. Its bytes must not change afterwards. */
  add(message: PublishedMessage): void {
    const { sequence, data } = message;
    this.#lastAtMs = this.#clock.monotonic();
    if (this.#run === 0 || sequence !== this.#last + 1) [this.#run, this.#runSinceMs] = [0, this.#lastAtMs];
    this.#run++;
    this.#last = sequence;
    if (sequence <= this.#passed || this.#bytes + data.length > LIMIT_BYTES) return;
    this.#drop(sequence);
    this.#messages.set(sequence, message);
    this.#bytes += data.length;
    this.#wake();
  }

  has(sequence: number): boolean {
    return this.#messages.has(sequence);
  }

  /** Records that the reader has received a message from the server. */
  passed(sequence: number): void {
    this.#passed = sequence;
    this.#drop(sequence);
  }

  /** Returns true if a reader that needs `next` finds it here, or will find it here as soon as it is stored. */
  canServe(next: number): boolean {
    const nowMs = this.#clock.monotonic();
    if (this.#run < RUN || nowMs - this.#runSinceMs < RUN_MS || nowMs - this.#lastAtMs > QUIET_MS)
      return false;
    return this.has(next) || next === this.#last + 1;
  }

  /** Drops everything: after a connection change the stream's content is unknown. */
  cut(): void {
    this.#cuts++;
    this.#messages.clear();
    this.#bytes = 0;
    this.#run = 0;
    this.#passed = 0;
    this.#wake();
  }

  /**
   * Yields the messages from `next` on, until one is missing, nothing arrived for a while, or everything was dropped.
   */
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
          if (!(await this.#arrives(sequence, signal))) return;
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

  /** Resolves with true when `sequence` has arrived, with false if it doesn't arrive. */
  async #arrives(sequence: number, signal: AbortSignal): Promise<boolean> {
    const cuts = this.#cuts;
    const startMs = this.#clock.monotonic();
    let holeMs = Number.POSITIVE_INFINITY;
    const over = new AbortController();
    const looking = this.#wakeRegularly(over.signal);
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

  /** Wakes the waiting reader periodically to check the time. */
  async #wakeRegularly(signal: AbortSignal): Promise<void> {
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
