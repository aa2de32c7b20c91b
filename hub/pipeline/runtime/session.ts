/**
 * The running pipelines of one configuration: from the cursors in the log RAW through the threads to the log DOC and
 * the outputs. A change of the configuration, or the death of a thread with held events, ends the session; the next one
 * continues from the cursors, and the shards drop repeated documents.
 */

import type { PipelineStatistics } from "#hub/pipeline/batch/plugin-statistics.ts";
import type { WorkItem, WorkResult } from "#hub/pipeline/batch/worker-protocol.ts";
import type { PipelineDefinition } from "#hub/pipeline/language/pipeline-definition.ts";
import type { Plan } from "#hub/pipeline/program/plan.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { Batcher } from "./batcher.ts";
import { CursorKeeper } from "./cursor-keeper.ts";
import { HeldMessages } from "./held-messages.ts";
import { InFlight } from "./in-flight.ts";
import { Outlet } from "./outlet.ts";
import { OutputHost, type OutputReach } from "./output-host.ts";
import type { PartitionDeps } from "./partition.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";
import type { PipelineOptions } from "./pipeline-options.ts";
import type { DocLosses } from "./ports.ts";
import { RawReaders } from "./raw-readers.ts";
import { WorkerPool } from "./worker-pool.ts";

/** Between the log and the sink at most, and four times as much of documents. */
const IN_FLIGHT_BYTES = 16 * 1024 * 1024;
const IN_FLIGHT_MESSAGES = 2048;

/** A batch that is processed for longer is stuck. */
const WORK_TIMEOUT_MS = 60_000;

/** Interval of flushing filters that hold events, ms. */
const FLUSH_INTERVAL_MS = 1_000;

export interface SessionOptions {
  readonly pipeline: PipelineOptions;
  readonly definitions: readonly PipelineDefinition[];
  /** Undefined: there is the default pipeline alone. */
  readonly plan: Plan | undefined;
  readonly reach: OutputReach;
  readonly metrics: PipelineMetrics;
  readonly clock: Clock;
  /** Random name of this process. */
  readonly owner: string;
  readonly losses: DocLosses;
  /** True: the session before ended with its thread. */
  readonly isCareful: boolean;
  /** Threads that the session before has handed over. Without them it has its own, which `prepare` starts. */
  readonly pool?: WorkerPool | undefined;
  /** Called when the session can't continue and another one must take over from the cursors. */
  readonly onBroken: () => void;
  readonly onStatistics: (statistics: readonly PipelineStatistics[]) => void;
}

/** How long an ending session waits for what is in flight. */
export interface WaitPolicy {
  /** The rest is given up when nothing has arrived for this time, ms. */
  readonly stallMs: number;
  readonly totalMs: number;
  /** Time that a write under way then gets to end, ms. */
  readonly writeMs: number;
}

export class Session {
  readonly keeper: CursorKeeper;
  readonly outputs: OutputHost;
  readonly inFlight: InFlight;
  readonly #options: SessionOptions;
  readonly #pool: WorkerPool;
  readonly #batcher: Batcher;
  readonly #outlet: Outlet;
  readonly #held: HeldMessages | undefined;
  readonly #readers: RawReaders;
  readonly #reading = new AbortController();
  readonly #working = new AbortController();
  #flusher: Promise<void> = Promise.resolve();
  #hasBegun = false;
  #flushes = 0;

  constructor(options: SessionOptions) {
    const { pipeline, plan, metrics, clock, reach } = options;
    const { log } = pipeline;
    this.#options = options;
    this.#held = plan?.stateful === true ? new HeldMessages() : undefined;
    this.inFlight = new InFlight(pipeline.inFlightBytes ?? IN_FLIGHT_BYTES, IN_FLIGHT_MESSAGES);
    const { signal } = this.#working;
    this.outputs = new OutputHost({ outputs: plan?.outputs ?? [], reach, log, clock, metrics, signal });
    this.#pool = options.pool ?? this.#makePool();
    this.#batcher = new Batcher({
      size: pipeline.settings.batchSize,
      delayMs: pipeline.settings.batchDelayMs,
      run: (items) => this.#work(items),
    });
    const deps = this.#partitionDeps();
    this.#outlet = new Outlet(deps, signal);
    this.keeper = new CursorKeeper({
      bucket: pipeline.cursors,
      hub: pipeline.hub,
      owner: options.owner,
      onConflict: () => this.#isConflictOurs(),
      deps,
      events: pipeline.events ?? {},
      losses: options.losses,
      abort: signal,
    });
    const { keeper, inFlight } = this;
    this.#readers = new RawReaders({ pipeline, keeper, inFlight, metrics, clock }, this.#reading.signal);
  }

  /** Starts the threads. Throws what keeps them from starting; nothing is left running then. */
  prepare(): Promise<void> {
    return this.#pool.start();
  }

  /** True where `begin` can still follow: neither has it begun, nor was it abandoned or ended. */
  get isFresh(): boolean {
    return !this.#hasBegun && !this.#reading.signal.aborted;
  }

  /** True where it can continue with other partitions: it reads, and none of its partitions has failed. */
  get isHealthy(): boolean {
    return this.#hasBegun && !this.#reading.signal.aborted && !this.keeper.hasFailed;
  }

  /** What keeps the log from being read; empty: nothing. */
  get problem(): string {
    return this.#readers.problem;
  }

  /** Reads and writes nothing any more, at once; `end` follows. */
  abandon(): void {
    this.#reading.abort();
    this.#working.abort();
  }

  /** Ends the threads of a session that isn't to begin. */
  discard(): Promise<void> {
    return this.#pool.stop();
  }

  /** Loads the cursors of `partitions` (undefined: all) and begins to read. Throws data_corrupt, unavailable. */
  async begin(partitions: ReadonlySet<number> | undefined): Promise<void> {
    const after = this.keeper.add(await this.keeper.load(partitions));
    this.#hasBegun = true;
    this.keeper.start(() => this.#readers.position);
    // Without partitions there is nothing to read.
    if (partitions?.size !== 0) this.#readers.read(partitions, after);
    if (this.#held !== undefined) this.#flusher = this.#flushPeriodically();
  }

  /**
   * Begins to read further partitions; reading of the others continues. Throws data_corrupt, unavailable: then nothing
   * has changed.
   */
  async take(partitions: ReadonlySet<number>): Promise<void> {
    const loaded = await this.keeper.load(partitions);
    this.#readers.read(partitions, this.keeper.add(loaded)); // at once: see CursorKeeper.add
  }

  /**
   * Reads partitions no further, lets what they have in flight reach sink and outputs, and stores their cursors;
   * reading of the others continues. Returns false if that doesn't happen in time, or `signal` is aborted: then the
   * session must end, which stores the cursors.
   */
  async release(
    partitions: ReadonlySet<number>,
    policy: Omit<WaitPolicy, "writeMs">,
    signal: AbortSignal,
  ): Promise<boolean> {
    this.keeper.close(partitions);
    this.#readers.passOver(partitions);
    this.#batcher.flush();
    const isDrained = await this.#drain(policy, partitions, signal);
    if (isDrained) await this.keeper.drop(partitions);
    return isDrained;
  }

  /**
   * Reads no further, lets what is in flight reach sink and outputs, ends the threads, stores the cursors. What didn't
   * get there is read again by the next session; an output that doesn't recognise repetitions gets twice only what a
   * write had begun with that didn't end.
   */
  end(policy: WaitPolicy): Promise<void> {
    return this.#end(policy, () => this.#pool.stop());
  }

  /**
   * Ends like `end`, but returns the threads, for a session with the same pipelines. Not for those with a filter that keeps
   * events, which the threads would still have.
   */
  async handOver(policy: WaitPolicy): Promise<WorkerPool> {
    await this.#end(policy, () => this.#pool.clear());
    return this.#pool;
  }

  async #end(policy: WaitPolicy, leaveThreads: () => Promise<void> | void): Promise<void> {
    this.#reading.abort();
    await Promise.all([this.#readers.ended(), this.#flusher]);
    this.#batcher.flush();
    await this.#drain(policy);
    await this.outputs.settle(policy.writeMs);
    this.#working.abort();
    await leaveThreads();
    await this.outputs.stop();
    await this.keeper.idle();
    await this.keeper.stop();
  }

  /**
   * Waits as long as messages of `partitions` (undefined: all) arrive: a slow output is waited for, a blocked one holds
   * nothing up. Returns whether all have arrived.
   */
  async #drain(
    { stallMs, totalMs }: Omit<WaitPolicy, "writeMs">,
    partitions?: ReadonlySet<number>,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const { clock } = this.#options;
    const drained = new AbortController();
    const idle = this.keeper.idle(partitions).finally(() => drained.abort());
    const over = signal === undefined ? drained.signal : AbortSignal.any([drained.signal, signal]);
    const endMs = clock.monotonic() + totalMs;
    let before = Number.POSITIVE_INFINITY;
    while (!over.aborted && this.keeper.inFlight(partitions) < before && clock.monotonic() < endMs) {
      before = this.keeper.inFlight(partitions);
      await Promise.race([idle, clock.sleep(stallMs, over)]);
    }
    return drained.signal.aborted;
  }

  #makePool(): WorkerPool {
    const { pipeline, definitions, metrics, clock, onStatistics, onBroken } = this.#options;
    const isStateful = this.#held !== undefined;
    const { settings, log } = pipeline;
    const workers = Math.max(
      ...definitions.map((each) => each.workers ?? settings.workers),
      settings.workers,
    );
    return new WorkerPool({
      workers: isStateful ? 1 : workers,
      script: pipeline.workerScript ?? new URL("./worker.ts", import.meta.url),
      settings: {
        defaultId: settings.id,
        pipelines: definitions,
        variables: this.#options.plan?.variables ?? {},
        isCareful: this.#options.isCareful,
      },
      timeoutMs: pipeline.workTimeoutMs ?? WORK_TIMEOUT_MS,
      log,
      restarts: metrics.workerRestarts,
      clock,
      onStatistics,
      onDeath: () => {
        if (!isStateful) return false;
        // What the thread knew of earlier events is gone: they are read again.
        this.#reading.abort();
        onBroken();
        return true;
      },
    });
  }

  #partitionDeps(): PartitionDeps {
    const { pipeline, clock, metrics } = this.#options;
    const held = this.#held;
    return {
      sink: pipeline.sink,
      deadLetters: pipeline.deadLetters,
      listener: pipeline.listener,
      log: pipeline.log,
      clock,
      metrics,
      outputs: this.outputs,
      process: (item, events) => this.#batcher.add(item, events),
      release: (bytes, madeBytes) => this.inFlight.release(bytes, madeBytes),
      made: (bytes) => this.inFlight.made(bytes),
      isEnding: () => this.#reading.signal.aborted,
      mayWrite: () => this.#mayWrite(),
      ...(held !== undefined && {
        finished: (sequence: number) => held.finished(sequence),
        heldFrom: () => held.heldFrom,
      }),
    };
  }

  /** Where another hub may have taken over, nothing is written any more. */
  #mayWrite(): boolean {
    if (this.#options.pipeline.sharing?.mayWrite() !== false) return true;
    this.abandon();
    return false;
  }

  /**
   * Another process has written a cursor. True where the partition is this hub's anyway: it was a hub that had been
   * paused, and this one continues from the cursor that was stored.
   */
  #isConflictOurs(): boolean {
    const { sharing } = this.#options.pipeline;
    if (sharing === undefined || !sharing.mayWrite()) return false;
    this.#reading.abort();
    this.#options.onBroken();
    return true;
  }

  async #work(items: readonly WorkItem[]): Promise<readonly WorkResult[]> {
    const { signal } = this.#working;
    await this.inFlight.mayMake(signal);
    if (signal.aborted) throw new AppError("cancelled", "the pipeline stops");
    const { results, heldSequence } = await this.#pool.run(items);
    this.#held?.answered(
      items.map(({ sequence }) => sequence),
      heldSequence,
    );
    return results;
  }

  /** What filters made of time that passed belongs to no single message: it is in the log without an origin. */
  async #flushPeriodically(): Promise<void> {
    const { clock, pipeline } = this.#options;
    const { signal } = this.#reading;
    for (;;) {
      await clock.sleep(FLUSH_INTERVAL_MS, signal);
      if (signal.aborted) return;
      try {
        await this.#flush();
      } catch (error) {
        if (this.#working.signal.aborted || toAppError(error).code === "cancelled") return;
        pipeline.log.error({ err: error }, "what filters held back couldn't be written; it is tried again");
      }
    }
  }

  async #flush(): Promise<void> {
    const { results, heldSequence } = await this.#pool.run([]);
    const flush = -++this.#flushes;
    this.#held!.answered([flush], heldSequence);
    const result = results[0];
    if (result === undefined || "failure" in result) return;
    const origin = { rawIncarnation: 0, partition: 0, rawSequence: 0 };
    await this.#outlet.deliver(result.output, origin, []);
    this.#held!.finished(flush);
  }
}
