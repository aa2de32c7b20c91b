/**
 * The front's side of a host's thread: starts and watches it, ends it if it is stuck, and restarts it. The shards are then
 * restored from their commits and the log.
 */

import { Worker } from "node:worker_threads";
import type { HostSeat } from "#hub/cluster/shards/shard-owner.ts";
import type { HostReport } from "#hub/host/host.ts";
import type { HostThreadData } from "#hub/host/host-thread.ts";
import { BUSY_WORDS, COMMITTING, DOCUMENTS, newPulse, portChannel, TURNS } from "#hub/host/wire/channel.ts";
import type { CallOptions, Message } from "#hub/host/wire/peer.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, MetricRecord, Metrics } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import {
  type AskOther,
  type FrontCatalog,
  HostLink,
  type KnownPositions,
  type LogServices,
} from "./host-link.ts";
import type { CallableHost } from "./shards-client.ts";
import { ThreadWatch, WATCH_MS } from "./thread-watch.ts";

/** Counts restarted threads. */
export type HostRestarts = Counter<"reason">;

/** Returns the counter of all threads of a process. */
export function hostRestarts(metrics: Metrics): HostRestarts {
  return metrics.counter(
    "tailrace_host_restarts_total",
    "threads of shards that were ended because they were stuck, or that failed, and were started again",
    ["reason"],
  );
}

export interface HostThreadOptions {
  /** Folder of the shards. */
  readonly folder: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Which of the hub's shards are in this thread. */
  readonly seat: HostSeat;
  /** Memory that the searches of the thread may use together, bytes; without it the thread's own limit. */
  readonly searchBytes?: number;
  /** Memory of the caches of all the hub's threads together, bytes; without it `usualCacheBytes`. */
  readonly cacheBytes?: number;
  readonly restarts: HostRestarts;
  readonly askOther: AskOther;
  /** Shards that other hubs have instead of this one, by `shardKey`. */
  readonly absent: ReadonlySet<string>;
  /** The thread's module instead of the host's own, for tests. */
  readonly script?: URL;
}

/** How long calls wait for a thread that is restarting. */
const READY_MS = 15_000;
/** How long a restarted thread may take to reach the position of its predecessor before it serves calls. */
const REACH_MS = 10_000;
const METRICS_MS = 2_000;

/** One thread. */
interface Life {
  readonly worker: Worker;
  readonly link: HostLink;
  readonly pulse: Int32Array;
  readonly watch: ThreadWatch;
  /** Processor time that the thread last reported. */
  cpuMs: number;
  isAsked: boolean;
}

export class HostThreadClient implements CallableHost {
  readonly #options: HostThreadOptions;
  readonly #backoff = new Backoff({ firstMs: 100, capMs: 10_000 });
  readonly #stopping = new AbortController();
  #catalog: FrontCatalog | undefined;
  #services: LogServices | undefined;
  #life: Life | undefined;
  /** The thread that serves calls; undefined while one is being started. */
  #serving: Life | undefined;
  #ready = Promise.withResolvers<void>();
  #restarting: Promise<void> = Promise.resolve();
  #watching: NodeJS.Timeout | undefined;
  #reached: Position = START;
  #report: HostReport = { position: START, failure: "", setBack: null, contexts: 0 };
  #problem = "";

  constructor(options: HostThreadOptions) {
    this.#options = options;
    const { metrics } = options;
    metrics.addSource(() => this.#metrics());
  }

  /** Starts the thread, which loads its modules. */
  start(): Promise<void> {
    this.#life = this.#spawn();
    return Promise.resolve();
  }

  /** Ends a thread that has opened no shards yet; `start` starts a new one. */
  async end(): Promise<void> {
    const life = this.#life;
    this.#life = undefined; // this end isn't a failure
    if (life === undefined) return;
    await life.link.lost(new AppError("closed", "the thread is being restarted"));
    await life.worker.terminate();
  }

  /** Opens the shards. Returns the log positions that they remember. Throws what opening throws. */
  async open(catalog: FrontCatalog): Promise<KnownPositions> {
    const life = this.#life;
    if (life === undefined)
      throw new AppError("unavailable", `the thread of the shards ended: ${this.#problem}`);
    this.#catalog = catalog;
    catalog.onChange((index, uuid) => this.#life?.link.indexChanged(index, uuid));
    const known = await life.link.open(catalog, this.#options.absent);
    this.#serve(life);
    this.#watching = setInterval(() => this.#watch(), WATCH_MS).unref();
    return known;
  }

  /** Makes the shards follow the log. */
  async follow(services: LogServices): Promise<void> {
    this.#services = services;
    await this.#life?.link.follow(services);
  }

  /** Makes the shards stop following the log and commit everything applied. */
  async unfollow(): Promise<void> {
    this.#services = undefined;
    this.#stopping.abort();
    await this.#restarting;
    await this.#serving?.link.unfollow();
  }

  /** Last message of DOC that was applied, according to the last report. */
  get position(): Position {
    return this.#report.position;
  }

  /** False: calls wait until the thread is being restarted. */
  get isServing(): boolean {
    return this.#serving !== undefined;
  }

  /** Why nothing can be indexed, made durable or searched now; empty while all is well. */
  get failure(): string {
    return this.#problem || this.#report.failure;
  }

  /** See ShardHost.setBack; according to the last report. */
  get setBack(): HostReport["setBack"] {
    return this.#report.setBack;
  }

  /** `readyMs`: how long it waits for a thread that is restarting. */
  async call(
    operation: string,
    value: unknown,
    { readyMs = READY_MS, ...options }: CallOptions & { readonly readyMs?: number } = {},
  ): Promise<Required<Message>> {
    const serving = this.#serving ?? (await this.#served(options.signal, readyMs));
    return serving.link.call(operation, value, options);
  }

  /** Resolves when everything up to `position` is applied. Throws timeout, unavailable, cancelled. */
  async reach(position: Position, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    await this.call("reach", position, { timeoutMs, signal });
  }

  notify(operation: string, value: unknown): void {
    this.#serving?.link.notify(operation, value);
  }

  /** Closes the shards and ends the thread; uncommitted operations are read from the log again. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#watching);
    await this.#restarting;
    const life = this.#life;
    const isOpen = this.#serving !== undefined;
    this.#serving = undefined;
    this.#ready.resolve();
    if (life === undefined) return;
    this.#life = undefined;
    try {
      if (isOpen) await life.link.call("close", null);
    } finally {
      await life.link.lost(new AppError("closed", "the hub is stopping"));
      await life.worker.terminate();
    }
  }

  #spawn(): Life {
    const { folder, log, script, seat, searchBytes, cacheBytes, askOther } = this.#options;
    const pulse = newPulse();
    const workerData: HostThreadData = { folder, level: log.level, pulse, seat, searchBytes, cacheBytes };
    const worker = new Worker(script ?? new URL("../shard-host-thread.ts", import.meta.url), { workerData });
    const channel = portChannel(worker, () => undefined);
    const words = new Int32Array(pulse, 0, BUSY_WORDS);
    const link = new HostLink({
      channel,
      log,
      askOther,
      onReport: (report) => this.#take(life, report),
      onFewDocuments: () => Atomics.store(words, DOCUMENTS, 1),
    });
    const life: Life = { worker, link, pulse: words, watch: new ThreadWatch(), cpuMs: 0, isAsked: false };
    let cause: unknown;
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", () => this.#died(life, "failed", cause));
    return life;
  }

  #take(life: Life, report: HostReport): void {
    if (life === this.#life) this.#report = report;
  }

  #serve(life: Life): void {
    this.#serving = life;
    this.#problem = "";
    this.#ready.resolve();
  }

  /** Waits for a thread that serves calls. Throws unavailable. */
  async #served(signal: AbortSignal | undefined, readyMs: number): Promise<Life> {
    const late = AbortSignal.timeout(readyMs);
    const over = signal === undefined ? late : AbortSignal.any([signal, late]);
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    over.addEventListener("abort", wake, { once: true });
    await Promise.race([this.#ready.promise, promise]);
    over.removeEventListener("abort", wake);
    if (this.#serving !== undefined) return this.#serving;
    if (signal?.aborted === true) throw new AppError("cancelled", "the request was cancelled");
    throw new AppError("unavailable", `the shards are not available: ${this.#problem}`);
  }

  /** Ends a thread that is stuck. */
  #watch(): void {
    const life = this.#serving;
    if (life === undefined) return;
    const reason = life.watch.look({
      nowMs: performance.now(),
      cpuMs: life.cpuMs,
      turns: Atomics.load(life.pulse, TURNS),
      isCommitting: Atomics.load(life.pulse, COMMITTING) === 1,
      overdue: life.link.overdue,
    });
    if (reason !== undefined) this.#end(life, reason);
    else if (!life.isAsked) void askCpu(life);
  }

  #end(life: Life, reason: string): void {
    this.#died(life, "stuck", new Error(reason));
    void life.worker.terminate();
  }

  /** Starts a new thread after one has ended. */
  #died(life: Life, kind: "stuck" | "failed", cause: unknown): void {
    if (life !== this.#life) return;
    const why = cause instanceof Error ? cause.message : "it ended";
    this.#options.restarts.inc({ reason: kind });
    this.#options.log.error({ err: cause }, "the thread of the shards was lost; it is started again");
    this.#problem = `the thread of the shards is being restarted, since ${why}`;
    const { sent } = life.link;
    if (sent !== undefined && comparePositions(sent, this.#reached) > 0) this.#reached = sent;
    this.#life = undefined;
    if (this.#serving === life) this.#ready = Promise.withResolvers();
    this.#serving = undefined;
    const error = new AppError("unavailable", `the thread of the shards was lost: ${why}`, { cause });
    const lost = life.link.lost(error);
    if (this.#catalog === undefined || this.#stopping.signal.aborted) return;
    this.#restarting = this.#restarting.then(() => lost).then(() => this.#restart());
  }

  async #restart(): Promise<void> {
    const { signal } = this.#stopping;
    const { clock, log } = this.#options;
    await clock.sleep(this.#backoff.next(), signal);
    if (signal.aborted) return;
    const life = this.#spawn();
    this.#life = life;
    try {
      await life.link.open(this.#catalog!, this.#options.absent);
      if (this.#services !== undefined) await this.#catchUp(life.link, this.#services);
      if (life !== this.#life) return;
      this.#backoff.reset();
      this.#serve(life);
      log.info({ position: this.#report.position }, "the thread of the shards serves again");
    } catch (error) {
      // If the thread has ended, its end starts the next attempt.
      if (life === this.#life) this.#end(life, toAppError(error).message);
    }
  }

  /** Waits until a new thread has reached the position of its predecessor, so that reads see all earlier writes. */
  async #catchUp(link: HostLink, services: LogServices): Promise<void> {
    await link.follow(services);
    try {
      await link.call("reach", this.#reached, { timeoutMs: REACH_MS, signal: this.#stopping.signal });
    } catch (error) {
      if (toAppError(error).code !== "timeout") throw error;
      this.#options.log.warn("the shards serve requests before they have reached their previous position");
    }
  }

  async #metrics(): Promise<readonly MetricRecord[]> {
    const life = this.#serving;
    if (life === undefined) return [];
    try {
      return (await life.link.call("metrics", null, { timeoutMs: METRICS_MS })).value as MetricRecord[];
    } catch {
      // A thread that is busy or lost has none now.
      return [];
    }
  }
}

/** Asks a thread how much processor time it has used; it answers in between, as soon as it gets the processor. */
async function askCpu(life: Life): Promise<void> {
  life.isAsked = true;
  try {
    life.cpuMs = milliseconds(await life.worker.cpuUsage());
  } catch {
    // Node.js before 24.6 can't report it for one thread.
    life.cpuMs = milliseconds(process.cpuUsage());
  }
  life.isAsked = false;
}

function milliseconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000;
}
