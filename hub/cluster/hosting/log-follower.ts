/** Follows DOC and keeps the shards going: applies, answers, refreshes, commits and merges, until it is stopped. */

import { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import type { ItemResult } from "#hub/engine/operations/item-result.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { type AppError, systemCode, toAppError } from "#proto/kit/errors.ts";
import { freeBytes } from "#proto/kit/free-bytes.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { DocResult, type tailrace } from "#proto/messages.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import type { ShardHost } from "./shard-host.ts";

/** A message of DOC. Its bytes are the follower's, which frees them when they are applied. */
export interface DocMessage {
  readonly position: Position;
  readonly data: Uint8Array;
}

export interface LogFollowerOptions {
  readonly host: ShardHost;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Messages of DOC behind `after`, in order, until `signal` is aborted. Throws journal_gap where some were purged. */
  readonly read: (after: Position, signal: AbortSignal) => AsyncIterable<DocMessage>;
  /** Where reading goes on behind a gap: the place before the first message that is still there. */
  readonly oldest: () => Promise<Position>;
  readonly reply: (subject: string, data: Uint8Array) => void;
  /** Keeps a message that no shard can apply. */
  readonly deadLetter: (message: DocMessage, reason: AppError) => Promise<void>;
  /** Hears of each commit. */
  readonly onCommitted: (position: Position) => void;
}

/** Message bytes after which a commit doesn't wait for its time. */
const COMMIT_BYTES = 32 * 1024 * 1024;
const COMMIT_EVERY_MS = 5_000;
const TICK_MS = 100;
/** Between two slices (5 ms) of a merge: while one is under way it gets a fifth of the thread. */
const MERGE_PAUSE_MS = 20;
const RETRY_MS = 2_000;

/** What became of the operations of a message in the dead letters. */
const REFUSED: ItemResult = {
  errorCode: "internal",
  errorReason: "the shard could not apply the message; it is kept in the dead letters",
};

export class LogFollower implements Component {
  readonly #options: LogFollowerOptions;
  readonly #abort = new AbortController();
  readonly #applied: Counter;
  readonly #refused: Counter;
  readonly #gaps: Counter;
  /** Messages in the dead letters that a reopened shard comes by again. */
  readonly #skipped = new Set<string>();
  #failed: Position | undefined;
  /** Ends one reading, to begin another from the position that the shards have then. */
  #session = new AbortController();
  #uncommittedBytes = 0;
  #committedAtMs = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: LogFollowerOptions) {
    this.#options = options;
    const { metrics } = options;
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
    const { clock, host, onCommitted } = this.#options;
    this.#committedAtMs = clock.monotonic();
    onCommitted(host.position);
    this.#running = Promise.all([this.#read(), this.#tick()]);
    return Promise.resolve();
  }

  /** Stops following, then commits everything applied. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
    this.#commit();
  }

  async #read(): Promise<void> {
    const { host, read, clock } = this.#options;
    const { signal } = this.#abort;
    const backoff = new Backoff({ firstMs: 100, capMs: 5_000 });
    while (!signal.aborted) {
      this.#session = new AbortController();
      try {
        for await (const message of read(host.position, AbortSignal.any([signal, this.#session.signal]))) {
          // A shard was opened anew meanwhile: what it needs again lies before this message.
          if (this.#session.signal.aborted) break;
          await this.#apply(message);
          backoff.reset();
        }
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error);
        await clock.sleep(backoff.next(), signal);
      }
    }
  }

  /** Moves behind a gap of the log; every other failure is tried again from the position that the shards have. */
  async #recover(error: unknown): Promise<void> {
    const { log, oldest, host } = this.#options;
    const failure = toAppError(error);
    if (failure.code !== "journal_gap") {
      log.warn({ err: failure }, "following the log failed; it is tried again");
      return;
    }
    const next = await oldest();
    this.#gaps.inc();
    log.error(
      { after: host.position, next },
      "messages of the log are gone that were not applied; agents send again what they still have",
    );
    host.skip(next);
  }

  /** Applies a message; a full disk is waited for. */
  async #apply(message: DocMessage): Promise<void> {
    const { host, clock, log } = this.#options;
    const { signal } = this.#abort;
    const backoff = new Backoff({ firstMs: 200, capMs: 10_000 });
    let batch: DocBatchView | undefined;
    for (;;) {
      try {
        if (this.#skipped.has(positionKey(message.position))) return host.skip(message.position);
        batch = new DocBatchView(message.data);
        const items = host.apply(batch, message.position);
        this.#applied.inc();
        this.#uncommittedBytes += batch.bytes.length;
        if (items !== null) this.#answer(batch.header, message.position, items);
        // The shard has copied what it keeps.
        freeBytes(batch.bytes);
        freeBytes(message.data);
        return;
      } catch (error) {
        const failure = toAppError(error);
        const full = failure.code === "disk_full" || systemCode(error) === "ENOSPC";
        if (!full) return await this.#fail(message, batch, failure);
        log.error({ err: failure }, "cannot index for now; free some disk space");
        await clock.sleep(backoff.next(), signal);
        if (signal.aborted || this.#session.signal.aborted) throw error;
      }
    }
  }

  /**
   * A message that failed half-way: its shard is opened as it was committed and the log read again from there. The
   * same message failing a second time is kept in the dead letters and passed over. Throws to begin reading anew.
   */
  async #fail(message: DocMessage, batch: DocBatchView | undefined, failure: AppError): Promise<void> {
    const { host, log, deadLetter } = this.#options;
    const again = this.#failed !== undefined && comparePositions(this.#failed, message.position) === 0;
    if (batch !== undefined) host.reopen(batch.header);
    if (again || batch === undefined) {
      this.#refused.inc();
      log.error(
        { err: failure.cause ?? failure, position: message.position },
        "a message of the log cannot be applied; it is kept in the dead letters",
      );
      await deadLetter(message, failure);
      if (batch !== undefined)
        this.#answer(batch.header, message.position, [{ ...REFUSED, count: batch.count }]);
      this.#skipped.add(positionKey(message.position));
      if (batch === undefined) return host.skip(message.position);
    }
    this.#failed = message.position;
    throw failure;
  }

  /** Tells who waits for it what became of a message. An answer that can't be sent is no reason to apply it again. */
  #answer({ reply }: tailrace.DocBatch, { sequence }: Position, items: ItemResult[]): void {
    if (reply === "") return;
    try {
      this.#options.reply(reply, DocResult.encode({ sequence, items }).finish());
    } catch (error) {
      this.#options.log.warn({ err: toAppError(error) }, "the answer to a write could not be sent");
    }
  }

  async #tick(): Promise<void> {
    const { clock, host, log } = this.#options;
    const { signal } = this.#abort;
    let merges = false;
    while (!signal.aborted) {
      await clock.sleep(merges ? MERGE_PAUSE_MS : TICK_MS, signal);
      if (signal.aborted) return;
      try {
        // A search may have found it out.
        if (host.reopenFailed()) this.#session.abort();
        host.refreshDue();
        const due = clock.monotonic() - this.#committedAtMs >= COMMIT_EVERY_MS;
        if (this.#uncommittedBytes > 0 && (due || this.#uncommittedBytes >= COMMIT_BYTES)) this.#commit();
        else merges = host.mergeStep();
      } catch (error) {
        merges = false;
        log.error({ err: toAppError(error) }, "refresh, commit or merge failed; it is tried again");
        if (host.reopenFailed()) this.#session.abort();
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }

  #commit(): void {
    const position = this.#options.host.commit();
    this.#uncommittedBytes = 0;
    this.#committedAtMs = this.#options.clock.monotonic();
    this.#options.onCommitted(position);
  }
}

function positionKey({ incarnation, sequence }: Position): string {
  return `${incarnation}/${sequence}`;
}
