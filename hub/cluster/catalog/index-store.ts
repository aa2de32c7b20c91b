/**
 * Storage of index metadata. The bucket `indices` is authoritative and changed by compare-and-set; a watch keeps this hub's
 * copy up to date. Reads use the copy, which contains a change as soon as its promise resolves.
 */

import { toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
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

  /** Reads one index from the bucket because its last change may not have arrived here yet. */
  async reload(name: string): Promise<void> {
    const entry = await this.#bucket.get(indexKey(name));
    if (entry === null) this.#drop(name);
    else this.#take(entry.key, entry.value, entry.revision);
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
      if (value !== null) this.#take(key, value, revision);
      else if (revision > (this.#revisions.get(key) ?? 0)) this.#forget(key, revision);
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
