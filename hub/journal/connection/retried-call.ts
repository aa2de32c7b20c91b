/** Calls that are repeated while NATS elects a leader: nobody answers then, and the new leader hasn't received them. */

import type { NatsConnection } from "@nats-io/transport-node";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { Connection } from "./connection.ts";
import { isTimeout, judge } from "./nats-errors.ts";
import { abortable, within } from "./waits.ts";

/** A cluster elects a leader within 9 s; on a busy machine it needs several attempts to place a stream. */
const DEADLINE_MS = 30_000;
/** Waits after attempts that failed at once. */
const RETRY = { firstMs: 100, capMs: 500 };

/** Time for an attempt at first. A server answers within milliseconds. */
const ATTEMPT_MS = 1_000;

/** After an election would be over, an attempt has this share of the time since then: a slow server gets enough in the end. */
const ATTEMPT_SHARE = 0.5;
const ELECTED_MS = 10_000;

/** While no attempt was answered, `firstAnswer` makes another one after this long; later the wait doubles up to the other. */
const AGAIN_MS = 500;
const LONGEST_AGAIN_MS = 10_000;

/** Why waits end that nobody needs any more. An `abort` without a reason makes an error with a stack: 5 µs, three a write. */
export const ENDED = new AppError("cancelled", "the call has ended");

/**
 * Makes an idempotent call of several requests, and repeats it while its error is temporary; `timeoutMs`: time for each
 * request. Rejects with the last error after 30 s, with the first one that isn't temporary, or with a TimeoutError if nothing
 * answered.
 */
export function retriedCall<T>(
  connection: Pick<Connection, "repeatable">,
  call: (nats: NatsConnection, timeoutMs: number) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const startMs = clock.monotonic();
  const backoff = new Backoff(RETRY);
  const attempt = (nats: NatsConnection): Promise<T> =>
    call(nats, Math.max(ATTEMPT_MS, (clock.monotonic() - startMs - ELECTED_MS) * ATTEMPT_SHARE));
  return within(DEADLINE_MS, async (signal) => {
    for (;;) {
      try {
        return await connection.repeatable(attempt, signal);
      } catch (error) {
        const isLate = clock.monotonic() - startMs >= DEADLINE_MS;
        if (signal.aborted || judge(error) !== "retry" || isLate) throw error;
        if (!isTimeout(error)) await clock.sleep(backoff.next(), signal);
        if (signal.aborted) throw error;
      }
    }
  });
}

export interface FirstAnswerOptions {
  /** Errors after which the call is made again. */
  readonly isPassing: (error: unknown) => boolean;
  /** Errors that say that an earlier call is still under way: the next one is made after the usual wait. */
  readonly isPending?: (error: unknown) => boolean;
  /** False while a call would only wait for the connection: then no further one is made. */
  readonly isConnected?: () => boolean;
  /**
   * Resolves when the server has read everything that was sent before. No further call is made until then: on a slow link it would
   * only wait behind the first one.
   */
  readonly ping?: () => Promise<unknown>;
  /** Wait before a call is made beside one without an answer, ms. */
  readonly againMs?: number;
  readonly clock?: Clock;
}

/**
 * Makes a call of one request that may be made twice, and makes it again beside those that have no answer yet: a slow server
 * answers the first one, a new leader the newest. Resolves with the first answer. Rejects with the first error that isn't
 * passing, and once `deadline` is aborted with the last one, else with its reason. `call` gets a signal that ends its wait.
 */
export async function firstAnswer<T>(
  call: (signal: AbortSignal) => Promise<T>,
  options: FirstAnswerOptions,
  deadline: AbortSignal,
): Promise<T> {
  const { isPassing, isPending, isConnected = () => true, againMs = AGAIN_MS, clock = systemClock } = options;
  const done = new AbortController();
  const signal = AbortSignal.any([deadline, done.signal]);
  const answer = Promise.withResolvers<T>();
  const backoff = new Backoff(RETRY);
  const electedMs = clock.monotonic() + ELECTED_MS;
  let waitMs = againMs;
  let lastError: unknown;
  const attempt = async (): Promise<void> => {
    try {
      answer.resolve(await call(signal));
      done.abort(ENDED);
    } catch (error) {
      if (signal.aborted) return;
      lastError = error;
      if (isPending?.(error) === true) return clock.sleep(waitMs, signal);
      if (isPassing(error)) return clock.sleep(backoff.next(), signal);
      answer.reject(error);
      done.abort(ENDED);
    }
  };
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const wait = answerTime(waitMs, options, signal);
    await (isFirst || isConnected() ? Promise.race([attempt(), wait]) : wait);
    if (clock.monotonic() >= electedMs) waitMs = Math.min(LONGEST_AGAIN_MS, 2 * waitMs);
  }
  answer.reject(lastError ?? deadline.reason);
  return answer.promise;
}

/**
 * Resolves when a call should have been answered: after `waitMs`, and not before a ping that follows it. The answer may
 * wait as long, behind what the server sends meanwhile.
 */
export async function answerTime(
  waitMs: number,
  { ping, clock = systemClock }: Pick<FirstAnswerOptions, "ping" | "clock">,
  signal: AbortSignal,
): Promise<void> {
  await clock.sleep(waitMs, signal);
  if (ping === undefined || signal.aborted) return;
  const sentMs = clock.monotonic();
  try {
    await abortable(Promise.try(ping), signal);
  } catch {
    return; // the answer is lost as well, with the connection
  }
  const tookMs = clock.monotonic() - sentMs;
  if (tookMs > waitMs) await clock.sleep(tookMs, signal);
}
