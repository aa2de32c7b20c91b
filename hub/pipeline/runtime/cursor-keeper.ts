/** Loads the partitions' cursors, stores them lazily and keeps the floor: the position up to which all of RAW is processed. */

import type { AppError } from "#proto/kit/errors.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { comparePositions, laterOf, type Position, START } from "#proto/position.ts";
import { PARTITIONS } from "#proto/subjects.ts";
import { type Cursor, CursorStore, cursorKey, decodeCursor } from "./cursor.ts";
import { Floors, printPartitions, storeFloor } from "./floors.ts";
import { Partition, type PartitionDeps } from "./partition.ts";
import type { DocLosses, PipelineEvents } from "./ports.ts";

/** A cursor is stored at most this often. A crash repeats what came after it, which the shards drop. */
const SAVE_INTERVAL_MS = 250;

/** Cursors stored per interval, the stalest first, so that 256 busy partitions don't keep the journal busy. */
const SAVES_PER_INTERVAL = 16;

/** The floor only saves reading at the next start. */
const FLOOR_INTERVAL_MS = 5_000;

export interface CursorKeeperOptions {
  readonly bucket: StateBucket;
  /** Id of this hub. */
  readonly hub: string;
  /** Random name of this process. */
  readonly owner: string;
  /** Called where another process has written a cursor; returns whether the session starts again because of that. */
  readonly onConflict: () => boolean;
  readonly deps: PartitionDeps;
  readonly events: PipelineEvents;
  readonly losses: DocLosses;
  readonly abort: AbortSignal;
}

type Covered = Pick<Cursor, "rawPosition" | "docPosition" | "sources">;

/** What a cursor covers of a partition that is processed from the oldest message of RAW. */
const NOTHING: Covered = { rawPosition: START, docPosition: START, sources: [] };

export class CursorKeeper {
  readonly #options: CursorKeeperOptions;
  readonly #partitions = new Map<number, Partition>();
  readonly #stopping = new AbortController();
  #owned: readonly number[] = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  /** The partitions as a floor names them; undefined: all. */
  #printed: string | undefined;
  readonly #floors = new Floors();
  #floor: Position = START;
  #docIncarnation = START.incarnation;
  #floorSavedMs = 0;
  #saver: Promise<void> = Promise.resolve();
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

  /**
   * Loads the cursors of `partitions` (undefined: all), and stores those again that weren't compared with DOC's newest
   * incarnation yet. Returns the position after which RAW is to be read. Throws data_corrupt, unavailable.
   */
  async load(partitions: ReadonlySet<number> | undefined): Promise<Position> {
    const { bucket, losses } = this.#options;
    this.#docIncarnation = losses.incarnation;
    if (partitions !== undefined) {
      this.#owned = [...partitions];
      this.#printed = printPartitions(partitions);
    }
    await this.#floors.load(bucket, losses);
    const keys = (await bucket.keys("cursor.")).map((key) => Number(key.slice("cursor.".length)));
    const known = keys.filter((partition) => this.#owned.includes(partition));
    await Promise.all(known.map((partition) => this.#loadPartition(partition)));
    this.#floor = this.#processed();
    return this.#floor;
  }

  /** Loads the floors again; returns the position after which RAW is to be read at the earliest. Throws what `load` does. */
  async reloadFloors(): Promise<Position> {
    await this.#floors.load(this.#options.bucket, this.#options.losses);
    return this.#processed();
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
    await this.#save(PARTITIONS);
    await this.#tryFloor();
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

  /** Resolves when no partition has anything in flight. */
  async idle(): Promise<void> {
    await Promise.all([...this.#partitions.values()].map((partition) => partition.idle()));
  }

  /** Returns the sum of a number over the partitions. */
  sum(of: (partition: Partition) => number): number {
    let total = 0;
    for (const partition of this.#partitions.values()) total += of(partition);
    return total;
  }

  /** Returns the position up to which cursors and floors say that all partitions are processed. */
  #processed(): Position {
    const each = this.#owned.map((partition) =>
      laterOf(this.#partitions.get(partition)?.savedPosition ?? START, this.#floors.of(partition)),
    );
    return lowestOf(each);
  }

  async #loadPartition(partition: number): Promise<void> {
    const { bucket, owner, hub } = this.#options;
    const key = cursorKey(partition);
    const entry = await bucket.get(key);
    if (entry === null) return;
    let cursor = decodeCursor(key, entry.value);
    const store = new CursorStore(bucket, partition, owner, entry, cursor.epoch, hub);
    // An earlier process of this hub is dead. Another hub may only have stood still: from here on it can't store.
    const isOthers = cursor.hub !== undefined && cursor.hub !== hub;
    if (isOthers || cursor.docIncarnation < this.#docIncarnation)
      cursor = await store.claim(cursor, (found) => this.#compared(found));
    this.#add(partition, cursor, store);
  }

  /** Returns the cursor as it is after the losses since it was compared: reset where documents of it are gone. */
  #compared(cursor: Cursor): Cursor {
    const { losses } = this.#options;
    const docIncarnation = Math.max(cursor.docIncarnation, this.#docIncarnation);
    return { ...cursor, ...(!losses.survives(cursor) && NOTHING), docIncarnation };
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
      await this.#save(SAVES_PER_INTERVAL);
      if (clock.monotonic() - this.#floorSavedMs < FLOOR_INTERVAL_MS) continue;
      await this.#tryFloor();
    }
  }

  /** Stores at most `limit` cursors, those first whose stored position is lowest. */
  async #save(limit: number): Promise<void> {
    const moved = [...this.#partitions.values()].filter(({ canSave }) => canSave);
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

  async #tryFloor(): Promise<void> {
    try {
      await this.#saveFloor();
    } catch (error) {
      this.#options.deps.log.warn({ err: error }, "the pipeline's floor wasn't stored; it is tried again");
    }
  }

  async #saveFloor(): Promise<void> {
    const { bucket, deps, hub } = this.#options;
    this.#floorSavedMs = deps.clock.monotonic();
    let rawPosition = this.#readPosition();
    const { docPosition } = this;
    for (const partition of this.#partitions.values()) {
      if (partition.isBehind && comparePositions(partition.savedPosition, rawPosition) < 0) {
        rawPosition = partition.savedPosition;
      }
    }
    if (comparePositions(rawPosition, this.#floor) <= 0) return;
    const partitions = this.#printed;
    await storeFloor(bucket, hub, {
      rawPosition,
      docPosition,
      docIncarnation: this.#docIncarnation,
      ...(partitions !== undefined && { partitions }),
    });
    this.#floor = rawPosition;
  }
}

function lowestOf(positions: readonly Position[]): Position {
  const [first = START, ...rest] = positions;
  return rest.reduce(
    (lowest, position) => (comparePositions(position, lowest) < 0 ? position : lowest),
    first,
  );
}
