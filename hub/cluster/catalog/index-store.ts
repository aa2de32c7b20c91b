/**
 * Storage of index metadata. The bucket `indices` is authoritative and changed by compare-and-set; a watch keeps this hub's
 * copy up to date. Reads use the copy, which contains a change as soon as its promise resolves.
 *
 * A listener that is notified of a deletion removes its documents from the disks. Only the mark of a deletion leads to
 * that:
 *
 * | what the bucket has of a known index | what is done | what can go wrong |
 * |---|---|---|
 * | the mark of its deletion | it is gone, and another one of its name is taken | – |
 * | no record, or a damaged one, or an older mapping | the record is put back, and all other indices are compared; one that can't be read then is compared again, with growing pauses, until it can | a hub that doesn't know the index has created another one of its name meanwhile: next row |
 * | another index of its name | the name is the other one's; this one's files stay, and what the log has for it is applied | searches don't find it: an error is logged, `/health` names it, and the hub doesn't start again before the other one is deleted. Then it takes the name again at once, without aliases that don't fit any more. For some minutes a deletion by name is refused then: a client that repeats its request would delete this one too |
 * | a newer record, or an older one with the same mapping | it is taken | – |
 */

import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";
import { fittingAliases } from "./aliases.ts";
import { IndexComparisons } from "./index-comparisons.ts";
import {
  DELETED_PREFIX,
  decodeIndex,
  encodeIndex,
  INDEX_PREFIX,
  type IndexMetadata,
  indexKey,
  nameIn,
} from "./index-metadata.ts";
import { indexMissing } from "./index-names.ts";
import { checkDeletable } from "./returned-names.ts";

interface Known {
  readonly index: IndexMetadata;
  readonly revision: number;
}

/** Receives keys of the bucket that aren't indices; `value` null: removed. */
export type TakeOther = (key: string, value: Uint8Array | null, revision: number) => void;

/** Pause before the bucket is read again for a change that the watch reported, ms. */
const LOOK_AGAIN_MS = 1_000;

/** Attempts of one change against concurrent changes of the same index. */
const CHANGE_TRIES = 20;
/** Waits between the attempts to delete one: what was begun must be ended. */
const DELETE_RETRY = { firstMs: 20, capMs: 500 };

export class IndexStore implements Component {
  readonly #bucket: StateBucket;
  readonly #takeOther: TakeOther;
  readonly #indices = new Map<string, IndexMetadata>();
  readonly #byUuid = new Map<string, IndexMetadata>();
  readonly #revisions = new Map<string, number>();
  /** Keys whose newest record can't be decoded. */
  readonly #damaged = new Set<string>();
  readonly #log: Logger;
  readonly #listeners = new Set<(index: IndexMetadata | undefined, uuid: string) => void>();
  readonly #abort = new AbortController();
  #following: Promise<void> = Promise.resolve();
  readonly #clock: Clock;
  readonly #comparisons: IndexComparisons;

  constructor(bucket: StateBucket, log: Logger, takeOther: TakeOther, clock: Clock = systemClock) {
    this.#bucket = bucket;
    this.#log = log;
    this.#takeOther = takeOther;
    this.#clock = clock;
    this.#comparisons = new IndexComparisons((name) => this.#tryReload(name), clock);
  }

  /** By name. */
  get indices(): ReadonlyMap<string, IndexMetadata> {
    return this.#indices;
  }

  /** Indices whose name another one has, because the bucket had lost them; their documents are kept. */
  withoutName(): IndexMetadata[] {
    return [...this.#byUuid.values()].filter(({ name, uuid }) => this.#indices.get(name)?.uuid !== uuid);
  }

  /** Loads all entries, then follows changes. */
  async start(): Promise<void> {
    for (const key of await this.#bucket.keys()) {
      const entry = await this.#bucket.get(key);
      if (entry !== null) this.#take(key, entry.value, entry.revision);
    }
    this.#following = this.#follow();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#following;
    await this.#comparisons.stop();
  }

  /** Calls `listener` after each change: with the current index, or undefined when the index of `uuid` is gone. */
  onChange(listener: (index: IndexMetadata | undefined, uuid: string) => void): void {
    this.#listeners.add(listener);
  }

  byUuid(uuid: string): IndexMetadata | undefined {
    return this.#byUuid.get(uuid);
  }

  /** Stores a new index. Throws journal_conflict if its name is in use; the copy then contains the other index. */
  async add(index: IndexMetadata): Promise<IndexMetadata> {
    const { name } = index;
    try {
      const bytes = encodeIndex(index);
      this.#take(indexKey(name), bytes, await this.#write(indexKey(name), bytes));
    } catch (error) {
      if (toAppError(error).code === "journal_conflict") await this.reload(name);
      throw error;
    }
    return this.#indices.get(name)!;
  }

  /** Throws request_invalid for an index that has just got its name back; index_missing. */
  checkDeletable(name: string): void {
    checkDeletable(this.#known(name).index, this.#clock.now());
  }

  /** Removes an index and marks the deletion as deliberate. Does nothing if the name is another one's, or nobody's. */
  async delete({ name, uuid }: Pick<IndexMetadata, "name" | "uuid">, nowMs: number): Promise<void> {
    if (this.#indices.get(name)?.uuid !== uuid) return;
    await this.#bucket.put(DELETED_PREFIX + uuid, Buffer.from(String(nowMs)));
    const backoff = new Backoff(DELETE_RETRY);
    while (this.#indices.get(name)?.uuid === uuid) {
      // Another hub may have given the name to a new index meanwhile. Its record has another revision.
      const revision = this.#revisions.get(indexKey(name));
      if (revision === undefined) {
        await this.reload(name);
      } else if (await this.#removeRecord(name, revision)) {
        if (this.#indices.get(name)?.uuid === uuid) this.#drop(name);
        return;
      }
      if (backoff.tries === CHANGE_TRIES)
        throw new AppError("unavailable", `index ${name} changes too often to be deleted; try again`);
      await this.#clock.sleep(backoff.next(), this.#abort.signal);
    }
  }

  /** Returns false if the record has another revision, which is then read. */
  async #removeRecord(name: string, revision: number): Promise<boolean> {
    try {
      await this.#bucket.delete(indexKey(name), revision);
      return true;
    } catch (error) {
      if (toAppError(error).code !== "journal_conflict") throw error;
      await this.reload(name);
      return false;
    }
  }

  /**
   * Reads from the bucket what the watch may not have delivered yet, until the index of `uuid` is known. Does nothing for
   * an index that was deleted. Throws unavailable or timeout.
   */
  async catchUp(uuid: string): Promise<void> {
    const known = this.#byUuid.get(uuid);
    if (known !== undefined) return this.reload(known.name);
    if (await this.isDeleted(uuid)) return;
    const names = (await this.#bucket.keys(INDEX_PREFIX)).map((key) => nameIn(key, INDEX_PREFIX)!);
    // A new index nearly always has a new name; otherwise it replaced one of the same name.
    const [others, fresh] = [
      names.filter((name) => this.#indices.has(name)),
      names.filter((name) => !this.#indices.has(name)),
    ];
    for (const name of [...fresh, ...others]) {
      if (this.#byUuid.has(uuid)) return;
      await this.reload(name);
    }
  }

  /** Returns true if the index of `uuid` was deleted deliberately. */
  async isDeleted(uuid: string): Promise<boolean> {
    return (await this.#bucket.get(DELETED_PREFIX + uuid)) !== null;
  }

  /** Changes an index by compare-and-set; `change` may run several times and must be pure. Throws index_missing. */
  async change(name: string, change: (index: IndexMetadata) => IndexMetadata): Promise<IndexMetadata> {
    for (let tries = 1; ; tries++) {
      const known = this.#known(name);
      const next = change(known.index);
      if (next === known.index) return next;
      const bytes = encodeIndex(next);
      try {
        const revision = await this.#bucket.update(indexKey(name), bytes, known.revision);
        this.#take(indexKey(name), bytes, revision);
        return this.#indices.get(name)!;
      } catch (error) {
        if (toAppError(error).code !== "journal_conflict" || tries === CHANGE_TRIES) throw error;
        await this.reload(name);
      }
    }
  }

  /** Reads one index from the bucket because its last change may not have arrived here yet, or isn't clear. */
  async reload(name: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      // A bucket that lost nothing answers with this revision or a later one.
      const seen = this.#revisions.get(indexKey(name)) ?? 0;
      const entry = await this.#bucket.get(indexKey(name));
      const index = this.#indices.get(name);
      try {
        if (entry !== null && (index === undefined || isLater(entry, index, seen)) && this.#takeAnew(entry))
          return;
        if (index !== undefined) await this.#settle(index, entry);
        return;
      } catch (error) {
        // Another hub was quicker to put it back.
        if (toAppError(error).code !== "journal_conflict" || tries === CHANGE_TRIES) throw error;
      }
    }
  }

  /** Decides about an index whose record in the bucket is missing, damaged, another one's, or older than what was seen. */
  async #settle(index: IndexMetadata, entry: StateEntry | null): Promise<void> {
    const { name, uuid, mapping } = index;
    const key = indexKey(name);
    const stored = entry === null ? undefined : decodeOrNot(entry.value);
    if (stored?.uuid !== uuid && (await this.isDeleted(uuid))) {
      this.#drop(name);
      this.#revisions.delete(key);
      // An index that has its name back is compared: this record may be its own with an older mapping.
      if (entry !== null && !this.#indices.has(name)) this.#takeAnew(entry);
    } else if (stored === undefined || (stored.uuid === uuid && stored.mapping.version < mapping.version)) {
      await this.#putBack(name, entry);
    } else if (stored.uuid === uuid) {
      this.#takeAnew(entry!); // another hub has put it back, or only settings were lost
    } else {
      this.#indices.delete(name);
      this.#revisions.delete(key);
      this.#takeAnew(entry!);
      this.#log.error(
        { index: name, uuid, other: stored.uuid },
        "the bucket of metadata has lost an index and has another one of its name; its files are kept",
      );
      // Before others are created in their names.
      this.#comparisons.addAll(this.#indices.keys());
    }
  }

  async #putBack(name: string, entry: StateEntry | null): Promise<void> {
    const index = this.#indices.get(name);
    if (index === undefined) return; // deleted meanwhile
    const [key, bytes] = [indexKey(name), encodeIndex(index)];
    const revision = await (entry === null
      ? this.#bucket.create(key, bytes)
      : this.#bucket.update(key, bytes, entry.revision));
    this.#revisions.set(key, revision);
    this.#damaged.delete(key);
    this.#log.warn({ index: name }, "the bucket of metadata has lost an index; it is put back");
    this.#comparisons.addAll(this.#indices.keys(), name);
  }

  /** Takes what the leader has, whatever was seen before; returns what `#take` does. */
  #takeAnew({ key, value, revision }: StateEntry): boolean {
    if ((this.#revisions.get(key) ?? 0) > revision) this.#revisions.delete(key);
    return this.#take(key, value, revision);
  }

  /** Creates the key, or replaces its damaged record. */
  #write(key: string, bytes: Uint8Array): Promise<number> {
    const revision = this.#damaged.has(key) ? this.#revisions.get(key) : undefined;
    return revision === undefined
      ? this.#bucket.create(key, bytes)
      : this.#bucket.update(key, bytes, revision);
  }

  #known(name: string): Known {
    const index = this.#indices.get(name);
    if (index === undefined) throw indexMissing(name);
    return { index, revision: this.#revisions.get(indexKey(name))! };
  }

  async #follow(): Promise<void> {
    for await (const { key, value, revision } of this.#bucket.watch(this.#abort.signal)) {
      const name = nameIn(key, INDEX_PREFIX);
      const seen = this.#revisions.get(key) ?? 0;
      // A lower revision is late, or of a bucket that was lost; without a value the index was deleted or lost.
      const isClear = name === undefined || (value !== null && revision >= seen);
      if (!isClear || (value !== null && !this.#take(key, value, revision))) await this.#lookAgain(name!);
      else if (value === null && revision > seen) this.#takeOther(key, null, revision);
    }
  }

  /** Reads an index until that succeeds. */
  async #lookAgain(name: string): Promise<void> {
    const { signal } = this.#abort;
    while (!(await this.#tryReload(name))) {
      await this.#clock.sleep(LOOK_AGAIN_MS, signal);
      if (signal.aborted) return;
    }
  }

  async #tryReload(name: string): Promise<boolean> {
    try {
      await this.reload(name);
      return true;
    } catch (err) {
      this.#log.warn({ err: toAppError(err), index: name }, "the metadata of an index can't be read for now");
      return false;
    }
  }

  /** Returns false, and takes nothing, where the record of a known index is damaged or another one's. */
  #take(key: string, value: Uint8Array, revision: number): boolean {
    try {
      this.#takeOther(key, value, revision);
    } catch (err) {
      this.#log.error({ err, key }, "a stored template is damaged and has no effect; put it again");
    }
    if (revision <= (this.#revisions.get(key) ?? 0)) return true;
    const name = nameIn(key, INDEX_PREFIX);
    const index = name === undefined ? undefined : this.#decode(name, value);
    const known = name === undefined ? undefined : this.#indices.get(name);
    if (known !== undefined && index?.uuid !== known.uuid) return false;
    this.#revisions.set(key, revision);
    if (index === undefined) return true;
    this.#indices.set(index.name, index);
    this.#byUuid.set(index.uuid, index);
    this.#notify(index, index.uuid);
    return true;
  }

  /** Returns undefined for a damaged record, which `add` replaces. */
  #decode(name: string, value: Uint8Array): IndexMetadata | undefined {
    const key = indexKey(name);
    try {
      const index = decodeIndex(value);
      this.#damaged.delete(key);
      return index;
    } catch (err) {
      this.#damaged.add(key);
      this.#log.error(
        { err, index: name },
        "the metadata of an index is damaged; it is restored from the copy beside its shards, if there is one",
      );
      return undefined;
    }
  }

  #drop(name: string): void {
    const index = this.#indices.get(name);
    if (index === undefined) return;
    this.#indices.delete(name);
    this.#notify(undefined, index.uuid);
    this.#returnName(name);
  }

  /** Gives a name that has become free to the index that had lost it. */
  #returnName(name: string): void {
    const nameless = this.withoutName().find((each) => each.name === name);
    if (nameless === undefined) return;
    const aliases = fittingAliases(nameless, [...this.#indices.values()]);
    const index = { ...nameless, aliases, returnedMs: this.#clock.now() };
    this.#indices.set(name, index);
    this.#byUuid.set(index.uuid, index);
    this.#revisions.delete(indexKey(name));
    const { uuid, aliases: before } = nameless;
    this.#log.warn({ index: name, uuid, before, aliases }, "an index that had lost its name has it again");
    this.#notify(index, uuid);
    this.#comparisons.add([name]);
  }

  #notify(index: IndexMetadata | undefined, uuid: string): void {
    if (index === undefined) this.#byUuid.delete(uuid);
    for (const listener of this.#listeners) listener(index, uuid);
  }
}

/**
 * A bucket that was lost may have another index of the same name, even at the same revision; and one whose record was never seen
 * (`seen` 0, as it got its name back) was maybe put back by a hub with an older mapping.
 */
function isLater(entry: StateEntry, { uuid, mapping }: IndexMetadata, seen: number): boolean {
  if (seen > 0 && entry.revision > seen) return true;
  if (entry.revision < seen) return false;
  const stored = decodeOrNot(entry.value);
  return stored?.uuid === uuid && stored.mapping.version >= mapping.version;
}

/** Returns undefined for a damaged record. */
function decodeOrNot(value: Uint8Array): IndexMetadata | undefined {
  try {
    return decodeIndex(value);
  } catch {
    return undefined;
  }
}
