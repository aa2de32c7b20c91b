/**
 * The partitions of a session: stores their cursors lazily and keeps the floor, the position up to which all of RAW is
 * processed.
 */

import type { AppError } from "#proto/kit/errors.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { comparePositions, laterOf, lowestOf, type Position, START } from "#proto/position.ts";
import { PARTITIONS } from "#proto/subjects.ts";
import { CursorStore } from "./cursor.ts";
import {
  type Covered,
  type CursorLoading,
  type LoadedCursor,
  loadCursors,
  NOTHING,
} from "./cursor-loading.ts";
import { Floors, printPartitions, storeFloor } from "./floors.ts";
import { Partition, type PartitionDeps } from "./partition.ts";
import type { PipelineEvents } from "./ports.ts";

/** A cursor is stored at most this often. A crash repeats what came after it, which the shards drop. */
const SAVE_INTERVAL_MS = 250;

/** Cursors stored per interval, the stalest first, so that 256 busy partitions don't keep the journal busy. */
const SAVES_PER_INTERVAL = 16;

/** The floor only saves reading at the next start. */
const FLOOR_INTERVAL_MS = 5_000;

const ALL: ReadonlySet<number> = new Set(Array.from({ length: PARTITIONS }, (_, partition) => partition));

export interface CursorKeeperOptions extends CursorLoading {
  /** Called where another process has written a cursor; returns whether the session starts again because of that. */
  readonly onConflict: () => boolean;
  readonly deps: PartitionDeps;
  readonly events: PipelineEvents;
  readonly abort: AbortSignal;
}

/** Partitions that can be added. */
export interface LoadedPartitions {
  readonly partitions: ReadonlySet<number>;
  readonly cursors: readonly LoadedCursor[];
}

export class CursorKeeper {
  readonly #options: CursorKeeperOptions;
  readonly #partitions = new Map<number, Partition>();
  readonly #stopping = new AbortController();
  #owned: ReadonlySet<number> = new Set();
  /** How far RAW was read when partitions were closed that aren't dropped yet. */
  #closedAt: Position | undefined;
  readonly #floors = new Floors();
  #floor: Position = START;
  #docIncarnation = START.incarnation;
  #floorSavedMs = 0;
  #saver: Promise<void> = Promise.resolve();
  #storing: Promise<void> = Promise.resolve();
  #readPosition: () => Position = () => START;

  constructor(options: CursorKeeperOptions) {
    this.#options = options;
  }

  get floor(): Position {
    return this.#floor;
  }

  /** Last message in DOC that a processed one led to. */
  get docPosition(): Position {
    let last: Position = START;
    for (const { docPosition } of this.#partitions.values()) last = laterOf(last, docPosition);
    return last;
  }

  /** Incarnation of DOC that the cursors were compared with; 0 before `load`. */
  get docIncarnation(): number {
    return this.#docIncarnation;
  }

  /** Partitions that are processed, or closed and not dropped yet. */
  get owned(): ReadonlySet<number> {
    return this.#owned;
  }

  /** True where a partition doesn't continue. */
  get hasFailed(): boolean {
    return this.#of(this.#owned).some(({ hasFailed }) => hasFailed);
  }

  /** Loads the cursors of `partitions` (undefined: all), which `add` takes. Throws data_corrupt, unavailable. */
  async load(partitions: ReadonlySet<number> = ALL): Promise<LoadedPartitions> {
    const { bucket, losses } = this.#options;
    // Those that are added later keep the incarnation: what is lost meanwhile is compared by the next session.
    if (this.#owned.size === 0) this.#docIncarnation = losses.incarnation;
    await this.#floors.load(bucket, losses);
    return { partitions, cursors: await loadCursors(this.#options, partitions, this.#docIncarnation) };
  }

  /**
   * Adds partitions; returns the position after which RAW is to be read for them. A floor names them from now on, so that the
   * position of `start` must be theirs as well at once.
   */
  add({ partitions, cursors }: LoadedPartitions): Position {
    this.#owned = this.#owned.union(partitions);
    for (const { partition, cursor, store } of cursors) this.#add(partition, cursor, store);
    this.#floor = this.processed;
    return this.#processed(partitions);
  }

  /** Takes no further messages of partitions, which must be passed over from now on. */
  close(partitions: ReadonlySet<number>): void {
    this.#closedAt = this.#readPosition();
    for (const partition of this.#of(partitions)) partition.close();
  }

  /**
   * Stores the cursors of closed partitions that have nothing in flight, and a floor for those without one, and forgets them:
   * another hub may process them.
   */
  async drop(partitions: ReadonlySet<number>): Promise<void> {
    await this.#inTurn(async () => {
      await this.#save(PARTITIONS, partitions);
      await this.#tryFloor(() => this.#storeFloor(this.#floorOf(partitions), partitions));
    });
    for (const partition of partitions) this.#partitions.delete(partition);
    this.#owned = this.#owned.difference(partitions);
    this.#closedAt = undefined;
  }

  /** Position up to which stored cursors and the floors that were loaded say that all partitions are processed. */
  get processed(): Position {
    return this.#processed(this.#owned);
  }

  /** Loads the floors again. Throws what `load` does. */
  reloadFloors(): Promise<void> {
    return this.#floors.load(this.#options.bucket, this.#options.losses);
  }

  /** Begins to store cursors; `readPosition` says how far RAW was read. */
  start(readPosition: () => Position): void {
    this.#readPosition = readPosition;
    this.#saver = this.#saveNowAndThen();
  }

  /** Stores every cursor that moved, and the floor. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#saver;
    await this.#inTurn(async () => {
      await this.#save(PARTITIONS);
      await this.#tryFloor(() => this.#raiseFloor());
    });
    await this.idle();
  }

  /** Returns the processor of a partition, 0..255. */
  partition(partition: number): Partition {
    const known = this.#partitions.get(partition);
    if (known !== undefined) return known;
    const { bucket, owner } = this.#options;
    const store = new CursorStore(bucket, partition, owner, null, 0, this.#options.hub);
    return this.#add(partition, NOTHING, store);
  }

  /** Resolves when none of `partitions` has anything in flight. */
  async idle(partitions = this.#owned): Promise<void> {
    await Promise.all(this.#of(partitions).map((partition) => partition.idle()));
  }

  /** Returns the number of messages of `partitions` that are in flight. */
  inFlight(partitions = this.#owned): number {
    return this.#of(partitions).reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  /** Returns the sum of a number over the partitions. */
  sum(of: (partition: Partition) => number): number {
    let total = 0;
    for (const partition of this.#partitions.values()) total += of(partition);
    return total;
  }

  /** Returns those of `partitions` that have had messages. */
  #of(partitions: ReadonlySet<number>): Partition[] {
    return [...this.#partitions.values()].filter(({ partition }) => partitions.has(partition));
  }

  /** Returns the position up to which cursors and floors say that all of `partitions` are processed. */
  #processed(partitions: ReadonlySet<number>): Position {
    const each = Array.from(partitions, (partition) =>
      laterOf(this.#partitions.get(partition)?.savedPosition ?? START, this.#floors.of(partition)),
    );
    return lowestOf(each);
  }

  #add(partition: number, { rawPosition, docPosition, sources }: Covered, store: CursorStore): Partition {
    const { deps, abort } = this.#options;
    const start = {
      partition,
      rawPosition: laterOf(rawPosition, this.#floors.of(partition)),
      docPosition,
      docIncarnation: this.#docIncarnation,
      sources,
      store,
    };
    const added = new Partition(start, deps, abort);
    this.#partitions.set(partition, added);
    return added;
  }

  async #saveNowAndThen(): Promise<void> {
    const { clock } = this.#options.deps;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await clock.sleep(SAVE_INTERVAL_MS, signal);
      if (signal.aborted) return;
      await this.#inTurn(async () => {
        await this.#save(SAVES_PER_INTERVAL);
        if (clock.monotonic() - this.#floorSavedMs < FLOOR_INTERVAL_MS) return;
        await this.#tryFloor(() => this.#raiseFloor());
      });
    }
  }

  /** Stores one after the other: of two writes of a cursor the older one could be the last. `store` must not throw. */
  #inTurn(store: () => Promise<void>): Promise<void> {
    this.#storing = this.#storing.then(store);
    return this.#storing;
  }

  /** Stores at most `limit` cursors, those first whose stored position is lowest. */
  async #save(limit: number, partitions = this.#owned): Promise<void> {
    const moved = this.#of(partitions).filter(({ canSave }) => canSave);
    moved.sort((a, b) => comparePositions(a.savedPosition, b.savedPosition));
    await Promise.all(moved.slice(0, limit).map((partition) => this.#saveOne(partition)));
  }

  async #saveOne(partition: Partition): Promise<void> {
    const { deps, events } = this.#options;
    const { log, metrics } = deps;
    try {
      const event = await partition.save();
      metrics.cursorSaves.inc();
      events.onCursor?.(event);
    } catch (error) {
      const failure: AppError = toAppError(error);
      if (failure.code !== "journal_conflict") {
        log.warn({ err: error, partition: partition.partition }, "a cursor wasn't stored; it is tried again");
        return;
      }
      metrics.cursorConflicts.inc();
      if (this.#options.onConflict()) {
        log.warn({ partition: partition.partition }, "a hub that had hung wrote a cursor; it is read again");
        return;
      }
      log.error({ partition: partition.partition }, "another hub has taken over a partition; it stops here");
      events.onPartitionStopped?.(partition.partition, failure);
    }
  }

  async #tryFloor(store: () => Promise<void>): Promise<void> {
    try {
      await store();
    } catch (error) {
      this.#options.deps.log.warn({ err: error }, "the pipeline's floor wasn't stored; it is tried again");
    }
  }

  async #raiseFloor(): Promise<void> {
    this.#floorSavedMs = this.#options.deps.clock.monotonic();
    const owned = this.#owned;
    const floor = this.#floorOf(owned);
    if (comparePositions(floor, this.#floor) <= 0) return;
    await this.#storeFloor(floor, owned);
    // It isn't that of partitions that were added meanwhile.
    if (this.#owned === owned) this.#floor = floor;
  }

  /** Returns the position up to which all of `partitions` are read and their stored cursors say so. */
  #floorOf(partitions: ReadonlySet<number>): Position {
    const behind = this.#of(partitions).filter(({ isBehind }) => isBehind);
    return lowestOf([
      this.#closedAt ?? this.#readPosition(),
      ...behind.map(({ savedPosition }) => savedPosition),
    ]);
  }

  async #storeFloor(rawPosition: Position, partitions: ReadonlySet<number>): Promise<void> {
    const { bucket, deps, hub } = this.#options;
    this.#floorSavedMs = deps.clock.monotonic();
    const isOfAll = partitions.size === PARTITIONS;
    await storeFloor(bucket, hub, {
      rawPosition,
      docPosition: this.docPosition,
      docIncarnation: this.#docIncarnation,
      ...(!isOfAll && { partitions: printPartitions(partitions) }),
    });
  }
}
