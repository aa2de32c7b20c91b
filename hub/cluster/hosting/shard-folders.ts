/**
 * Directory layout of shards: `<folder>/<index uuid>/index.json` and `<folder>/<index uuid>/<shard>/`, and beside
 * them `position.json`, the position in DOC up to which every shard of this hub is committed.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { decodeIndex, encodeIndex, type IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { systemCode } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { Logger } from "#proto/kit/log.ts";
import { type Position, START } from "#proto/position.ts";

const POSITION_FILE = "position.json";
const INDEX_FILE = "index.json";

export class ShardFolders {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #written = new Map<string, IndexMetadata>();

  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
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

  remove(uuid: string): void {
    this.#written.delete(uuid);
    rmSync(join(this.#folder, uuid), { recursive: true, force: true });
  }

  /** Returns the committed position in DOC; START if unknown. */
  readPosition(): Position {
    try {
      const { incarnation, sequence } = JSON.parse(
        readFileSync(join(this.#folder, POSITION_FILE), "utf8"),
      ) as Position;
      return { incarnation, sequence };
    } catch (error) {
      if (systemCode(error) !== "ENOENT") {
        this.#log.error({ err: error }, "cannot read the committed position; the log is read from its start");
      }
      return START;
    }
  }

  writePosition(position: Position): void {
    writeFileAtomic(join(this.#folder, POSITION_FILE), JSON.stringify({ v: 1, ...position }));
  }
}
