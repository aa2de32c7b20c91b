/**
 * Directory layout of shards: `<folder>/<index uuid>/index.json` and `<folder>/<index uuid>/<shard>/`, and beside
 * them a file for each host of this hub (position-files.ts): the position in DOC up to which its shards are committed, and
 * the generation of the manifest that each of them committed. A shard whose newest manifest is older has lost a file.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { decodeIndex, encodeIndex, type IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { systemCode } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { Logger } from "#proto/kit/log.ts";
import { type Committed, readCommitted, writeCommitted } from "./position-files.ts";
import { type HostSeat, ONLY_HOST, owns } from "./shard-owner.ts";

const INDEX_FILE = "index.json";

/** Returns the name of a shard in `Committed`. */
export function shardKey(uuid: string, shard: number): string {
  return `${uuid}/${shard}`;
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
      try {
        const index = decodeIndex(readFileSync(join(this.#folder, uuid, INDEX_FILE)));
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
    mkdirSync(folder, { recursive: true, mode: 0o750 });
    return folder;
  }

  /** Writes the metadata of an index beside its shards, if it changed. */
  describe(index: IndexMetadata): void {
    if (this.#written.get(index.uuid) === index) return;
    mkdirSync(join(this.#folder, index.uuid), { recursive: true, mode: 0o750 });
    writeFileAtomic(join(this.#folder, index.uuid, INDEX_FILE), encodeIndex(index));
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
