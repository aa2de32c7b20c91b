/**
 * The pipeline at work: reads RAW, has the workers turn messages into documents, writes those to DOC and keeps a
 * cursor per partition. Whatever dies at whatever moment, each event is in DOC at least once and repetitions carry
 * the marks by which the shards drop them.
 */

import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import { Batcher } from "./batcher.ts";
import { CursorKeeper } from "./cursor-keeper.ts";
import { InFlight } from "./in-flight.ts";
import type { Partition } from "./partition.ts";
import { type PipelineMetrics, pipelineMetrics } from "./pipeline-metrics.ts";
import type {
  DeadLetterSink,
  DocumentSink,
  EventListener,
  PipelineEvents,
  RawEntry,
  RawSource,
  Resumption,
  StoredCursor,
} from "./ports.ts";
import { type RawHeader, readRawHeader } from "./raw-header.ts";
import { WorkerPool } from "./worker-pool.ts";
import type { PipelineFile } from "./worker-protocol.ts";

/** Between the log and the sink at most. Documents are about four times as large, so this is 64 MiB of them. */
const IN_FLIGHT_BYTES = 16 * 1024 * 1024;
const IN_FLIGHT_MESSAGES = 2048;

/** A batch at work for longer is stuck. */
const WORK_TIMEOUT_MS = 60_000;

/** What is in flight at the stop gets this long to reach the sink; the rest is read again at the next start. */
const DRAIN_MS = 5_000;

const READ_RETRY = { firstMs: 50, capMs: 5_000 };

export interface PipelineSettings {
  /** Name of the pipeline; goes into the documents' ids. */
  readonly id: string;
  /** Files of the pipeline in their order; empty: the default pipeline. */
  readonly files?: readonly PipelineFile[];
  /** pipeline.workers */
  readonly workers: number;
  /** pipeline.bath.size, events. */
  readonly batchSize: number;
  /** pipeline.batch.delay, ms. */
  readonly batchDelayMs: number;
}

export interface PipelineOptions {
  readonly settings: PipelineSettings;
  readonly source: RawSource;
  readonly sink: DocumentSink;
  readonly deadLetters: DeadLetterSink;
  /** Holds the cursors. */
  readonly cursors: StateBucket;
  /** Name of this hub, the same after each start. */
  readonly hub: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock?: Clock;
  readonly listener?: EventListener;
  readonly events?: PipelineEvents;
  /** Says how a stored cursor is to be taken after a loss of a log; without it all are taken as they stand. */
  readonly resume?: (cursor: StoredCursor) => Resumption;
  /** Script of the workers. */
  readonly workerScript?: URL;
  readonly inFlightBytes?: number;
  readonly workTimeoutMs?: number;
}

export class Pipeline implements Component {
  readonly #options: PipelineOptions;
  readonly #clock: Clock;
  readonly #metrics: PipelineMetrics;
  readonly #inFlight: InFlight;
  readonly #pool: WorkerPool;
  readonly #batcher: Batcher;
  readonly #keeper: CursorKeeper;
  readonly #reading = new AbortController();
  readonly #working = new AbortController();
  #reader: Promise<void> = Promise.resolve();
  #readPosition: Position | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: PipelineOptions) {
    const { settings, log, metrics, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#inFlight = new InFlight(options.inFlightBytes ?? IN_FLIGHT_BYTES, IN_FLIGHT_MESSAGES);
    this.#metrics = pipelineMetrics(metrics, {
      inFlightBytes: () => this.#inFlight.bytes,
      sources: () => this.#keeper.sum((partition) => partition.sources),
      forgottenSources: () => this.#keeper.sum((partition) => partition.forgottenSources),
      closedGaps: () => this.#keeper.sum((partition) => partition.closedGaps),
    });
    this.#pool = new WorkerPool({
      workers: settings.workers,
      script: options.workerScript ?? new URL("./worker.ts", import.meta.url),
      settings: { pipelineId: settings.id, files: settings.files ?? [] },
      timeoutMs: options.workTimeoutMs ?? WORK_TIMEOUT_MS,
      log,
      metrics,
      clock,
    });
    this.#batcher = new Batcher({
      size: settings.batchSize,
      delayMs: settings.batchDelayMs,
      run: (items) => this.#pool.run(items),
    });
    this.#keeper = new CursorKeeper({
      bucket: options.cursors,
      hub: options.hub,
      owner: randomBytes(12).toString("base64url"),
      neighbours: {
        sink: options.sink,
        deadLetters: options.deadLetters,
        listener: options.listener,
        log,
        clock,
        metrics: this.#metrics,
        process: (item, events) => this.#batcher.add(item, events),
        release: (bytes) => this.#inFlight.release(bytes),
      },
      events: options.events ?? {},
      resume: options.resume ?? ((cursor) => ({ after: cursor.rawPosition, keepSources: true })),
      abort: this.#working.signal,
    });
  }

  /** Loads the cursors, starts the workers and begins to read. Throws what keeps any of it from working. */
  async start(): Promise<void> {
    await check(this.#options.settings.files ?? []);
    this.#readPosition = await this.#keeper.load();
    await this.#pool.start();
    this.#keeper.start(() => this.#readPosition!);
    this.#reader = this.#read();
  }

  /** Reads no further, gives what is in flight some seconds to reach the sink, stores the cursors, ends the workers. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /**
   * Goes on with other files, without losing or repeating an event: messages that a thread has already are finished
   * by the old ones. Throws settings_invalid where the files can't be used; then nothing changes.
   */
  async reload(files: readonly PipelineFile[]): Promise<void> {
    await check(files);
    await this.#pool.replace({ pipelineId: this.#options.settings.id, files });
  }

  /** All partitions are processed at least up to here, durably: RAW needs nothing before it for the pipeline. */
  get floor(): Position {
    return this.#keeper.floor;
  }

  async #stop(): Promise<void> {
    this.#reading.abort();
    await this.#reader;
    this.#batcher.flush();
    const drained = new AbortController();
    await Promise.race([
      this.#keeper.idle().finally(() => drained.abort()),
      this.#clock.sleep(DRAIN_MS, drained.signal),
    ]);
    this.#working.abort();
    await this.#pool.stop();
    await this.#keeper.stop();
  }

  async #read(): Promise<void> {
    const { signal } = this.#reading;
    const { source, log } = this.#options;
    const backoff = new Backoff(READ_RETRY);
    while (!signal.aborted) {
      try {
        for await (const entry of source.read({ after: this.#readPosition!, signal })) {
          if (!(await this.#take(entry))) return;
          backoff.reset();
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#metrics.readErrors.inc();
        log.warn({ err: error, after: this.#readPosition }, "reading the log failed and is tried again");
      }
      await this.#clock.sleep(backoff.next(), signal);
    }
  }

  /** Hands a message to its partition when there is room; returns false at the stop. */
  async #take(entry: RawEntry): Promise<boolean> {
    const partition = this.#keeper.partition(entry.partition);
    if (partition.wants(entry.position)) {
      const header = this.#header(entry);
      const bytes = Math.max(entry.data.length, header?.dataBytes ?? 0);
      if (!(await this.#inFlight.acquire(bytes, this.#reading.signal))) return false;
      this.#accept(partition, entry, header, bytes);
    }
    if (comparePositions(entry.position, this.#readPosition!) > 0) this.#readPosition = entry.position;
    return true;
  }

  #accept(partition: Partition, entry: RawEntry, header: RawHeader | undefined, bytes: number): void {
    // It may have stopped while the message waited for room.
    if (partition.wants(entry.position)) partition.accept(entry, header, bytes);
    else this.#inFlight.release(bytes);
  }

  #header(entry: RawEntry): RawHeader | undefined {
    try {
      return readRawHeader(entry.data);
    } catch (error) {
      this.#options.log.error(
        { err: toAppError(error), position: entry.position },
        "a message of the log can't be read",
      );
      return undefined;
    }
  }
}

/** Throws settings_invalid naming all faults. The language is loaded only where there is something to check. */
async function check(files: readonly PipelineFile[]): Promise<void> {
  if (files.length === 0) return;
  const { checkPipeline } = await import("../program/check.ts");
  checkPipeline(files, process.env);
}
