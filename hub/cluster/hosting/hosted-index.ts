/** The shards of one index at this hub: what they have taken since the last commit, and when they are refreshed. */

import type { RefreshInterval } from "#hub/cluster/catalog/refresh-interval.ts";
import type { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import type { ItemResult } from "#hub/engine/operations/item-result.ts";
import type { Shard } from "#hub/engine/shard.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Position } from "#proto/position.ts";
import { LogFigures, type PrintedLogFigures } from "./log-backlog.ts";
import { RefreshPace } from "./refresh-pace.ts";

/** Figures of one shard. */
export interface ShardStats {
  readonly shard: number;
  readonly docs: number;
  readonly deleted: number;
  readonly bytes: number;
  readonly segments: number;
  /** See the engine's ShardStats. */
  readonly fieldData: ReadonlyMap<string, number>;
  /** Likewise. */
  readonly completions: ReadonlyMap<string, number>;
  readonly log: PrintedLogFigures;
  /** See the engine's ShardStats. */
  readonly writtenMs: number;
  /** Likewise. */
  readonly generation: number;
}

/** A shard with its figures. */
class HostedShard {
  readonly shard: Shard;
  /** Something was applied since the last commit. */
  isDirty = false;
  /** Something was applied since the last refresh. */
  isStale = true;
  readonly log = new LogFigures();

  constructor(shard: Shard) {
    this.shard = shard;
  }
}

/** See the file's comment. */
export class HostedIndex {
  readonly #hosted: HostedShard[];
  readonly #clock: Clock;
  readonly #pace = new RefreshPace();

  constructor(shards: readonly Shard[], clock: Clock) {
    this.#hosted = shards.map((shard) => new HostedShard(shard));
    this.#clock = clock;
  }

  get shards(): Shard[] {
    return this.#hosted.map(({ shard }) => shard);
  }

  /** Something was applied since the last commit. */
  get isDirty(): boolean {
    return this.#hosted.some(({ isDirty }) => isDirty);
  }

  /** Undefined where the index has no such shard. */
  shard(number: number): Shard | undefined {
    return this.#hosted[number]?.shard;
  }

  /** Puts a shard that was opened anew in the place of another one. */
  replace(number: number, shard: Shard): void {
    this.#hosted[number] = new HostedShard(shard);
  }

  /** See Shard.apply. */
  apply(number: number, batch: DocBatchView, position: Position): ItemResult[] | null {
    const hosted = this.#hosted[number]!;
    hosted.isDirty = true;
    hosted.isStale = true;
    const results = hosted.shard.apply(batch, position);
    if (results !== null) hosted.log.add(batch.count, batch.bytes.length);
    return results;
  }

  /** Commits the shards that have something to commit. */
  commit({ isSet }: RefreshInterval): void {
    for (const hosted of this.#hosted) {
      if (!hosted.isDirty) continue;
      hosted.shard.commit();
      hosted.log.commit(this.#clock.now());
      hosted.isDirty = false;
      if (isSet) continue;
      // What was applied is in segments now: to show them costs nothing.
      hosted.shard.refresh();
      hosted.isStale = false;
    }
  }

  /** Refreshes where the time has come; returns whether it had. `isAwaited`: somebody waits for the next refresh. */
  refreshDue(interval: RefreshInterval, isAwaited: boolean): boolean {
    // Where nothing was applied it costs nothing, and lets go of segments that were merged.
    const isDue = this.#pace.isDue(interval, isAwaited || !this.#isStale, this.#clock.monotonic());
    if (isDue) this.refresh();
    return isDue;
  }

  /** Readies the shards for a search. */
  beforeSearch(interval: RefreshInterval): void {
    const isWanted = this.#pace.search(interval, this.#clock.monotonic());
    if (isWanted && this.#isStale) this.refresh();
  }

  refresh(): void {
    const startMs = this.#clock.monotonic();
    for (const hosted of this.#hosted) {
      hosted.shard.refresh();
      hosted.isStale = false;
    }
    const endMs = this.#clock.monotonic();
    this.#pace.refreshed(endMs, endMs - startMs);
  }

  /** `retainsLog`: what is committed still counts as held by the log. */
  stats(retainsLog: boolean): ShardStats[] {
    return this.#hosted.map(({ shard, log }, number) => ({
      shard: number,
      ...shard.stats(),
      log: log.print(this.#clock.now(), retainsLog),
    }));
  }

  close(): void {
    for (const { shard } of this.#hosted) shard.close();
  }

  /** Something was applied since the last refresh. */
  get #isStale(): boolean {
    return this.#hosted.some(({ isStale }) => isStale);
  }
}
