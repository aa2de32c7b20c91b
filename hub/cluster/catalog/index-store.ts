/**
 * Storage of index metadata. The bucket `indices` is authoritative and changed by compare-and-set; a watch keeps this hub's
 * copy up to date. Reads use the copy, which contains a change as soon as its promise resolves.
 */

import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";
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

interface Known {
  readonly index: IndexMetadata;
  readonly revision: number;
}

/** Receives keys of the bucket that aren't indices; `value` null: removed. */
export type TakeOther = (key: string, value: Uint8Array | null, revision: number) => void;

/** Attempts of one change against concurrent changes of the same index. */
const CHANGE_TRIES = 20;

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

  constructor(bucket: StateBucket, log: Logger, takeOther: TakeOther) {
    this.#bucket = bucket;
    this.#log = log;
    this.#takeOther = takeOther;
  }

  /** By name. */
  get indices(): ReadonlyMap<string, IndexMetadata> {
    return this.#indices;
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

  /** Removes an index and marks the deletion as deliberate. Throws index_missing. */
  async delete(name: string, nowMs: number): Promise<void> {
    const { uuid } = this.#known(name).index;
    await this.#bucket.put(DELETED_PREFIX + uuid, Buffer.from(String(nowMs)));
    await this.#bucket.delete(indexKey(name));
    this.#drop(name);
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

  /**
   * Reads one index from the bucket because its last change may not have arrived here yet. Puts back a record that the bucket
   * has lost: to drop the index would remove its documents from the disks. Throws data_corrupt if the bucket has lost it and
   * has another one of that name.
   */
  async reload(name: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      // A bucket that lost nothing answers with this revision or a later one.
      const seen = this.#revisions.get(indexKey(name)) ?? 0;
      const entry = await this.#bucket.get(indexKey(name));
      const index = this.#indices.get(name);
      try {
        if (entry !== null && (index === undefined || entry.revision >= seen)) this.#takeAnew(entry);
        else if (index !== undefined) await this.#settle(index, entry);
        return;
      } catch (error) {
        // Another hub was quicker to put it back.
        if (toAppError(error).code !== "journal_conflict" || tries === CHANGE_TRIES) throw error;
      }
    }
  }

  /** Decides about an index whose record is missing in the bucket, or older there than what this hub has seen. */
  async #settle(index: IndexMetadata, entry: StateEntry | null): Promise<void> {
    const { name, uuid, mapping } = index;
    const stored = entry === null ? undefined : decodeOrNot(entry.value);
    if (stored?.uuid !== uuid && (await this.isDeleted(uuid))) {
      this.#drop(name);
      if (entry !== null) this.#takeAnew(entry);
    } else if (stored === undefined || (stored.uuid === uuid && stored.mapping.version < mapping.version)) {
      await this.#putBack(name, entry);
    } else if (stored.uuid === uuid) {
      this.#takeAnew(entry!); // another hub has put it back, or only settings were lost
    } else {
      const text = `the bucket of metadata has lost the index [${name}/${uuid}], and has another one of that name`;
      throw new AppError("data_corrupt", text);
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
    this.#log.warn({ index: name }, "the bucket of metadata has lost an index; it is put back");
  }

  /** Takes what the leader has, whatever was seen before. */
  #takeAnew({ key, value, revision }: StateEntry): void {
    if ((this.#revisions.get(key) ?? 0) > revision) this.#revisions.delete(key);
    this.#take(key, value, revision);
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
      // Late, or of a bucket that was lost.
      const isOdd = revision < seen || (value === null && revision === seen);
      if (name !== undefined && isOdd) await this.#lookAgain(name);
      else if (value !== null) this.#take(key, value, revision);
      else if (revision > seen) this.#forget(key, revision);
    }
  }

  /** Reads an index whose revision went back. */
  async #lookAgain(name: string): Promise<void> {
    try {
      await this.reload(name);
    } catch (err) {
      this.#log.warn({ err: toAppError(err), index: name }, "the metadata of an index can't be read for now");
    }
  }

  #take(key: string, value: Uint8Array, revision: number): void {
    try {
      this.#takeOther(key, value, revision);
    } catch (err) {
      this.#log.error({ err, key }, "a stored template is damaged and has no effect; put it again");
    }
    if (revision <= (this.#revisions.get(key) ?? 0)) return;
    this.#revisions.set(key, revision);
    if (!key.startsWith(INDEX_PREFIX)) return;
    const index = this.#decode(key, value);
    if (index === undefined) return;
    const before = this.#indices.get(index.name);
    this.#indices.set(index.name, index);
    if (before !== undefined && before.uuid !== index.uuid) this.#notify(undefined, before.uuid);
    this.#byUuid.set(index.uuid, index);
    this.#notify(index, index.uuid);
  }

  /** Returns undefined for a damaged record, which `add` replaces. */
  #decode(key: string, value: Uint8Array): IndexMetadata | undefined {
    try {
      const index = decodeIndex(value);
      this.#damaged.delete(key);
      return index;
    } catch (err) {
      const name = nameIn(key, INDEX_PREFIX)!;
      this.#damaged.add(key);
      this.#log.error(
        { err, index: name },
        "the metadata of an index is damaged; it is restored from the copy beside its shards, if there is one",
      );
      this.#drop(name);
      return undefined;
    }
  }

  #forget(key: string, revision: number): void {
    this.#takeOther(key, null, revision);
    const name = nameIn(key, INDEX_PREFIX);
    if (name !== undefined) this.#drop(name);
  }

  #drop(name: string): void {
    const index = this.#indices.get(name);
    if (index === undefined) return;
    this.#indices.delete(name);
    this.#notify(undefined, index.uuid);
  }

  #notify(index: IndexMetadata | undefined, uuid: string): void {
    if (index === undefined) this.#byUuid.delete(uuid);
    for (const listener of this.#listeners) listener(index, uuid);
  }
}

/** Returns undefined for a damaged record. */
function decodeOrNot(value: Uint8Array): IndexMetadata | undefined {
  try {
    return decodeIndex(value);
  } catch {
    return undefined;
  }
}
