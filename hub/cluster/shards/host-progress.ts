/**
 * How far a host has read the log and what of that is durable. A commit writes the shards one after the other and then the
 * position, in slices between which the thread does other work. It covers what was applied before it began.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import type { HostedCatalog, ShardHostOptions } from "./contract.ts";
import type { HostedIndices } from "./hosted-index.ts";
import { refreshInterval } from "./refresh-schedule.ts";
import type { ShardFolders } from "./shard-folders.ts";

/** A part of the work for many shards ends after this long, so that searches and writes get their turns. */
const SLICE_MS = 20;

/** A commit under way: the shards that it still has to write, and the position that it covers. */
interface CommitRound {
  readonly position: Position;
  readonly shards: { readonly uuid: string; readonly number: number }[];
}

/** Returns a function that tells whether a slice of work that begins now is over. */
export function beginSlice(clock: Clock, ms = SLICE_MS): () => boolean {
  const endMs = clock.monotonic() + ms;
  return () => clock.monotonic() >= endMs;
}

interface HostProgressOptions extends Pick<ShardHostOptions, "clock" | "onCommitting"> {
  readonly catalog: Pick<HostedCatalog, "byUuid">;
  readonly folders: ShardFolders;
  readonly hosted: HostedIndices;
  /** What was committed before the start. */
  readonly position: Position;
}

export class HostProgress {
  readonly #options: HostProgressOptions;
  #position: Position;
  /** Position up to which everything is durable. */
  #committed: Position;
  #round: CommitRound | undefined;

  constructor(options: HostProgressOptions) {
    this.#options = options;
    this.#position = options.position;
    this.#committed = options.position;
  }

  /** Last message of DOC that was applied or skipped. */
  get position(): Position {
    return this.#position;
  }

  /** Records that everything up to `position` was applied or skipped. */
  moveTo(position: Position): void {
    this.#position = position;
  }

  /**
   * Goes back to the oldest of the positions of shards that have lost files, on disk too. What is written isn't above the
   * committed position: while a commit is under way such a shard may have been written twice, and others not yet.
   */
  goBackToOldest(positions: readonly Position[]): void {
    for (const position of positions) this.#goBackTo(position);
    const isAbove = comparePositions(this.#position, this.#committed) > 0;
    this.#writeCommitted(isAbove ? this.#committed : this.#position);
  }

  /**
   * Goes back for a shard that was reopened with all that it had committed. `position`: of its last message, which may be older
   * than the log; everything up to the committed position it has.
   */
  goBackToCommit(position: Position): void {
    this.#goBackTo(comparePositions(position, this.#committed) < 0 ? this.#committed : position);
  }

  /** Goes back to where a shard that arrives needs the log, on disk too; returns the position. */
  goBackDurably(position: Position): Position {
    this.#goBackTo(position);
    this.#writeCommitted(this.#position);
    return this.#position;
  }

  /** Returns whether everything up to `position` is applied and on disk; commits if only the commit is missing. */
  isDurable(position: Position): boolean {
    if (comparePositions(this.#position, position) < 0) return false;
    if (comparePositions(this.#committed, position) < 0) this.commit();
    return true;
  }

  /** A commit was begun by `commitStep` and isn't complete. */
  get isCommitting(): boolean {
    return this.#round !== undefined;
  }

  /** Makes everything applied durable and returns the position that this covers. Holds the thread until then. */
  commit(): Position {
    this.#round = undefined;
    for (;;) {
      const position = this.#commitSlice(Number.POSITIVE_INFINITY);
      if (position !== undefined) return position;
    }
  }

  /** Begins a commit or does the next slice of it. Returns the position that it covers once all is durable, else undefined. */
  commitStep(): Position | undefined {
    return this.#commitSlice(SLICE_MS);
  }

  /** Goes back to where a shard needs the log. A commit that is under way would cover what the shard lacks now: it ends. */
  #goBackTo(position: Position): void {
    if (comparePositions(position, this.#position) >= 0) return;
    this.#position = position;
    this.#round = undefined;
  }

  #commitSlice(sliceMs: number): Position | undefined {
    const { clock, hosted, onCommitting } = this.#options;
    onCommitting?.(true);
    try {
      const round = (this.#round ??= { position: this.#position, shards: hosted.dirty() });
      const isOver = beginSlice(clock, sliceMs);
      for (let next = round.shards.pop(); next !== undefined; next = round.shards.pop()) {
        this.#commitShard(next);
        if (isOver()) return undefined;
      }
      this.#round = undefined;
      this.#writeCommitted(round.position);
      return round.position;
    } catch (error) {
      this.#round = undefined;
      throw error;
    } finally {
      onCommitting?.(false);
    }
  }

  #commitShard({ uuid, number }: CommitRound["shards"][number]): void {
    const { catalog, folders, hosted } = this.#options;
    const index = catalog.byUuid(uuid);
    if (index !== undefined) folders.describe(index);
    hosted.get(uuid)?.commit(number, refreshInterval(index));
  }

  #writeCommitted(position: Position): void {
    const { folders, hosted } = this.#options;
    folders.writeCommitted({ position, generations: hosted.generations() });
    this.#committed = position;
  }
}
