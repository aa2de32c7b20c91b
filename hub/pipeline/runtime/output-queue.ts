/**
 * The queue of one output's writer: records of all partitions, few concurrent writes, each retried until it succeeds.
 */

import type { OutputRecord, OutputWriter } from "#hub/pipeline/plugins/output.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";

/** Maximum of records and bytes per write, unless a single record is longer. */
const WRITE_RECORDS = 2048;
const WRITE_BYTES = 4 * 1024 * 1024;

/** Pauses between attempts; their number is unlimited. */
const RETRY = { firstMs: 100, capMs: 30_000 };

/** A record that will never be delivered; `place`: index of the record in the call. */
export interface RefusedRecord {
  readonly place: number;
  readonly reason: string;
}

export interface OutputQueueOptions {
  readonly id: string;
  readonly writer: OutputWriter;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends all attempts. */
  readonly signal: AbortSignal;
  readonly delivered: (records: number) => void;
  readonly retried: () => void;
}

/** Records that were handed over together. */
interface Batch {
  left: number;
  /** Some of them were given to the writer. */
  isBegun: boolean;
  readonly refused: RefusedRecord[];
  readonly done: PromiseWithResolvers<readonly RefusedRecord[]>;
}

interface Waiting {
  readonly record: OutputRecord;
  readonly place: number;
  readonly batch: Batch;
}

/** Records in flight to the writer. */
interface Running {
  readonly done: Promise<void>;
  /** When the current write began, on the monotonic clock. */
  startedMs: number;
}

/** Its length is bounded by the pipeline's limit of events in flight. */
export class OutputQueue {
  /** Why the last attempt failed; undefined while it works. */
  failure: string | undefined;
  readonly #options: OutputQueueOptions;
  readonly #waiting: Waiting[] = [];
  readonly #running = new Set<Running>();
  readonly #settling = new AbortController();

  constructor(options: OutputQueueOptions) {
    this.#options = options;
  }

  /** Resolves when all records are delivered or refused. Rejects with `cancelled` at the stop. */
  write(records: readonly OutputRecord[]): Promise<readonly RefusedRecord[]> {
    if (this.#settling.signal.aborted || this.#options.signal.aborted) return Promise.reject(cancelled());
    if (records.length === 0) return Promise.resolve([]);
    const batch: Batch = {
      left: records.length,
      isBegun: false,
      refused: [],
      done: Promise.withResolvers(),
    };
    for (const [place, record] of records.entries()) this.#waiting.push({ record, place, batch });
    this.#run();
    return batch.done.promise;
  }

  /**
   * Gives back what no write has begun with, with `cancelled`, and lets the writes under way come to their end: a
   * target that doesn't recognise repetitions would get their records twice. Resolves when none is in progress, or
   * after `patienceMs`; a write that has taken as long already is blocked and isn't waited for.
   */
  async settle(patienceMs: number): Promise<void> {
    const { clock } = this.#options;
    this.#settling.abort();
    this.#run();
    const endMs = clock.monotonic() + patienceMs;
    for (;;) {
      const nowMs = clock.monotonic();
      const hopeful = [...this.#running].filter(({ startedMs }) => startedMs + patienceMs > nowMs);
      if (hopeful.length === 0 || nowMs >= endMs) return;
      const settled = new AbortController();
      const all = Promise.all(hopeful.map(({ done }) => done)).then(() => settled.abort());
      await Promise.race([all, clock.sleep(endMs - nowMs, settled.signal)]);
    }
  }

  /** Waits for the writes in progress; `signal` must be aborted. Then closes the writer. */
  async stop(): Promise<void> {
    this.#settling.abort();
    this.#run();
    while (this.#running.size > 0) await Promise.all([...this.#running].map(({ done }) => done));
    await this.#options.writer.stop();
  }

  #run(): void {
    const parallel = this.#options.writer.parallel ?? 1;
    if (this.#settling.signal.aborted) this.#giveBack();
    while (this.#waiting.length > 0 && this.#running.size < parallel) this.#begin(this.#take());
  }

  #begin(taken: readonly Waiting[]): void {
    for (const { batch } of taken) batch.isBegun = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const running: Running = { done: promise, startedMs: this.#options.clock.monotonic() };
    this.#running.add(running);
    void this.#deliver(taken, running).finally(() => {
      this.#running.delete(running);
      this.#run();
      resolve();
    });
  }

  /** Records of batches that no write has begun with go back, those of the others are still to be written. */
  #giveBack(): void {
    const { aborted } = this.#options.signal;
    const back = this.#waiting.filter(({ batch }) => aborted || !batch.isBegun);
    for (const { batch } of back) batch.done.reject(cancelled());
    const rest = this.#waiting.filter(({ batch }) => !aborted && batch.isBegun);
    this.#waiting.splice(0, this.#waiting.length, ...rest);
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

  async #deliver(taken: readonly Waiting[], running: Running): Promise<void> {
    const backoff = new Backoff(RETRY);
    const { signal, clock } = this.#options;
    const ending = AbortSignal.any([signal, this.#settling.signal]);
    for (let left = taken; left.length > 0; ) {
      // If part of a batch was delivered, retrying the rest pays off.
      if (signal.aborted || (ending.aborted && left.length === taken.length && backoff.tries > 0)) {
        for (const { batch } of left) batch.done.reject(cancelled());
        return;
      }
      running.startedMs = clock.monotonic();
      left = await this.#try(left, backoff.tries);
      if (left.length > 0) await clock.sleep(backoff.next(), ending.aborted ? signal : ending);
    }
  }

  /** Makes one attempt; returns what must be retried. */
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
