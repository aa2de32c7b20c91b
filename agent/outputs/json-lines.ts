/**
 * The outputs to a file and to standard output: each line is a JSON document, as the search output would send it.
 * A batch is settled when the system has accepted it; on a full disk the output waits.
 */

import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { allEnded, type Batch, type Channel, type Output, type OutputState } from "#agent/contract/output.ts";
import { SlotPool } from "#agent/contract/slot-pool.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { writeFully } from "#proto/kit/files/files.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { SourceFields } from "#proto/raw-encoder.ts";
import { commonFields, sourcesOf } from "./documents.ts";
import { OUTPUT_RETRY } from "./lane.ts";
import type { AgentNames } from "./pipeline.ts";

const NEWLINE = 0x0a;

/** The destination of lines. */
export interface LineSink {
  /** Takes whole lines. Throws the system's error, with nothing or a part of them taken. */
  write(lines: Buffer): void;
  close(): void;
}

export interface LinesOutputOptions {
  readonly names: AgentNames;
  readonly sink: LineSink;
  readonly batchBytes: number;
  readonly inFlight: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called once the reader of a pipe is gone: nothing can be written any more. */
  readonly onClosed?: () => void;
}

export class LinesOutput implements Output {
  readonly slots: SlotPool;
  readonly maxBodyBytes = 4 * 1_024 * 1_024;
  readonly confirmsCommits = false;
  readonly #options: LinesOutputOptions;
  readonly #stop = new AbortController();
  readonly #acked: Counter;
  readonly #tasks = new Set<Promise<void>>();
  #last: Promise<void> = Promise.resolve();
  #problem = "";
  #ackedBytes = 0;
  #isClosed = false;

  constructor(options: LinesOutputOptions) {
    this.#options = options;
    this.slots = new SlotPool(options.inFlight, options.batchBytes);
    this.#acked = options.metrics.counter("tailrace_agent_bytes_acked_total", "Bytes of log data written.");
  }

  get ackedBytes(): number {
    return this.#ackedBytes;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#tasks);
    this.#options.sink.close();
  }

  drained(signal: AbortSignal): Promise<void> {
    return allEnded(this.#tasks, signal);
  }

  state(): OutputState {
    return { healthy: this.#problem === "", reason: this.#problem };
  }

  channel(source: SourceFields, fieldsJson: Uint8Array): Channel {
    const common = commonFields(this.#options.names, source, fieldsJson);
    return {
      headroom: 0,
      tailroom: 0,
      send: (batch) => {
        const task = this.#last.then(() => this.#deliver(batch, common));
        this.#last = task;
        this.#tasks.add(task);
        void task.finally(() => this.#tasks.delete(task));
      },
    };
  }

  async #deliver(batch: Batch, common: Record<string, unknown>): Promise<void> {
    const backoff = new Backoff(OUTPUT_RETRY);
    const { clock, log, sink } = this.#options;
    const text = sourcesOf(batch, common).map((source) => `${JSON.stringify(source)}\n`);
    const lines = Buffer.from(text.join(""));
    // What isn't settled is read again at the next start.
    while (!this.#stop.signal.aborted && !this.#isClosed) {
      try {
        if (lines.length > 0) sink.write(lines);
        this.#problem = "";
        this.#ackedBytes += batch.body.end - batch.body.start;
        this.#acked.inc(batch.body.end - batch.body.start);
        batch.settle();
        batch.slot.release();
        return;
      } catch (error) {
        if (systemCode(error) === "EPIPE") return this.#close();
        const problem = `lines can't be written: ${(error as Error).message}`;
        if (this.#problem === "") log.warn({ error }, `${problem}; retrying`);
        this.#problem = problem;
      }
      await clock.sleep(backoff.next(), this.#stop.signal);
    }
  }

  #close(): void {
    this.#isClosed = true;
    this.#options.log.info("the reader of the lines is gone; stopping");
    this.#options.onClosed?.();
  }
}

export interface FileSinkOptions {
  readonly folder: string;
  readonly name: string;
  /** Size beyond which a file is rotated, bytes. */
  readonly rotateBytes: number;
  /** Files kept, the current one included. */
  readonly files: number;
}

/** Appends to <folder>/<name>, rotated to <name>.1, <name>.2 … */
export class FileSink implements LineSink {
  readonly #options: FileSinkOptions;
  readonly #path: string;
  #fd: number | undefined;
  #bytes = 0;

  /** Throws settings_invalid if the folder can't be made. */
  constructor(options: FileSinkOptions) {
    this.#options = options;
    this.#path = join(options.folder, options.name);
    try {
      mkdirSync(options.folder, { recursive: true });
    } catch (error) {
      throw new AppError("settings_invalid", `output.file.path: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  write(lines: Buffer): void {
    this.#open();
    // Before the lines are written: where a rotation fails they would be written again and again.
    if (this.#bytes >= this.#options.rotateBytes) this.#rotate();
    const fd = this.#open();
    try {
      writeFully(fd, lines);
      fdatasyncSync(fd);
      this.#bytes += lines.length;
    } catch (error) {
      this.#cutBack(fd); // the retry writes all lines again
      throw error;
    }
  }

  /** Removes a part of lines: it would be the beginning of the next line. */
  #cutBack(fd: number): void {
    try {
      ftruncateSync(fd, this.#bytes);
    } finally {
      this.close();
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #open(): number {
    if (this.#fd === undefined) {
      this.#fd = openSync(this.#path, "a+", 0o600);
      try {
        this.#bytes = fstatSync(this.#fd).size;
        this.#endLastLine(this.#fd);
      } catch (error) {
        this.close(); // the retry ends the last line
        throw error;
      }
    }
    return this.#fd;
  }

  /** A killed agent or a lost disk may leave a part of a line. */
  #endLastLine(fd: number): void {
    const last = Buffer.alloc(1);
    if (this.#bytes === 0 || readSync(fd, last, 0, 1, this.#bytes - 1) === 0 || last[0] === NEWLINE) return;
    this.#bytes += writeSync(fd, "\n");
  }

  #rotate(): void {
    this.close();
    const { files } = this.#options;
    rmSync(`${this.#path}.${files - 1}`, { force: true });
    for (let at = files - 2; at >= 0; at--) {
      const from = at === 0 ? this.#path : `${this.#path}.${at}`;
      if (statSync(from, { throwIfNoEntry: false }) !== undefined)
        renameSync(from, `${this.#path}.${at + 1}`);
    }
  }
}

/** Standard output. A pipe whose reader is slow makes the agent wait. */
export const consoleSink: LineSink = {
  write(lines) {
    for (let at = 0; at < lines.length; ) {
      try {
        at += writeSync(1, lines, at);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      }
    }
  },
  close: () => undefined,
};
