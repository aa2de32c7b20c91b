/**
 * Directory layout of shards: `<folder>/<index uuid>/index.json` and `<folder>/<index uuid>/<shard>/`, and beside
 * them `position.json`, the position in DOC up to which every shard of this hub is committed.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { decodeIndex, encodeIndex, type IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { crc32c } from "#hub/engine/encoding/crc32c.ts";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { Logger } from "#proto/kit/log.ts";
import { type Position, START } from "#proto/position.ts";

const POSITION_FILE = "position.json";
const INDEX_FILE = "index.json";

/**
 * position.json: a JSON object with version, incarnation and sequence, a newline, the CRC-32C of the object in 8 hexadecimal
 * digits, a newline. Version 1 had no checksum.
 */
const POSITION_VERSION = 2;
const UNCHECKED = '{"v":1,';

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

  /**
   * Returns the committed position in DOC; START if unknown or damaged: the log is read from its start then, of which each
   * shard drops what it has.
   */
  readPosition(): Position {
    const path = join(this.#folder, POSITION_FILE);
    if (!existsSync(path)) return START;
    try {
      return parsePosition(readFileSync(path));
    } catch (error) {
      this.#log.error(
        { err: error, path },
        "the committed position is unreadable; reading the log from its start",
      );
      return START;
    }
  }

  writePosition({ incarnation, sequence }: Position): void {
    const json = JSON.stringify({ v: POSITION_VERSION, incarnation, sequence });
    writeFileAtomic(join(this.#folder, POSITION_FILE), `${json}\n${checksum(json)}\n`);
  }
}

/** Throws data_corrupt where a byte isn't as it was written. */
function parsePosition(bytes: Buffer): Position {
  const [json = "", check] = bytes.toString("latin1").split("\n");
  const isWhole = check === undefined ? json.startsWith(UNCHECKED) : check === checksum(json);
  if (!isWhole) throw new AppError("data_corrupt", `${POSITION_FILE} fails its checksum`);
  const { v, incarnation, sequence } = JSON.parse(json) as Position & { readonly v: number };
  if (v > POSITION_VERSION)
    throw new AppError("data_corrupt", `${POSITION_FILE} has format version ${v}, which this hub can't read`);
  return { incarnation, sequence };
}

function checksum(json: string): string {
  return crc32c(Buffer.from(json)).toString(16).padStart(8, "0");
}
