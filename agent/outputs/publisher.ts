/**
 * Publishes batches to the RAW stream at least once. A batch keeps its bytes and its message id until the stream has
 * acknowledged it. After a failure the batches of its lane are resent one by one, in order; after a reconnect all
 * unacknowledged ones are resent at once. Once a new leader of the log acknowledges one, the others follow at once.
 */

import { randomBytes } from "node:crypto";
import type { OutputState } from "#agent/contract/output.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Histogram, Metrics } from "#proto/kit/metrics.ts";
import { batchMessageId } from "#proto/subjects.ts";
import { type Acknowledgement, explain, type FailureReason } from "./acknowledgement.ts";
import type { Lane, Pending, Sendable } from "./lane.ts";
import { RetryTimes } from "./retry-times.ts";

/** The part of the connection that the publisher needs. */
export interface Wire {
  readonly connected: boolean;
  /** Sends a message; the answer is passed to `acknowledge` with its number and attempt. Throws if it can't be sent at all. */
  publish(message: WireMessage): void;
}

/** A message in flight. */
export interface WireMessage {
  readonly subject: string;
  readonly data: Buffer;
  readonly messageId: string;
  readonly number: number;
  /** From 1. */
  readonly attempt: number;
  /** The slot's buffer, for the first attempt: bytes of it around `data` may be written until the answer comes. */
  readonly frame: Buffer | null;
}

/** The last acknowledgement, for the watermark. */
export interface LastAck {
  readonly sequence: number;
  readonly messageId: string;
}

export interface PublisherOptions {
  readonly agentId: string;
  readonly epoch: number;
  /** Makes message ids that other senders can't guess; a random one without it. */
  readonly secret?: string;
  readonly ackTimeoutMs: number;
  /** Called with each acknowledged batch. */
  readonly onAck: (ack: LastAck) => void;
  /** Called when the stream answers with a sequence that it had assigned before. */
  readonly onRollback: (sequence: number, floor: number) => void;
  /** Called when a message id was used by another sender; returns an epoch that was never used. Throws if it can't be written. */
  readonly renewEpoch: () => number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Interval of the checks of time limits. */
const SWEEP_MS = 100;
/** Failures that say that the log may still store what was sent. */
const LATE: ReadonlySet<FailureReason> = new Set(["timeout", "in_process"]);
/** Failures in a row are logged after this time, so that a restart of the hub logs nothing. */
const UNHEALTHY_AFTER_MS = 5_000;

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #wire: Wire;
  readonly #pending = new Map<number, Pending>();
  readonly #recovering = new Set<Lane>();
  #epoch: number;
  readonly #secret: string;
  #number = 0;
  #highest = 0;
  #sweeper: NodeJS.Timeout | undefined;
  readonly #times: RetryTimes;
  #onDrained: (() => void)[] = [];
  #lastFailure: { readonly reason: FailureReason; readonly text: string } | undefined;
  #ackedBytes = 0;
  readonly #acks: Counter;
  readonly #bytes: Counter;
  readonly #retries: Counter<"reason">;
  readonly #latency: Histogram;

  constructor(wire: Wire, options: PublisherOptions) {
    this.#wire = wire;
    this.#options = options;
    this.#epoch = options.epoch;
    this.#times = new RetryTimes(options.clock, options.ackTimeoutMs);
    this.#secret = options.secret ?? randomBytes(12).toString("base64url");
    const { metrics } = options;
    this.#acks = metrics.counter("tailrace_agent_batches_acked_total", "Batches accepted by the hub's log.");
    this.#bytes = metrics.counter(
      "tailrace_agent_bytes_acked_total",
      "Bytes of log data accepted by the hub's log.",
    );
    this.#retries = metrics.counter("tailrace_agent_publish_retries_total", "Batches sent again.", [
      "reason",
    ]);
    this.#latency = metrics.histogram(
      "tailrace_agent_publish_seconds",
      "Time from sending a batch to its acknowledgement.",
    );
    metrics.gauge("tailrace_agent_batches_in_flight", "Batches sent and not yet acknowledged.", [], (gauge) =>
      gauge.set(this.#pending.size),
    );
  }

  /** Bytes of log data acknowledged since the start. */
  get ackedBytes(): number {
    return this.#ackedBytes;
  }

  /** Sends a batch after the others of its lane; the slot is released and the batch settled when it is acknowledged. */
  send(lane: Lane, sendable: Sendable): void {
    const number = ++this.#number;
    const pending = {
      sendable,
      lane,
      number,
      messageId: this.#messageId(number),
      message: sendable.encode(this.#epoch, number),
      attempts: 0,
      sentAtMs: 0,
      floor: this.#highest,
    };
    this.#pending.set(number, pending);
    lane.pending.push(pending);
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS);
    if (!lane.recovering && this.#wire.connected) this.#transmit(pending);
  }

  /** Takes the stream's answer to an attempt of batch `number`. */
  acknowledge(number: number, attempt: number, answer: Acknowledgement): void {
    const pending = this.#pending.get(number);
    if (pending === undefined) {
      this.#times.wasLate(); // an answer to an earlier attempt came first
      return;
    }
    if (answer.kind === "failed") this.#fail(pending, answer.reason, answer.text);
    else if (answer.duplicate && pending.attempts === 1) this.#renumber(pending);
    else this.#take(pending, attempt, answer.sequence);
  }

  /** Sends everything unacknowledged again, in order: answers to earlier attempts are lost with the connection. */
  reconnected(): void {
    for (const pending of this.#pending.values()) {
      if (pending.attempts > 0) this.#retries.inc({ reason: "reconnect" });
    }
    for (const lane of this.#recovering) endRecovery(lane);
    this.#recovering.clear();
    for (const pending of this.#pending.values()) {
      if (!pending.lane.recovering) this.#transmit(pending);
    }
  }

  /** Forgets the acknowledged sequences: the stream has begun again. */
  forgetSequences(): void {
    this.#highest = 0;
    for (const pending of this.#pending.values()) pending.floor = 0;
  }

  /** Resolves when nothing is pending or `signal` is aborted. */
  drained(signal: AbortSignal): Promise<void> {
    if (this.#pending.size === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener("abort", done);
        resolve();
      };
      signal.addEventListener("abort", done, { once: true });
      this.#onDrained.push(done);
    });
  }

  /** Ends the timers; pending batches stay unsettled. */
  stop(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  state(): OutputState {
    const late = (this.#times.failingMs ?? 0) > UNHEALTHY_AFTER_MS;
    const failure = this.#lastFailure;
    if (!late || failure === undefined) return { healthy: true, reason: "" };
    return { healthy: false, reason: failure.text, isLogFull: failure.reason === "full" };
  }

  /** Takes the sequence that the stream gave a batch. */
  #take(pending: Pending, attempt: number, sequence: number): void {
    if (sequence <= pending.floor) {
      this.#options.onRollback(sequence, pending.floor);
      this.forgetSequences();
    }
    this.#highest = Math.max(this.#highest, sequence);
    const { lane, attempts } = pending;
    this.#settle(pending, sequence);
    // The answer to an earlier attempt was only late, and those to the batches that were sent after that one may be, too.
    const wasLate = attempt < attempts;
    if (lane.recovering && wasLate && !lane.refused) this.#resume(lane);
    else if (lane.recovering) this.#recover(lane);
    this.#retryWaiting();
    if (!wasLate) this.#retryOvertaken(pending);
  }

  #transmit(pending: Pending): void {
    const { number, messageId, message: data, lane, sendable } = pending;
    const frame = pending.attempts === 0 ? sendable.slot.buffer : null;
    const attempt = ++pending.attempts;
    pending.sentAtMs = this.#options.clock.monotonic();
    try {
      this.#wire.publish({ subject: lane.subject, data, messageId, number, attempt, frame });
    } catch (error) {
      this.#fail(pending, "refused", (error as Error).message);
    }
  }

  #fail(pending: Pending, reason: FailureReason, text: string): void {
    const { lane } = pending;
    this.#retries.inc({ reason });
    if (this.#times.failingMs === undefined) {
      this.#options.log.info({ reason, subject: lane.subject }, `batch not accepted, retrying: ${text}`);
    }
    this.#times.failed();
    this.#lastFailure = { reason, text };
    lane.recovering = true;
    lane.refused ||= !LATE.has(reason);
    this.#recovering.add(lane);
    if (lane.retryAtMs !== Number.POSITIVE_INFINITY) return;
    const waitMs = this.#times.waitMs(reason, lane.backoff.next(), pending.number === this.#oldest);
    lane.retryAtMs = this.#options.clock.monotonic() + waitMs;
  }

  get #oldest(): number | undefined {
    return this.#pending.keys().next().value;
  }

  #settle(pending: Pending, sequence: number): void {
    const { lane, sendable } = pending;
    this.#pending.delete(pending.number);
    lane.pending.splice(lane.pending.indexOf(pending), 1);
    lane.backoff.reset();
    this.#acks.inc();
    this.#bytes.inc(sendable.bodyBytes);
    this.#ackedBytes += sendable.bodyBytes;
    const tookMs = this.#options.clock.monotonic() - pending.sentAtMs;
    this.#latency.observe(tookMs / 1_000);
    this.#times.stored(pending.attempts === 1 ? tookMs : null);
    this.#options.onAck({ sequence, messageId: pending.messageId });
    sendable.settle();
    sendable.slot.release();
    if (this.#pending.size > 0) return;
    for (const done of this.#onDrained.splice(0)) done();
  }

  /** Sends the oldest batch of a lane that failed; the next follows when it is acknowledged. */
  #recover(lane: Lane): void {
    lane.retryAtMs = Number.POSITIVE_INFINITY;
    const first = lane.pending[0];
    if (first === undefined) {
      this.#resume(lane);
    } else if (this.#wire.connected) {
      this.#transmit(first);
    }
  }

  /** Ends the recovery of a lane without batches, or whose oldest one was only late: what was sent after that needs no retry. */
  #resume(lane: Lane): void {
    endRecovery(lane);
    this.#recovering.delete(lane);
    for (const pending of lane.pending)
      if (pending.attempts === 0 && this.#wire.connected && !lane.recovering) this.#transmit(pending);
  }

  /** Sends the batches again that wait for a retry. */
  #retryWaiting(): void {
    for (const lane of this.#recovering) if (Number.isFinite(lane.retryAtMs)) this.#recover(lane);
  }

  /** Sends the batches again that wait for an answer that would have come before the one to the last attempt of `acked`. */
  #retryOvertaken(acked: Pending): void {
    for (const pending of this.#pending.values()) {
      if (!this.#isAwaited(pending) || !this.#times.isOvertaken(pending.sentAtMs, acked.sentAtMs)) continue;
      this.#retries.inc({ reason: "timeout" });
      this.#transmit(pending);
    }
  }

  /** True for a batch that was sent and isn't answered. */
  #isAwaited(pending: Pending): boolean {
    const { attempts, lane } = pending;
    const isSent = attempts > 0 && lane.retryAtMs === Number.POSITIVE_INFINITY;
    return isSent && (!lane.recovering || lane.pending[0] === pending);
  }

  #sweep(): void {
    // Not at the acknowledgement: the next batch is usually sent before the next sweep.
    if (this.#pending.size === 0) this.stop();
    if (!this.#wire.connected) return;
    const now = this.#options.clock.monotonic();
    const oldest = this.#oldest;
    for (const pending of this.#pending.values()) {
      const limitMs = this.#times.answerMs(pending.number === oldest);
      if (this.#isAwaited(pending) && now - pending.sentAtMs > limitMs)
        this.#fail(pending, "timeout", explain("timeout"));
    }
    for (const lane of this.#recovering) if (lane.retryAtMs <= now) this.#recover(lane);
  }

  /** The stream has this id already although the message was sent once: it stores another sender's data under it. */
  #renumber(pending: Pending): void {
    try {
      this.#epoch = this.#options.renewEpoch();
    } catch (error) {
      pending.attempts = 0; // after a second one, a duplicate would count as this batch, which isn't stored
      this.#fail(pending, "refused", `no new epoch can be written: ${(error as Error).message}`);
      return;
    }
    this.#options.log.warn(
      { messageId: pending.messageId, epoch: this.#epoch },
      "the hub's log has this message id from another sender; is the agent's data folder a copy? Continuing with a new epoch",
    );
    this.#pending.delete(pending.number);
    pending.number = ++this.#number;
    pending.messageId = this.#messageId(pending.number);
    pending.attempts = 0;
    pending.message = pending.sendable.encode(this.#epoch, pending.number);
    this.#pending.set(pending.number, pending);
    if (this.#wire.connected) this.#transmit(pending);
  }

  #messageId(number: number): string {
    return batchMessageId(this.#options.agentId, this.#epoch, number, this.#secret);
  }
}

function endRecovery(lane: Lane): void {
  lane.recovering = false;
  lane.refused = false;
  lane.retryAtMs = Number.POSITIVE_INFINITY;
}
