/**
 * What shards need besides messages: refreshes, commits, merges and freed disk space. Each is done in slices, between which
 * the thread applies messages and answers searches.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Position } from "#proto/position.ts";
import type { ShardHost } from "./shard-host.ts";

export interface ShardUpkeepOptions {
  readonly host: ShardHost;
  readonly log: Logger;
  readonly clock: Clock;
  /** Called after each commit. */
  readonly onCommitted: (position: Position) => void;
  /** Called when a shard was reopened: it needs the log again from the host's position. */
  readonly onReopened: () => void;
}

/** Message bytes after which a commit of all changed shards doesn't wait for COMMIT_EVERY_MS. */
const COMMIT_BYTES = 32 * 1024 * 1024;
/** Time between commits. A restart reads the log again from the last commit on. A commit costs several file syncs. */
const COMMIT_EVERY_MS = 5_000;
const TICK_MS = 100;
/** Pause between two slices of other work, in which searches and writes get their turns. */
const TURN_MS = 1;
/** Pause between two slices (5 ms) of a merge, which thus gets a fifth of the thread. */
const MERGE_PAUSE_MS = 20;
const RETRY_MS = 2_000;

export class ShardUpkeep {
  readonly #options: ShardUpkeepOptions;
  /** Bytes of the messages since the last commit. */
  #uncommittedBytes = 0;
  /** The part of these that the commit under way covers. */
  #committingBytes = 0;
  #committedAtMs = 0;
  #failure = "";

  constructor(options: ShardUpkeepOptions) {
    this.#options = options;
  }

  /** Why nothing can be made durable now; empty while all is well. */
  get failure(): string {
    return this.#failure;
  }

  /** Works until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void> {
    const { clock, host, onCommitted } = this.#options;
    this.#committedAtMs = clock.monotonic();
    onCommitted(host.position);
    return this.#tick(signal);
  }

  /**
   * Records the bytes of a message that the next commit covers. For messages to shards of other hosts, of which this host
   * gets the position alone: 1, so that a commit stores the position after the usual time.
   */
  applied(bytes: number): void {
    this.#uncommittedBytes += bytes;
  }

  /** Makes everything applied durable. Holds the thread until then. */
  commit(): void {
    this.#committingBytes = this.#uncommittedBytes;
    this.#committed(this.#options.host.commit());
  }

  /**
   * Reopens every shard that failed, see ShardHost.reopenFailed; returns true if there was one. Where that fails as well,
   * the shard stays failed and is reopened later.
   */
  reopenFailed(): boolean {
    try {
      return this.#options.host.reopenFailed();
    } catch (error) {
      this.#options.log.error({ err: toAppError(error) }, "a failed shard can't be opened; retrying");
      return true;
    }
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { clock, log, onReopened } = this.#options;
    let pauseMs = TICK_MS;
    while (!signal.aborted) {
      await clock.sleep(pauseMs, signal);
      if (signal.aborted) return;
      try {
        pauseMs = this.#workSlice();
        if (this.#uncommittedBytes === 0) this.#failure = "";
      } catch (error) {
        pauseMs = TICK_MS;
        this.#failure = `refresh, commit or merge fails: ${toAppError(error).message}`;
        log.error({ err: toAppError(error) }, "refresh, commit or merge failed; retrying");
        if (this.reopenFailed()) onReopened();
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }

  /** Does a slice of what is due; returns after how many ms the next one may begin. */
  #workSlice(): number {
    const { clock, host, onReopened } = this.#options;
    // A search may have detected the failure.
    if (host.reopenFailed()) onReopened();
    const hasMoreRefreshes = host.refreshDue();
    const isDue = clock.monotonic() - this.#committedAtMs >= COMMIT_EVERY_MS;
    const isWanted = this.#uncommittedBytes > 0 && (isDue || this.#uncommittedBytes >= COMMIT_BYTES);
    const isCommitting = host.isCommitting || isWanted;
    const hasMoreToCommit = isCommitting && !this.#commitStep();
    // Also between the slices of a commit: the next one may begin at once. A merge that fails must not hold it up.
    const merges = (!isCommitting || this.#failure === "") && host.mergeStep();
    const hasMoreToTrim = isDue && !isCommitting && !merges && host.trim();
    if (hasMoreRefreshes || hasMoreToCommit || hasMoreToTrim) return TURN_MS;
    return merges ? MERGE_PAUSE_MS : TICK_MS;
  }

  /** Does a slice of a commit; returns whether it is complete. */
  #commitStep(): boolean {
    const { host } = this.#options;
    if (!host.isCommitting) this.#committingBytes = this.#uncommittedBytes;
    const position = host.commitStep();
    if (position === undefined) return false;
    this.#committed(position);
    return true;
  }

  #committed(position: Position): void {
    this.#uncommittedBytes -= this.#committingBytes;
    this.#failure = "";
    this.#committedAtMs = this.#options.clock.monotonic();
    this.#options.onCommitted(position);
  }
}
