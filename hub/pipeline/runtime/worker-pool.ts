/** The pipeline's threads. A thread that dies is replaced, and its work is repeated. */

import { Worker } from "node:worker_threads";
import type { PipelineStatistics } from "#hub/pipeline/batch/plugin-statistics.ts";
import {
  READY,
  SLOW,
  STATISTICS,
  type WorkerSettings,
  type WorkItem,
  type WorkRequest,
  type WorkResponse,
} from "#hub/pipeline/batch/worker-protocol.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";

/** Requests posted to a thread at a time: the second keeps it busy while the first one's answer travels. */
const POSTED_PER_WORKER = 2;

/** A message that ended a thread, or failed, this many times is given up. */
const MAX_ATTEMPTS = 3;

/** A filter that uses too much memory ends its thread, not the hub. MiB. */
const WORKER_HEAP_MB = 512;

const RESPAWN = { firstMs: 50, capMs: 5_000 };

/** Time without concurrent tasks after which all threads but one end, ms: each takes some 13 MiB. */
const IDLE_MS = 60_000;

export interface WorkerPoolOptions {
  /** Number of threads, from 1. */
  readonly workers: number;
  /** Script of a thread. */
  readonly script: URL;
  readonly settings: WorkerSettings;
  /** A request that takes longer ends its thread, ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Counts threads that ended unasked. */
  readonly restarts: Counter;
  readonly clock: Clock;
  /** See IDLE_MS, for tests. */
  readonly idleMs?: number;
  /** Called with what the plugins did. */
  readonly onStatistics?: (statistics: readonly PipelineStatistics[]) => void;
  /** Called when a thread ended unasked; returns true if its work must not be done again here. */
  readonly onDeath?: () => boolean;
}

interface Task {
  readonly items: readonly WorkItem[];
  attempts: number;
  readonly resolve: (answer: WorkAnswer) => void;
  readonly reject: (error: AppError) => void;
}

/** The result of a task. */
type WorkAnswer = Pick<WorkResponse, "results" | "heldSequence">;

/** A thread with the tasks posted to it, oldest first: the first one is being processed. */
interface Thread {
  readonly worker: Worker;
  readonly posted: Map<number, Task>;
  timer: NodeJS.Timeout | undefined;
  timedOut: boolean;
}

export class WorkerPool implements Component {
  readonly #options: WorkerPoolOptions;
  readonly #waiting: Task[] = [];
  /** Threads that are ready. */
  readonly #threads = new Set<Thread>();
  /** All threads that have not ended. */
  readonly #workers = new Set<Worker>();
  readonly #spawning = new Set<Promise<void>>();
  readonly #backoff = new Backoff(RESPAWN);
  readonly #stopping = new AbortController();
  /** Why the work of a thread that ended isn't done again here; nothing is taken from then on. */
  #broken: string | undefined;
  #nextId = 1;
  readonly #idle: NodeJS.Timeout;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#idle = setTimeout(() => this.#endOthers(), options.idleMs ?? IDLE_MS).unref();
  }

  /**
   * Resolves when a thread is ready; the others start when the first has more than one task: what keeps one from working keeps
   * all of them from it, and threads that have nothing to do take memory. Throws what ends the first one.
   */
  async start(): Promise<void> {
    try {
      await this.#spawn();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Ends all threads; what they had or what waits fails with `cancelled`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#idle);
    const open = [...this.#waiting, ...[...this.#threads].flatMap(({ posted }) => [...posted.values()])];
    this.#waiting.length = 0;
    await Promise.all([...this.#workers].map((worker) => worker.terminate()));
    await Promise.all(this.#spawning);
    for (const task of open) task.reject(new AppError("cancelled", "the pipeline stops"));
  }

  /** Gives all tasks up, which fail with `cancelled`. Busy threads end; the others take further tasks. */
  clear(): void {
    const open = this.#waiting.splice(0);
    for (const thread of this.#threads) {
      if (thread.posted.size === 0) continue;
      open.push(...thread.posted.values());
      thread.posted.clear(); // an answer that still arrives belongs to no task
      clearTimeout(thread.timer);
      this.#threads.delete(thread); // this end isn't a failure
      void thread.worker.terminate();
    }
    if (this.#threads.size + this.#spawning.size === 0) this.#spawnBehind();
    for (const task of open) task.reject(new AppError("cancelled", "the pipeline gives its work up"));
  }

  /** Number of threads that are ready. */
  get threads(): number {
    return this.#threads.size;
  }

  /** Number of tasks that no thread has yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Resolves with the results of `items` in their order. An item that can't be processed has a failure. Without items
   * filters that keep events make what is due: one result.
   * Throws cancelled when the pool stops.
   */
  run(items: readonly WorkItem[]): Promise<WorkAnswer> {
    if (this.#broken !== undefined) return Promise.reject(new AppError("cancelled", this.#broken));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ items, attempts: 0, resolve, reject });
      this.#assign();
    });
  }

  /** Starts a thread; resolves when it is ready. */
  #spawn(): Promise<void> {
    const { script, settings } = this.#options;
    const worker = new Worker(script, {
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
    });
    this.#workers.add(worker);
    const thread: Thread = { worker, posted: new Map(), timer: undefined, timedOut: false };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let cause: unknown;
    worker.on("message", (response: WorkResponse) => {
      if (response.id === SLOW) this.#watch(thread);
      else if (response.id === STATISTICS) this.#options.onStatistics?.(response.statistics ?? []);
      else if (response.id !== READY) this.#answered(thread, response);
      if (response.id !== READY) return;
      this.#threads.add(thread);
      this.#idle.refresh();
      this.#backoff.reset();
      this.#assign();
      resolve();
    });
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", (code) => {
      clearTimeout(thread.timer);
      this.#workers.delete(worker);
      reject(new AppError("internal", `a thread of the pipeline ended with status ${code}`, { cause }));
      if (this.#threads.delete(thread) && !this.#stopping.signal.aborted) this.#died(thread, cause);
    });
    return promise;
  }

  #answered(thread: Thread, response: WorkResponse): void {
    const { id } = response;
    const task = thread.posted.get(id);
    thread.posted.delete(id);
    this.#watch(thread);
    if (task !== undefined) this.#settle(task, response);
    this.#assign();
  }

  /** Answers a task, or does it again where some of it failed in a way that may pass. */
  #settle(task: Task, response: WorkResponse): void {
    const { results } = response;
    const again = results.some((result) => "failure" in result && result.failure.retryable);
    task.attempts++;
    if (again && task.attempts < MAX_ATTEMPTS) this.#waiting.unshift(task);
    else task.resolve(response);
  }

  /** Gives the waiting tasks to the threads that have the least to do. */
  #assign(): void {
    while (this.#waiting.length > 0) {
      let freest: Thread | undefined;
      for (const thread of this.#threads) {
        if (thread.posted.size < (freest?.posted.size ?? POSTED_PER_WORKER)) freest = thread;
      }
      if (freest === undefined || freest.posted.size > 0) this.#grow();
      if (freest === undefined) return;
      this.#post(freest, this.#waiting.shift()!);
    }
  }

  /** Starts another thread, where there may be more. */
  #grow(): void {
    if (this.#threads.size + this.#spawning.size < this.#options.workers) this.#spawnBehind();
  }

  /** Ends the threads without work, all but one; busy ones are checked again after the next idle time. */
  #endOthers(): void {
    const others = [...this.#threads].filter(({ posted }) => posted.size === 0);
    if (others.length === this.#threads.size) others.shift();
    for (const thread of others) {
      this.#threads.delete(thread); // this end isn't a failure
      void thread.worker.terminate();
    }
    if (this.#threads.size > 1) this.#idle.refresh();
  }

  #post(thread: Thread, task: Task): void {
    const id = this.#nextId++;
    // Copies are handed over: the originals are needed should the thread die.
    const items = task.items.map((item) => ({ ...item, data: new Uint8Array(item.data) }));
    thread.posted.set(id, task);
    if (this.#isShared()) this.#idle.refresh();
    const handedOver = items.map(({ data }) => data.buffer);
    thread.worker.postMessage({ id, items } satisfies WorkRequest, handedOver);
    if (thread.posted.size === 1) this.#watch(thread);
  }

  /** Returns whether there is more than one task at a time, which one thread would do one after the other. */
  #isShared(): boolean {
    let tasks = 0;
    for (const { posted } of this.#threads) tasks += posted.size;
    return tasks > 1;
  }

  /** Starts the clock of the current task. */
  #watch(thread: Thread): void {
    clearTimeout(thread.timer);
    thread.timer = undefined;
    if (thread.posted.size === 0) return;
    thread.timer = setTimeout(() => {
      thread.timedOut = true;
      void thread.worker.terminate();
    }, this.#options.timeoutMs);
  }

  #died(thread: Thread, cause: unknown): void {
    this.#options.restarts.inc();
    const reason = thread.timedOut
      ? `it took longer than ${this.#options.timeoutMs} ms`
      : cause instanceof Error
        ? cause.message
        : "its thread ended";
    this.#options.log.warn({ reason }, "a thread of the pipeline ended and is replaced");
    if (this.#options.onDeath?.() === true) {
      this.#broken = reason;
      const open = [...thread.posted.values(), ...this.#waiting.splice(0)];
      for (const task of open) task.reject(new AppError("cancelled", reason));
      return;
    }
    const [atWork, ...others] = thread.posted.values();
    this.#waiting.unshift(...others);
    if (atWork !== undefined) this.#redo(atWork, reason);
    this.#spawnBehind();
    this.#assign();
  }

  #spawnBehind(): void {
    const spawning = this.#spawnUntilReady().finally(() => this.#spawning.delete(spawning));
    this.#spawning.add(spawning);
  }

  /**
   * Does a task again that ended its thread: each message by itself, so that one poison message doesn't fail the
   * others.
   */
  #redo(task: Task, reason: string): void {
    task.attempts++;
    if (task.items.length > 1) {
      const single = (item: WorkItem): Promise<WorkAnswer> =>
        new Promise((resolve, reject) => {
          this.#waiting.unshift({ items: [item], attempts: 0, resolve, reject });
        });
      Promise.all(task.items.map(single)).then(
        (answers) => task.resolve({ results: answers.flatMap(({ results }) => results) }),
        task.reject,
      );
    } else if (task.attempts >= MAX_ATTEMPTS) {
      task.resolve({ results: [{ failure: { reason, retryable: false } }] });
    } else {
      this.#waiting.unshift(task);
    }
  }

  async #spawnUntilReady(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#spawn();
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.error({ err: error }, "a thread of the pipeline doesn't start; it is tried again");
        await clock.sleep(this.#backoff.next(), signal);
      }
    }
  }
}
