/**
 * Threads that parse and pack large bodies, so that the main thread can serve other requests meanwhile. A body's memory is
 * handed over once and stays with its thread. Jobs are short: if the client has left or the deadline has passed, the next
 * job isn't started. Threads start with the first body and end after a while without any.
 */

import { availableParallelism } from "node:os";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";
import type { LentBody } from "./append-run.ts";
import { BodyThread } from "./body-thread-client.ts";

/** For bodies of at most so many bytes the transfer costs more than it saves. */
const SMALL_BODY_BYTES = MIB;

/** A thread without bodies uses some 40 MiB. */
const IDLE_MS = 60_000;
/** Cores per thread, and the maximum of threads. */
const CORES_PER_THREAD = 4;
const MAX_THREADS = 4;

export interface BodyThreadsOptions {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Number of threads; without it the machine's cores decide. */
  readonly count?: number;
  /** Time without bodies after which a thread ends, ms. */
  readonly idleMs?: number;
  /** The thread's module instead of its own, for tests. */
  readonly script?: URL;
  /** See BodyThreads.smallBytes; for tests. */
  readonly smallBytes?: number;
}

export class BodyThreads implements Component {
  /** Only bodies of more bytes are worth lending. */
  readonly smallBytes: number;
  readonly #options: BodyThreadsOptions;
  readonly #count: number;
  readonly #threads = new Set<BodyThread>();
  readonly #lost: Counter;
  #isStopped = false;

  constructor(options: BodyThreadsOptions) {
    this.#options = options;
    this.smallBytes = options.smallBytes ?? SMALL_BODY_BYTES;
    const byCores = Math.floor(availableParallelism() / CORES_PER_THREAD);
    this.#count = options.count ?? Math.min(MAX_THREADS, Math.max(1, byCores));
    const { metrics } = options;
    const help = "threads for large bodies that ended with bodies; the requests failed";
    this.#lost = metrics.counter("tailrace_bodies_threads_lost_total", help);
    metrics.gauge("tailrace_bodies_threads", "threads for large bodies that run", [], (gauge) =>
      gauge.set(this.#threads.size),
    );
    metrics.gauge("tailrace_bodies_lent", "large bodies that threads have", [], (gauge) =>
      gauge.set([...this.#threads].reduce((sum, { bodies }) => sum + bodies, 0)),
    );
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Ends the threads; waiting and running requests fail with closed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  /** Hands over a body with all of the memory that it is part of; the buffer is empty here from now on. Throws closed. */
  lend(body: Buffer): LentBody {
    if (this.#isStopped) throw new AppError("closed", "the hub is stopping");
    // The budget of bodies in memory bounds how many there are.
    return this.#freest().lend(body);
  }

  /** Returns the thread with the fewest bodies; a new one while there may be more and all have some. */
  #freest(): BodyThread {
    let freest: BodyThread | undefined;
    for (const thread of this.#threads)
      if (freest === undefined || thread.bodies < freest.bodies) freest = thread;
    const isTaken = freest === undefined || freest.bodies > 0;
    return isTaken && this.#threads.size < this.#count ? this.#spawn() : freest!;
  }

  #spawn(): BodyThread {
    const { script = new URL("./body-thread.ts", import.meta.url), idleMs = IDLE_MS, log } = this.#options;
    const thread = new BodyThread({
      script,
      seed: threadKernel().seed,
      idleMs,
      onEnd: (lostBodies, cause) => {
        this.#threads.delete(thread);
        if (lostBodies === 0 || this.#isStopped) return;
        this.#lost.inc();
        const text = "a thread for large bodies was lost, and the requests of its bodies failed";
        log.error({ err: cause, bodies: lostBodies }, text);
      },
    });
    this.#threads.add(thread);
    return thread;
  }
}
