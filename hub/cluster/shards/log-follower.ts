/** Reads DOC, applies its messages to the shards and answers writes, until stopped. `ShardUpkeep` does the rest. */

import { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import type { ItemResult } from "#hub/engine/operations/item-result.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { type AppError, systemCode, toAppError } from "#proto/kit/errors.ts";
import { freeBytes, recycleBytes } from "#proto/kit/large-bytes.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { DocResult, type tailrace } from "#proto/messages.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import type { ShardHost } from "./shard-host.ts";
import { ShardUpkeep } from "./shard-upkeep.ts";

/** A message of DOC. Its bytes belong to the follower, which frees them once they are applied. */
export interface DocMessage {
  readonly position: Position;
  readonly data: Uint8Array;
}

/** What a host reads: a message, or null if the messages up to a position are all for other hosts' shards. */
export interface DocEntry {
  readonly position: Position;
  readonly data: Uint8Array | null;
}

export interface LogFollowerOptions {
  readonly host: ShardHost;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /**
   * Yields messages of DOC after `after`, in order, until `signal` is aborted. Throws journal_gap if some were
   * purged.
   */
  readonly read: (after: Position, signal: AbortSignal) => AsyncIterable<DocEntry>;
  /**
   * Returns where to continue after a gap: the position before the first message that is still stored. Throws if these
   * copies must not continue without the lost messages; nothing is applied then.
   */
  readonly oldest: () => Promise<Position>;
  readonly reply: (subject: string, data: Uint8Array) => void;
  /** Stores a message that no shard can apply. */
  readonly deadLetter: (message: DocMessage, reason: AppError) => Promise<void>;
  /** Called after each commit. */
  readonly onCommitted: (position: Position) => void;
}

/** Pause when memory is short, besides the pause before reading again: the next commit frees other shards' buffers. */
const MEMORY_PAUSE_MS = 500;

/** Result of the operations of a message that went to the dead letters. */
const REFUSED: ItemResult = {
  errorCode: "internal",
  errorReason: "the shard could not apply the message; it is kept in the dead letters",
};

export class LogFollower implements Component {
  readonly #options: LogFollowerOptions;
  readonly #upkeep: ShardUpkeep;
  readonly #abort = new AbortController();
  readonly #applied: Counter;
  readonly #refused: Counter;
  readonly #gaps: Counter;
  /** Messages in the dead letters that a reopened shard meets again. */
  readonly #skipped = new Set<string>();
  #failed: Position | undefined;
  /** Ends one read, so that another begins at the shards' current position. */
  #session = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #applyFailure = "";

  constructor(options: LogFollowerOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#upkeep = new ShardUpkeep({ ...options, onReopened: () => this.reread() });
    this.#applied = metrics.counter(
      "tailrace_engine_messages_applied_total",
      "messages of DOC handed to shards",
    );
    this.#refused = metrics.counter(
      "tailrace_engine_messages_refused_total",
      "messages of DOC that no shard could apply, kept in the dead letters",
    );
    this.#gaps = metrics.counter(
      "tailrace_engine_log_gaps_total",
      "times that messages of DOC were purged or lost before they were applied",
    );
  }

  start(): Promise<void> {
    this.#running = Promise.all([this.#upkeep.run(this.#abort.signal), this.#read()]);
    return Promise.resolve();
  }

  /** Continues reading from the shards' position, which went back. */
  reread(): void {
    this.#session.abort();
  }

  /** Stops reading, then commits everything applied. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
    this.#upkeep.commit();
  }

  /** Why nothing can be indexed or made durable now; empty while all is well. */
  get failure(): string {
    return this.#applyFailure || this.#upkeep.failure;
  }

  async #read(): Promise<void> {
    const { host, read, clock } = this.#options;
    const { signal } = this.#abort;
    const backoff = new Backoff({ firstMs: 100, capMs: 5_000 });
    while (!signal.aborted) {
      this.#session = new AbortController();
      try {
        for await (const message of read(host.position, AbortSignal.any([signal, this.#session.signal]))) {
          // A shard was reopened meanwhile and needs messages before this one.
          if (this.#session.signal.aborted) break;
          if (message.data === null) this.#pass(message.position);
          else await this.#apply({ position: message.position, data: message.data });
          backoff.reset();
        }
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error);
        await clock.sleep(backoff.next(), signal);
      }
    }
  }

  #pass(position: Position): void {
    this.#options.host.skip(position);
    this.#upkeep.applied(1);
  }

  /** Skips a gap in the log; retries every other failure from the shards' current position. */
  async #recover(error: unknown): Promise<void> {
    const { log, oldest, host } = this.#options;
    const failure = toAppError(error);
    if (failure.code !== "journal_gap") {
      log.warn({ err: failure }, "reading the log failed; retrying");
      return;
    }
    let next: Position;
    try {
      next = await oldest();
    } catch (refusal) {
      this.#applyFailure = toAppError(refusal).message;
      log.error({ after: host.position }, this.#applyFailure);
      return;
    }
    // A shard that needs more of the log arrived or was reopened meanwhile: the log may have what it lacks.
    if (this.#session.signal.aborted) return;
    this.#gaps.inc();
    log.error(
      { after: host.position, next },
      "messages of the log were lost before they were applied; agents resend what they still have",
    );
    host.skipLost(next);
  }

  /**
   * Applies a message; waits while the disk or the memory is full, or files can't be read or written. Leaves it for the next
   * read if a shard was reopened meanwhile: the host's position must not pass what that shard lacks.
   */
  async #apply(message: DocMessage): Promise<void> {
    const { host } = this.#options;
    const backoff = new Backoff({ firstMs: 200, capMs: 10_000 });
    let batch: DocBatchView | undefined;
    let isPrepared = true;
    for (;;) {
      try {
        if (this.#skipped.has(positionKey(message.position))) return host.skip(message.position);
        batch = new DocBatchView(message.data);
        const metadata = host.prepare(batch.header);
        isPrepared = metadata === undefined;
        await metadata;
        isPrepared = true;
        if (this.#session.signal.aborted) return;
        const items = host.apply(batch, message.position);
        this.#applyFailure = "";
        this.#applied.inc();
        this.#upkeep.applied(batch.sizeBytes);
        if (items !== null) this.#answer(batch.header, message.position, items);
        // The shard has copied what it keeps.
        recycleBytes(batch.bytes);
        freeBytes(message.data);
        return;
      } catch (error) {
        const failure = toAppError(error);
        if (!isPrepared) throw failure;
        if (failure.code === "memory_limit") return await this.#awaitMemory(batch, failure);
        if (!isOfDisk(failure)) return await this.#fail(message, batch, failure);
        await this.#awaitDisk(failure, backoff.next());
      }
    }
  }

  /**
   * Waits after files couldn't be read or written, which isn't the message's fault. Throws to restart reading if that has
   * failed a shard, or when reading ends.
   */
  async #awaitDisk(failure: AppError, pauseMs: number): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#abort;
    const isFull = failure.code === "disk_full" || systemCode(failure.cause) === "ENOSPC";
    this.#applyFailure = `indexing waits: ${failure.detail ?? failure.message}`;
    const text = isFull
      ? "cannot index: the disk is full; free some disk space"
      : "cannot index: files of the shards can't be read or written; retrying";
    log.error({ err: failure }, text);
    const isReopened = this.#upkeep.reopenFailed();
    await clock.sleep(pauseMs, signal);
    if (isReopened || signal.aborted || this.#session.signal.aborted) throw failure;
  }

  /**
   * Handles a message that failed for lack of memory, which isn't the message's fault. Reopens its shard as last committed,
   * because the message may be half applied, and waits while commits free memory. Throws to restart reading.
   */
  async #awaitMemory(batch: DocBatchView | undefined, failure: AppError): Promise<never> {
    const { host, clock, log } = this.#options;
    this.#applyFailure = `indexing waits: ${failure.message}`;
    log.error({ err: failure }, "cannot index: the memory for indexing is full; retrying");
    if (batch !== undefined) host.reopen(batch.header);
    await clock.sleep(MEMORY_PAUSE_MS, this.#abort.signal);
    throw failure;
  }

  /**
   * Handles a message that failed half-way: reopens its shard as last committed, from where the log is read again. A message
   * that fails twice is stored in the dead letters and skipped. Throws to restart reading.
   */
  async #fail(message: DocMessage, batch: DocBatchView | undefined, failure: AppError): Promise<void> {
    const { host, log, deadLetter } = this.#options;
    const again = this.#failed !== undefined && comparePositions(this.#failed, message.position) === 0;
    if (batch !== undefined) host.reopen(batch.header);
    if (again || batch === undefined) {
      this.#refused.inc();
      log.error(
        { err: failure.cause ?? failure, position: message.position },
        "a message of the log cannot be applied; it is stored in the dead letters",
      );
      await deadLetter(message, failure);
      if (batch !== undefined)
        this.#answer(batch.header, message.position, [{ ...REFUSED, count: batch.count }]);
      this.#skipped.add(positionKey(message.position));
      if (batch === undefined) {
        if (!this.#session.signal.aborted) host.skip(message.position);
        return;
      }
    }
    this.#failed = message.position;
    throw failure;
  }

  /** Sends the results of a message to its sender. A failed answer isn't a reason to apply the message again. */
  #answer({ reply }: tailrace.DocBatch, { sequence }: Position, items: ItemResult[]): void {
    if (reply === "") return;
    try {
      this.#options.reply(reply, DocResult.encode({ sequence, items }).finish());
    } catch (error) {
      this.#options.log.warn({ err: toAppError(error) }, "the response to a write could not be sent");
    }
  }
}

function positionKey({ incarnation, sequence }: Position): string {
  return `${incarnation}/${sequence}`;
}

/** Returns whether files couldn't be read or written, by the system's code: ERR_… is of Node. */
function isOfDisk({ code, cause }: AppError): boolean {
  return code === "disk_full" || code === "file_unreadable" || /^E[A-Z0-9]+$/.test(systemCode(cause));
}
