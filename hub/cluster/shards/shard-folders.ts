/**
 * Directory layout of shards: `<folder>/<index uuid>/index.json` and `<folder>/<index uuid>/<shard>/`, and beside
 * them a file for each host of this hub (position-files.ts): the position in DOC up to which its shards are committed, and
 * the generation of the manifest that each of them committed. A shard whose newest manifest is older has lost a file.
 *
 * `<index uuid>/<shard>.taking` exists while the files of a shard come from another hub; after a crash they must be removed,
 * because the host's position may be past messages that they lack. `<index uuid>/<shard>.incomplete` exists if the log had
 * purged messages which the shard lacks and no other hub had them. `<index uuid>/<shard>.gone` exists if this hub has given
 * a shard up to others: an empty one must not replace it.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { decodeIndex, encodeIndex, type IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { systemCode } from "#proto/kit/errors.ts";
import { syncFolder, writeFileAtomic } from "#proto/kit/files/files.ts";
import type { Logger } from "#proto/kit/log.ts";
import { readChecked, withChecksum } from "./checked-json.ts";
import { type Committed, readCommitted, writeCommitted } from "./position-files.ts";
import { type HostSeat, ONLY_HOST, owns } from "./shard-owner.ts";

const INDEX_FILE = "index.json";
const FOLDER_MODE = 0o750;
/** Endings of the markers beside the folder of a shard. */
const MARKER = { taking: ".taking", incomplete: ".incomplete", gone: ".gone" } as const;

/** The state of a shard that a marker names. */
export type ShardMarker = keyof typeof MARKER;

/** A shard of an index. */
export interface NamedShard {
  readonly uuid: string;
  readonly shard: number;
}

/** Returns the name of a shard in `Committed`. */
export function shardKey(uuid: string, shard: number): string {
  return `${uuid}/${shard}`;
}

/** Removes the shards of an index from a set of names. */
export function forgetIndex(keys: Set<string>, uuid: string): void {
  for (const key of keys) if (key.startsWith(`${uuid}/`)) keys.delete(key);
}

/** Returns the shards below `folder` that have a marker. */
export function markedShards(folder: string, marker: ShardMarker): NamedShard[] {
  if (!existsSync(folder)) return [];
  const ending = MARKER[marker];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: uuid }) =>
      readdirSync(join(folder, uuid))
        .filter((name) => name.endsWith(ending) && isShard(name.slice(0, -ending.length)))
        .map((name) => ({ uuid, shard: Number.parseInt(name, 10) })),
    );
}

/** Marks a shard, durably. */
export function markShard(folder: string, { uuid, shard }: NamedShard, marker: ShardMarker): void {
  if (existsSync(join(folder, uuid, `${shard}${MARKER[marker]}`))) return;
  mkdirSync(join(folder, uuid), { recursive: true, mode: FOLDER_MODE });
  writeFileAtomic(join(folder, uuid, `${shard}${MARKER[marker]}`), "");
  syncFolder(folder);
}

/** Removes all markers of a shard, durably. */
export function unmarkShard(folder: string, { uuid, shard }: NamedShard): void {
  for (const ending of Object.values(MARKER))
    rmSync(join(folder, uuid, `${shard}${ending}`), { force: true });
  syncFolder(join(folder, uuid));
}

/** Removes the files of a shard. Marks it as gone first: a crash in between must leave no part that looks complete. */
export function giveUpShard(folder: string, named: NamedShard): void {
  const { uuid, shard } = named;
  if (!existsSync(join(folder, uuid))) return;
  markShard(folder, named, "gone");
  rmSync(join(folder, uuid, String(shard)), { recursive: true, force: true });
  syncFolder(join(folder, uuid));
  for (const marker of ["taking", "incomplete"] as const)
    rmSync(join(folder, uuid, `${shard}${MARKER[marker]}`), { force: true });
}

/** Moves the folder `from` to the path of a shard and marks the shard as `taking`; undefined: an empty folder. */
export function moveShardIn(folder: string, named: NamedShard, from: string | undefined): void {
  markShard(folder, named, "taking");
  const target = join(folder, named.uuid, String(named.shard));
  rmSync(target, { recursive: true, force: true });
  if (from === undefined) mkdirSync(target, { mode: FOLDER_MODE });
  else renameSync(from, target);
  syncFolder(dirname(target));
}

export class ShardFolders {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #seat: HostSeat;
  readonly #written = new Map<string, IndexMetadata>();

  /** `seat`: of the host whose shards these are. */
  constructor(folder: string, log: Logger, seat: HostSeat = ONLY_HOST) {
    this.#folder = folder;
    this.#log = log;
    this.#seat = seat;
    mkdirSync(folder, { recursive: true, mode: 0o750 });
  }

  /** Returns the indices with shards here. An index whose metadata is unreadable is logged and left untouched. */
  indices(): IndexMetadata[] {
    const found: IndexMetadata[] = [];
    for (const uuid of readdirSync(this.#folder)) {
      if (!statSync(join(this.#folder, uuid)).isDirectory()) continue;
      // Only markers of shards that other hubs have.
      if (!readdirSync(join(this.#folder, uuid)).some((name) => name === INDEX_FILE || isShard(name)))
        continue;
      try {
        const { json } = readChecked(readFileSync(join(this.#folder, uuid, INDEX_FILE)));
        const index = decodeIndex(Buffer.from(json));
        this.#written.set(uuid, index);
        found.push(index);
      } catch (error) {
        this.#log.error(
          { err: error, uuid },
          "cannot read the metadata of an index; its folder is left untouched",
        );
      }
    }
    return found;
  }

  /** Returns the folder of a shard, created if missing. */
  shard(uuid: string, shard: number): string {
    const folder = join(this.#folder, uuid, String(shard));
    const isNew = mkdirSync(folder, { recursive: true, mode: FOLDER_MODE }) !== undefined;
    // A commit in it is durable only if its entry is.
    if (isNew) syncFolder(dirname(folder));
    return folder;
  }

  /** Writes the metadata of an index beside its shards, if it changed. */
  describe(index: IndexMetadata): void {
    if (this.#written.get(index.uuid) === index) return;
    mkdirSync(join(this.#folder, index.uuid), { recursive: true, mode: 0o750 });
    const json = Buffer.from(encodeIndex(index)).toString();
    writeFileAtomic(join(this.#folder, index.uuid, INDEX_FILE), withChecksum(json));
    this.#written.set(index.uuid, index);
  }

  /** Removes the shards of this host; with the last shard goes the folder of the index. */
  remove(uuid: string): void {
    this.#written.delete(uuid);
    const folder = join(this.#folder, uuid);
    try {
      for (const name of readdirSync(folder).filter(isShard))
        if (owns(this.#seat, uuid, Number(name)))
          rmSync(join(folder, name), { recursive: true, force: true });
      if (!readdirSync(folder).some(isShard)) rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      // Another host of this hub, in another thread, may have removed the folder meanwhile.
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }

  /** Removes one shard. The index's metadata stays because other hosts of this hub may have a shard of it. */
  removeShard(uuid: string, shard: number): void {
    giveUpShard(this.#folder, { uuid, shard });
  }

  /**
   * Starts a shard with the files of the folder `from`, which is moved here; undefined: without files. Marks the shard as
   * `taking` before that, until `finishMove`.
   */
  moveIn(index: IndexMetadata, shard: number, from: string | undefined): void {
    const { uuid } = index;
    // Another host may have removed the index's metadata with its last shard.
    this.#written.delete(uuid);
    this.describe(index);
    moveShardIn(this.#folder, { uuid, shard }, from);
  }

  /** Ends the state `taking` once the durable position of the host covers the shard. */
  finishMove(uuid: string, shard: number): void {
    unmarkShard(this.#folder, { uuid, shard });
  }

  /** Returns the shards with a marker. */
  marked(marker: ShardMarker): NamedShard[] {
    return markedShards(this.#folder, marker);
  }

  readCommitted(): Committed {
    return readCommitted(this.#folder, this.#seat, this.#log);
  }

  writeCommitted(committed: Committed): void {
    writeCommitted(this.#folder, this.#seat, committed);
  }
}

function isShard(name: string): boolean {
  return /^\d+$/.test(name);
}
