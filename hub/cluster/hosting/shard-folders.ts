/**
 * Directory layout of shards: `<folder>/<index uuid>/index.json` and `<folder>/<index uuid>/<shard>/`, and beside
 * them `position.json`: the position in DOC up to which every shard of this hub is committed, and the generation of the
 * manifest that each shard committed. A shard whose newest manifest is older has lost a file.
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
 * position.json: a JSON object with version, incarnation, sequence and generations, a newline, the CRC-32C of the object in 8
 * hexadecimal digits, a newline. `generations` are by "<index uuid>/<shard>"; version 2 had none, version 1 no checksum.
 */
const POSITION_VERSION = 3;
const UNCHECKED = '{"v":1,';

/** What was committed last. */
export interface Committed {
  /** In DOC; every shard covers it. */
  readonly position: Position;
  /** Of the shards' manifests, by `shardKey`; at most that of the newest one. */
  readonly generations: ReadonlyMap<string, number>;
}

const NOTHING: Committed = { position: START, generations: new Map() };

/** Returns the name of a shard in `Committed`. */
export function shardKey(uuid: string, shard: number): string {
  return `${uuid}/${shard}`;
}

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
   * Returns what was committed last; START and no generations if unknown or damaged: the log is read from its start then, of
   * which each shard drops what it has.
   */
  readCommitted(): Committed {
    const path = join(this.#folder, POSITION_FILE);
    if (!existsSync(path)) return NOTHING;
    try {
      return parseCommitted(readFileSync(path));
    } catch (error) {
      this.#log.error(
        { err: error, path },
        "the committed position is unreadable; reading the log from its start",
      );
      return NOTHING;
    }
  }

  writeCommitted({ position: { incarnation, sequence }, generations: byShard }: Committed): void {
    const generations = Object.fromEntries(byShard);
    const json = JSON.stringify({ v: POSITION_VERSION, incarnation, sequence, generations });
    writeFileAtomic(join(this.#folder, POSITION_FILE), `${json}\n${checksum(json)}\n`);
  }
}

/** Throws data_corrupt where a byte isn't as it was written. */
function parseCommitted(bytes: Buffer): Committed {
  const [json = "", check] = bytes.toString("latin1").split("\n");
  const isWhole = check === undefined ? json.startsWith(UNCHECKED) : check === checksum(json);
  if (!isWhole) throw new AppError("data_corrupt", `${POSITION_FILE} fails its checksum`);
  const {
    v,
    incarnation,
    sequence,
    generations = {},
  } = JSON.parse(json) as Position & {
    readonly v: number;
    readonly generations?: Readonly<Record<string, number>>;
  };
  if (v > POSITION_VERSION)
    throw new AppError("data_corrupt", `${POSITION_FILE} has format version ${v}, which this hub can't read`);
  return { position: { incarnation, sequence }, generations: new Map(Object.entries(generations)) };
}

function checksum(json: string): string {
  return crc32c(Buffer.from(json)).toString(16).padStart(8, "0");
}
