/** The pipeline's threads. A thread that dies is replaced and what it held is done again. */

import { Worker } from "node:worker_threads";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";
import {
  READY,
  SLOW,
  type WorkerSettings,
  type WorkItem,
  type WorkRequest,
  type WorkResponse,
  type WorkResult,
} from "./worker-protocol.ts";

/** Requests posted to a thread at a time: the second keeps it busy while the first one's answer travels. */
const POSTED_PER_WORKER = 2;

/** A message that ended a thread, or failed, so many times is given up. */
const MAX_ATTEMPTS = 3;

/** A filter that eats memory ends its thread, not the hub. MiB. */
const WORKER_HEAP_MB = 512;

const RESPAWN = { firstMs: 50, capMs: 5_000 };

export interface WorkerPoolOptions {
  /** Number of threads, from 1. */
  readonly workers: number;
  /** Script of a thread. */
  readonly script: URL;
  readonly settings: WorkerSettings;
  /** A request that takes longer ends its thread, ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

interface Task {
  readonly items: readonly WorkItem[];
  attempts: number;
  readonly resolve: (results: readonly WorkResult[]) => void;
  readonly reject: (error: AppError) => void;
}

/** A thread with the tasks posted to it, oldest first: the first one is at work. */
interface Thread {
  readonly worker: Worker;
  readonly posted: Map<number, Task>;
  timer: NodeJS.Timeout | undefined;
  timedOut: boolean;
  /** Gets nothing new and ends when it has nothing left. */
  retired: boolean;
}

export class WorkerPool implements Component {
  readonly #options: WorkerPoolOptions;
  readonly #waiting: Task[] = [];
  /** Threads that are ready. */
  readonly #threads = new Set<Thread>();
  /** All threads that have not ended. */
  readonly #workers = new Set<Worker>();
  readonly #respawning = new Set<Promise<void>>();
  readonly #backoff = new Backoff(RESPAWN);
  readonly #stopping = new AbortController();
  readonly #restarts: Counter;
  #settings: WorkerSettings;
  #nextId = 1;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#restarts = options.metrics.counter(
      "tailrace_pipeline_worker_restarts_total",
      "threads of the pipeline that ended unasked and were replaced",
    );
  }

  /** Throws what ends the first thread that doesn't get ready. */
  async start(): Promise<void> {
    try {
      await Promise.all(Array.from({ length: this.#options.workers }, () => this.#spawn()));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Ends all threads; what they had or what waits fails with `cancelled`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const open = [...this.#waiting, ...[...this.#threads].flatMap(({ posted }) => [...posted.values()])];
    this.#waiting.length = 0;
    await Promise.all([...this.#workers].map((worker) => worker.terminate()));
    await Promise.all(this.#respawning);
    for (const task of open) task.reject(new AppError("cancelled", "the pipeline stops"));
  }

  /** Number of tasks that no thread has yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Resolves with the results of `items` in their order. An item that can't be processed has a failure.
   * Throws cancelled when the pool stops.
   */
  run(items: readonly WorkItem[]): Promise<readonly WorkResult[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ items, attempts: 0, resolve, reject });
      this.#assign();
    });
  }

  /**
   * Goes on with threads of other settings: new tasks go to them, the others finish what they have.
   * Throws what keeps a new thread from starting; then everything stays as it was.
   */
  async replace(settings: WorkerSettings): Promise<void> {
    const before = this.#settings;
    const old = [...this.#threads];
    this.#settings = settings;
    try {
      await Promise.all(Array.from({ length: this.#options.workers }, () => this.#spawn()));
    } catch (error) {
      this.#settings = before;
      for (const thread of this.#threads) if (!old.includes(thread)) this.#retire(thread);
      throw error;
    }
    for (const thread of old) this.#retire(thread);
  }

  #retire(thread: Thread): void {
    thread.retired = true;
    this.#dismiss(thread);
  }

  /** Starts a thread; resolves when it is ready. */
  #spawn(): Promise<void> {
    const { script } = this.#options;
    const settings = this.#settings;
    const worker = new Worker(script, {
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
    });
    this.#workers.add(worker);
    const thread: Thread = { worker, posted: new Map(), timer: undefined, timedOut: false, retired: false };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let cause: unknown;
    worker.on("message", (response: WorkResponse) => {
      if (response.id === SLOW) this.#watch(thread);
      else if (response.id !== READY) this.#answered(thread, response);
      if (response.id !== READY) return;
      this.#threads.add(thread);
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

  #answered(thread: Thread, { id, results }: WorkResponse): void {
    const task = thread.posted.get(id);
    thread.posted.delete(id);
    this.#watch(thread);
    if (task !== undefined) this.#settle(task, results);
    if (thread.retired) this.#dismiss(thread);
    this.#assign();
  }

  /** Ends a retired thread that has nothing left. */
  #dismiss(thread: Thread): void {
    if (thread.posted.size > 0) return;
    this.#threads.delete(thread);
    void thread.worker.terminate();
  }

  /** Answers a task, or does it again where some of it failed in a way that may pass. */
  #settle(task: Task, results: readonly WorkResult[]): void {
    const again = results.some((result) => "failure" in result && result.failure.retryable);
    task.attempts++;
    if (again && task.attempts < MAX_ATTEMPTS) this.#waiting.unshift(task);
    else task.resolve(results);
  }

  /** Gives the waiting tasks to the threads that have the least to do. */
  #assign(): void {
    while (this.#waiting.length > 0) {
      let freest: Thread | undefined;
      for (const thread of this.#threads) {
        if (!thread.retired && thread.posted.size < (freest?.posted.size ?? POSTED_PER_WORKER))
          freest = thread;
      }
      if (freest === undefined) return;
      this.#post(freest, this.#waiting.shift()!);
    }
  }

  #post(thread: Thread, task: Task): void {
    const id = this.#nextId++;
    // Copies are handed over: the originals are needed should the thread die.
    const items = task.items.map(({ data, ranges }) => ({ data: new Uint8Array(data), ranges }));
    thread.posted.set(id, task);
    const handedOver = items.map(({ data }) => data.buffer);
    thread.worker.postMessage({ id, items } satisfies WorkRequest, handedOver);
    if (thread.posted.size === 1) this.#watch(thread);
  }

  /** Starts the clock of the task that is at work now. */
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
    this.#restarts.inc();
    const reason = thread.timedOut
      ? `it took longer than ${this.#options.timeoutMs} ms`
      : cause instanceof Error
        ? cause.message
        : "its thread ended";
    this.#options.log.warn({ reason }, "a thread of the pipeline ended and is replaced");
    const [atWork, ...others] = thread.posted.values();
    this.#waiting.unshift(...others);
    if (atWork !== undefined) this.#redo(atWork, reason);
    if (thread.retired) {
      this.#assign();
      return;
    }
    const respawning = this.#respawn().finally(() => this.#respawning.delete(respawning));
    this.#respawning.add(respawning);
    this.#assign();
  }

  /** Does a task again that ended its thread: each message by itself, so that one poison message takes no others along. */
  #redo(task: Task, reason: string): void {
    task.attempts++;
    if (task.items.length > 1) {
      const single = (item: WorkItem): Promise<readonly WorkResult[]> =>
        new Promise((resolve, reject) => {
          this.#waiting.unshift({ items: [item], attempts: 0, resolve, reject });
        });
      Promise.all(task.items.map(single)).then((results) => task.resolve(results.flat()), task.reject);
    } else if (task.attempts >= MAX_ATTEMPTS) {
      task.resolve([{ failure: { reason, retryable: false } }]);
    } else {
      this.#waiting.unshift(task);
    }
  }

  async #respawn(): Promise<void> {
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
