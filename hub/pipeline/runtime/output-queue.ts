/** The way to one output's writer: records of all partitions together, few writes at a time, each tried until it works. */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { OutputRecord, OutputWriter } from "../outputs/output.ts";

/** Records and bytes of one write at most, unless a single record is longer. */
const WRITE_RECORDS = 2048;
const WRITE_BYTES = 4 * 1024 * 1024;

/** A place that is away is asked again within half a minute at most. */
const RETRY = { firstMs: 100, capMs: 30_000 };

/** A record that will never be delivered; `place` counts the records of the call. */
export interface RefusedRecord {
  readonly place: number;
  readonly reason: string;
}

export interface OutputQueueOptions {
  readonly id: string;
  readonly writer: OutputWriter;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends all tries. */
  readonly signal: AbortSignal;
  readonly delivered: (records: number) => void;
  readonly retried: () => void;
}

/** Records that were handed over together. */
interface Batch {
  left: number;
  readonly refused: RefusedRecord[];
  readonly done: PromiseWithResolvers<readonly RefusedRecord[]>;
}

interface Waiting {
  readonly record: OutputRecord;
  readonly place: number;
  readonly batch: Batch;
}

/** What is waiting is bounded by what may be in flight in the pipeline. */
export class OutputQueue {
  /** Why the last try failed; undefined while it works. */
  failure: string | undefined;
  readonly #options: OutputQueueOptions;
  readonly #waiting: Waiting[] = [];
  readonly #running = new Set<Promise<void>>();

  constructor(options: OutputQueueOptions) {
    this.#options = options;
  }

  /** Resolves when all records are delivered or refused. Rejects with `cancelled` at the stop. */
  write(records: readonly OutputRecord[]): Promise<readonly RefusedRecord[]> {
    if (this.#options.signal.aborted) return Promise.reject(cancelled());
    if (records.length === 0) return Promise.resolve([]);
    const batch: Batch = { left: records.length, refused: [], done: Promise.withResolvers() };
    for (const [place, record] of records.entries()) this.#waiting.push({ record, place, batch });
    this.#run();
    return batch.done.promise;
  }

  /** Waits for the writes at work; `signal` must be aborted. Then closes the writer. */
  async stop(): Promise<void> {
    await Promise.all(this.#running);
    await this.#options.writer.stop();
  }

  #run(): void {
    const parallel = this.#options.writer.parallel ?? 1;
    while (this.#waiting.length > 0 && this.#running.size < parallel) {
      const task = this.#deliver(this.#take()).finally(() => {
        this.#running.delete(task);
        this.#run();
      });
      this.#running.add(task);
    }
  }

  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#waiting.length && count < WRITE_RECORDS) {
      bytes += this.#waiting[count]!.record.body.length;
      if (count > 0 && bytes > WRITE_BYTES) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #deliver(taken: readonly Waiting[]): Promise<void> {
    const backoff = new Backoff(RETRY);
    const { signal, clock } = this.#options;
    for (let left = taken; left.length > 0; ) {
      if (signal.aborted) {
        for (const { batch } of left) batch.done.reject(cancelled());
        return;
      }
      left = await this.#try(left, backoff.tries);
      if (left.length > 0) await clock.sleep(backoff.next(), signal);
    }
  }

  /** Tries once; returns what is to be tried again. */
  async #try(items: readonly Waiting[], tries: number): Promise<readonly Waiting[]> {
    const { writer, signal, delivered, retried, log, id } = this.#options;
    try {
      const rest = await writer.write(
        items.map(({ record }) => record),
        signal,
      );
      const refused = new Map((rest?.refused ?? []).map(({ place, reason }) => [place, reason]));
      const again = new Set(rest?.again ?? []);
      for (const [place, item] of items.entries()) {
        if (!again.has(place)) settle(item, refused.get(place));
      }
      delivered(items.length - again.size - refused.size);
      this.failure = again.size === 0 ? undefined : `${again.size} of ${items.length} records weren't taken`;
      if (again.size > 0) retried();
      return items.filter((_, place) => again.has(place));
    } catch (error) {
      const failure = toAppError(error);
      this.failure = failure.code === "internal" ? (failure.detail ?? "") : failure.message;
      if (signal.aborted) return items;
      if (!failure.retryable && failure.code !== "internal") {
        for (const item of items) settle(item, failure.message);
        return [];
      }
      retried();
      log.warn({ err: error, output: id, tries: tries + 1 }, "an output can't deliver and tries again");
      return items;
    }
  }
}

function settle({ batch, place }: Waiting, reason: string | undefined): void {
  if (reason !== undefined) batch.refused.push({ place, reason });
  batch.left--;
  if (batch.left === 0) batch.done.resolve(batch.refused);
}

function cancelled(): AppError {
  return new AppError("cancelled", "the pipeline stops");
}
