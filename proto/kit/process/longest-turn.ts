/** Measures how long one piece of work occupies a thread, while other work of its event loop waits. */

import type { Metrics } from "#proto/kit/metrics.ts";

/** Interval in which the event loop's delay is sampled. */
const RESOLUTION_MS = 10;

/** Interval of the looks at how long the thread was active. */
const LOOK_MS = 100;
/** Processor time between two looks up to which the thread counts as quiet. On a busy machine it may be active for longer. */
const QUIET_CPU_MS = 20;
/** Quiet looks after which the sampling ends: 2 s. Work that comes each 5 s must not keep it on. */
const QUIET_LOOKS = 20;

/** Samples of the event loop's delay. */
export interface DelaySampler {
  start(): void;
  /** Returns the longest delay since the start or the last call, ms; 0 without a sample. */
  takeMs(): number;
  stop(): void;
}

/**
 * The longest turn of a thread. Each sample wakes the thread, which would be most of the work of one at rest. Thus a thread is
 * sampled from the first work on until it has been quiet for 2 s. While it isn't sampled, all its work between two looks
 * counts as one turn, which is longer than the real one by less than the interval of the looks.
 */
export class LongestTurn {
  readonly #sampler: DelaySampler;
  #quietLooks = QUIET_LOOKS;
  #longestMs = 0;

  constructor(sampler: DelaySampler) {
    this.#sampler = sampler;
  }

  /** How long the thread has been active since the last look, and how much processor time it got. */
  look(activeMs: number, cpuMs: number): void {
    const isSampled = this.#quietLooks < QUIET_LOOKS;
    this.#longestMs = Math.max(this.#longestMs, isSampled ? this.#sampler.takeMs() : activeMs);
    this.#quietLooks = cpuMs > QUIET_CPU_MS ? 0 : this.#quietLooks + 1;
    if (!isSampled && this.#quietLooks === 0) this.#sampler.start();
    else if (isSampled && this.#quietLooks === QUIET_LOOKS) this.#sampler.stop();
  }

  /** Returns the longest turn since the last call, ms. */
  takeMs(): number {
    const longestMs = this.#longestMs;
    this.#longestMs = 0;
    return longestMs;
  }
}

/**
 * Exports how long the calling thread was held at most since the metrics were read last, as
 * `tailrace_<thread>_longest_turn_seconds`; of several threads the longest. Where two read the metrics, each sees a part.
 */
export function exportLongestTurn(metrics: Metrics, thread: "hub" | "host"): void {
  const turn = new LongestTurn(new TimerSampler());
  let before = performance.eventLoopUtilization();
  let cpuBefore = process.threadCpuUsage();
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const cpuNow = process.threadCpuUsage();
    const cpuUs = cpuNow.user + cpuNow.system - cpuBefore.user - cpuBefore.system;
    turn.look(performance.eventLoopUtilization(now, before).active, cpuUs / 1_000);
    cpuBefore = cpuNow;
    before = now;
  };
  setInterval(look, LOOK_MS).unref();
  const help = "Longest time that one turn of the event loop took since the last read of the metrics.";
  metrics.maximum(`tailrace_${thread}_longest_turn_seconds`, help, () => {
    look();
    return turn.takeMs() / 1_000;
  });
}

/**
 * Samples the delay by a timer of the thread. Unlike the samples of Node's histogram, which starts over when it is
 * read, none of the time between two samples is left out.
 */
export class TimerSampler implements DelaySampler {
  #timer: NodeJS.Timeout | undefined;
  #lastMs = 0;
  #longestMs = 0;

  start(): void {
    this.#lastMs = performance.now();
    this.#longestMs = 0;
    this.#timer = setInterval(() => this.#sample(), RESOLUTION_MS).unref();
  }

  takeMs(): number {
    this.#sample();
    const longestMs = this.#longestMs;
    this.#longestMs = 0;
    return longestMs;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const nowMs = performance.now();
    // The interval of the samples is part of what is measured.
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#lastMs - RESOLUTION_MS);
    this.#lastMs = nowMs;
  }
}
