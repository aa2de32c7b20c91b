/**
 * When a batch that was refused or has no answer is sent again. The oldest batch of all is the probe: its answer ends
 * the waits of the others. It is tried often while the log may be electing a leader, and as soon as recent answers show
 * that its own was lost.
 */

import type { Clock } from "#proto/kit/clock.ts";
import type { FailureReason } from "./acknowledgement.ts";

/** Longest wait of the oldest batch after a refusal. */
const OLDEST_RETRY_MS = 500;
/**
 * While an election may last, the oldest batch is tried often. A log that takes nothing for longer is full, lacks a majority or is
 * overloaded: a thousand agents that send a batch each half second would keep it from recovering.
 */
const ELECTED_MS = 15_000;
/** The answer to the oldest batch isn't awaited for a shorter time: a server that isn't lost usually answers within some ms. */
const LEAST_ANSWER_MS = 500;
/** An answer that takes this many times longer than the slowest recent one counts as lost. */
const ANSWER_FACTOR = 4;
/** Share of the slowest answer that counts after the next one. */
const ANSWER_DECAY = 0.9;
/**
 * The log acknowledges what one connection sends in the order of sending. Where a batch that was sent so much later is
 * acknowledged, an earlier one's answer is lost with the leader that had it.
 */
const OVERTAKEN_MS = 250;

export class RetryTimes {
  readonly #clock: Clock;
  readonly #ackTimeoutMs: number;
  #slowestMs = 0;
  #failingSinceMs: number | undefined;

  /** `ackTimeoutMs`: how long the answer to a batch is awaited, ms. */
  constructor(clock: Clock, ackTimeoutMs: number) {
    this.#clock = clock;
    this.#ackTimeoutMs = ackTimeoutMs;
  }

  /** How long batches have failed without one that was stored, ms; undefined while none fails. */
  get failingMs(): number | undefined {
    const since = this.#failingSinceMs;
    return since === undefined ? undefined : this.#clock.monotonic() - since;
  }

  /** Records that a batch was refused or had no answer in time. */
  failed(): void {
    this.#failingSinceMs ??= this.#clock.monotonic();
  }

  /** Records that a batch was stored; `tookMs`: the time to its answer, null if it was sent more than once. */
  stored(tookMs: number | null): void {
    this.#failingSinceMs = undefined;
    if (tookMs !== null) this.#slowestMs = Math.max(tookMs, ANSWER_DECAY * this.#slowestMs);
  }

  /**
   * Records a second answer for a batch: it was sent again though its first answer was only late, as on a slow link.
   */
  wasLate(): void {
    this.#slowestMs = this.#ackTimeoutMs;
  }

  /** Returns how long the answer to a batch is awaited, ms. */
  answerMs(isOldest: boolean): number {
    if (!isOldest || !this.#mayElect) return this.#ackTimeoutMs;
    return Math.min(this.#ackTimeoutMs, Math.max(LEAST_ANSWER_MS, ANSWER_FACTOR * this.#slowestMs));
  }

  /** Returns the wait before a failed batch is sent again, ms; `backoffMs`: that of its lane. */
  waitMs(reason: FailureReason, backoffMs: number, isOldest: boolean): number {
    if (reason === "timeout") return 0; // it has waited
    return isOldest && this.#mayElect ? Math.min(backoffMs, OLDEST_RETRY_MS) : backoffMs;
  }

  /** Returns whether the answer to a batch is lost, as one that was sent at `laterMs` is acknowledged. */
  isOvertaken(sentAtMs: number, laterMs: number): boolean {
    return laterMs - sentAtMs >= OVERTAKEN_MS;
  }

  /** True while failures may be caused by an election. */
  get #mayElect(): boolean {
    return (this.failingMs ?? 0) < ELECTED_MS;
  }
}
