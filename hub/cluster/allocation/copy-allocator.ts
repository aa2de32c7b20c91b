/**
 * The duty of the hub that holds the lease: makes the table of copies if all live hubs follow one, and adapts
 * auto_expand_replicas to the number of hubs.
 */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { expansionOf } from "#hub/cluster/catalog/index-settings.ts";
import { AwayTimes } from "#hub/cluster/membership/cluster-progress.ts";
import type { MemberDirectory } from "#hub/cluster/membership/member-directory.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { MINUTE_MS, parseDuration } from "#proto/kit/units.ts";
import { allocateCopies, type CopyMember, type PlacedIndex } from "./copy-allocation.ts";
import {
  COPIES_KEY,
  type CopyTable,
  decodeCopies,
  encodeCopies,
  HELD_PREFIX,
  NO_COPIES,
  sameCopies,
} from "./copy-table.ts";
import { CopyView } from "./copy-view.ts";

const TICK_MS = 1_000;
const DEFAULT_DELAY_MS = MINUTE_MS;
/** Attribute of hubs that fail together. */
const ZONE = "zone";

export interface CopyAllocatorOptions {
  readonly bucket: StateBucket;
  readonly directory: MemberDirectory;
  readonly indices: () => readonly Pick<IndexMetadata, "name" | "uuid" | "settings">[];
  /** Changes the number of replicas of an index, by name. */
  readonly setReplicas: (name: string, replicas: number) => Promise<void>;
  /** Returns whether an index was deleted, according to the leader. */
  readonly isDeleted: (uuid: string) => Promise<boolean>;
  /** Returns whether this hub holds the lease; nothing is written once it is lost. */
  readonly isHeld: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

export class CopyAllocator implements Component {
  readonly #options: CopyAllocatorOptions;
  readonly #view: CopyView;
  readonly #away: AwayTimes;
  readonly #task = new BackgroundTask();

  constructor(options: CopyAllocatorOptions) {
    this.#options = options;
    this.#view = new CopyView(options.directory);
    this.#away = new AwayTimes(options.clock);
  }

  start(): Promise<void> {
    this.#task.start((signal) => this.#run(signal));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** Lets indices with auto_expand_replicas have as many replicas as there are other hubs, within their range. */
  async expand(): Promise<void> {
    const { directory, indices, setReplicas, isHeld, clock } = this.#options;
    const all = directory.all().map(({ record }) => record);
    const live = all.filter(({ state }) => state === "live").length;
    const { sinceMs } = this.#awayOf(this.#view.table());
    const away = [...sinceMs.values()].filter((since) => clock.now() - since < DEFAULT_DELAY_MS).length;
    for (const { name, settings } of indices()) {
      const range = expansionOf(settings);
      if (range === undefined || live + away === 0) continue;
      const among = (hubs: number): number => Math.max(range.least, Math.min(range.most, hubs - 1));
      // A hub that is lost or was stopped may come back soon: it keeps its copies, but gets no others.
      const replicas = Math.max(among(live), Math.min(settings.numberOfReplicas, among(live + away)));
      if (!isHeld()) return;
      if (replicas !== settings.numberOfReplicas) await setReplicas(name, replicas);
    }
  }

  /** Makes the next table if something has changed. Throws journal_conflict if another hub has changed the table. */
  async place(): Promise<void> {
    const { bucket, directory, indices, isHeld, clock, log } = this.#options;
    const all = directory.all();
    const live = all.filter(({ record }) => record.state === "live");
    const shared = directory.shared(COPIES_KEY);
    // If no hub is live, this one is late itself, and its settings may be outdated.
    if (live.length === 0 || live.some(({ record }) => record.places !== true)) return;
    const before = shared === undefined ? NO_COPIES : decodeCopies(shared.value);
    const { left, sinceMs } = this.#awayOf(before);
    // A hub that starts has published nothing yet, but keeps its copies.
    const members: CopyMember[] = all.map(({ record: { id, attributes } }) => ({
      id,
      zone: attributes[ZONE],
      lostMs: sinceMs.get(id),
    }));
    for (const id of Object.keys(left)) members.push({ id, lostMs: sinceMs.get(id) });
    const placing = indices();
    const kept = await this.#unknown(before, new Set(placing.map(({ uuid }) => uuid)));
    const allocated = allocateCopies({
      members,
      indices: placing.map(placed),
      before,
      has: (id, uuid, shard) => this.#view.has(id, uuid, shard),
      nowMs: clock.now(),
    });
    const copies = { ...kept, ...allocated };
    if (shared !== undefined && sameCopies({ copies, left }, before)) return;
    if (!isHeld()) return;
    const table: CopyTable = { epoch: before.epoch + 1, copies, left };
    if (shared === undefined) await bucket.create(COPIES_KEY, encodeCopies(table));
    else await bucket.update(COPIES_KEY, encodeCopies(table), shared.revision);
    log.info({ epoch: table.epoch, indices: Object.keys(copies).length }, "copies of shards are assigned");
    await this.#forget(new Set(members.map(({ id }) => id)));
    await directory.refresh();
  }

  /**
   * Returns the table's entries of indices that this hub's catalog lacks (yet), without those that were deleted
   * deliberately. A shard that isn't in the table counts as one that no hub has dropped.
   */
  async #unknown(before: CopyTable, known: ReadonlySet<string>): Promise<CopyTable["copies"]> {
    const kept: Record<string, CopyTable["copies"][string]> = {};
    for (const [uuid, shards] of Object.entries(before.copies))
      if (!known.has(uuid) && !(await this.#options.isDeleted(uuid))) kept[uuid] = shards;
    return kept;
  }

  /**
   * Returns since when hubs are away that were lost or have left, ms since 1970, and of those the ones that `left`, as
   * to be stored. This hub has seen them away for as long at least: another one's clock may have been ahead when it
   * recorded the time.
   */
  #awayOf(table: CopyTable): {
    readonly left: Record<string, number>;
    readonly sinceMs: ReadonlyMap<string, number>;
  } {
    const all = this.#options.directory.all().map(({ record }) => record);
    const left = this.#left(table, new Set(all.map(({ id }) => id)));
    const lost = all.filter(({ state }) => state === "lost");
    const noted = new Map([
      ...lost.map(({ id, lostMs = 0 }) => [id, lostMs] as const),
      ...Object.entries(left),
    ]);
    this.#away.observe(noted);
    const nowMs = this.#options.clock.now();
    const sinceMs = [...noted].map(
      ([id, notedMs]) => [id, Math.min(notedMs, nowMs - (this.#away.forMs(id) ?? 0))] as const,
    );
    return { left, sinceMs: new Map(sinceMs) };
  }

  /** Returns when hubs of the table left: a hub that is restarted soon keeps its copies. */
  #left(before: CopyTable, known: ReadonlySet<string>): Record<string, number> {
    const named = new Set(Object.values(before.copies).flat(2));
    const gone = [...named].filter((id) => !known.has(id)).sort();
    return Object.fromEntries(gone.map((id) => [id, before.left?.[id] ?? this.#options.clock.now()]));
  }

  /** Deletes what removed hubs have published. */
  async #forget(known: ReadonlySet<string>): Promise<void> {
    const { bucket } = this.#options;
    for (const key of await bucket.keys(HELD_PREFIX)) {
      if (known.has(key.slice(HELD_PREFIX.length))) continue;
      const entry = await bucket.get(key);
      if (entry !== null) await bucket.delete(key, entry.revision);
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, directory, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.expand();
        await this.place();
      } catch (error) {
        const failure = toAppError(error);
        if (failure.code !== "journal_conflict")
          log.warn({ err: failure }, "copies can't be assigned for now");
      }
      const changed = new AbortController();
      const unwatch = directory.onChange(() => changed.abort());
      await clock.sleep(TICK_MS, AbortSignal.any([signal, changed.signal]));
      unwatch();
    }
  }
}

function placed({ uuid, settings }: Pick<IndexMetadata, "uuid" | "settings">): PlacedIndex {
  return {
    uuid,
    shards: settings.numberOfShards,
    copies: 1 + settings.numberOfReplicas,
    delayMs: delayOf(settings.raw["unassigned.node_left.delayed_timeout"]),
  };
}

function delayOf(given: unknown): number {
  if (typeof given !== "string") return DEFAULT_DELAY_MS;
  try {
    return parseDuration(given);
  } catch {
    return DEFAULT_DELAY_MS;
  }
}
