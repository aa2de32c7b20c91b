/**
 * Takes a snapshot of a running hub. The order makes it consistent: the documents that the pipeline's cursors cover
 * are in the DOC messages read after them, and what was purged from DOC is in the shards, which are held last. So the
 * streams come first, then the shards' files; what is in both is deduplicated by position.
 *
 * Segments never change, so a hard link holds them even if a merge removes the original. Each shard is held at a
 * commit point of its own, whose manifest names the position in the log.
 */

import {
  copyFileSync,
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { join, relative, sep } from "node:path";
import { isPositionFile } from "#hub/cluster/hosting/position-files.ts";
import { readManifest } from "#hub/engine/commit/manifest.ts";
import { liveFileName, segmentFileName } from "#hub/engine/commit/shard-segment.ts";
import type { StreamArchive } from "#hub/journal/streams/stream-archive.ts";
import type { BlobStore } from "#hub/snapshot/blobs/blob-store.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { FolderLock } from "#proto/kit/files/folder-lock.ts";
import { DEAD_LETTER_STREAM, DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import {
  descriptionKey,
  encodeRecords,
  SNAPSHOT_VERSION,
  type Snapshot,
  type SnapshotFile,
  type SnapshotStream,
  storePiece,
  type Tally,
} from "./contents.ts";

export interface CreateOptions {
  readonly name: string;
  /** The hub's data folder, absolute. */
  readonly folder: string;
  readonly store: BlobStore;
  readonly archive: StreamArchive;
  readonly product: string;
  readonly nowMs: number;
  /** Called after each stored part, such as "stream RAW". */
  readonly progress: (part: string) => void;
}

export interface Created {
  readonly snapshot: Snapshot;
  readonly tally: Tally;
}

/** State buckets are small and come first (empty prefix); then the log in the direction of its flow. */
const LAST_STREAMS = [RAW_STREAM, DOC_STREAM, DEAD_LETTER_STREAM];
const ENGINE = "engine";
const HELD = "snapshot-held";
/** Locks, pid files, and the log's own store, which is read message by message. */
const NOT_KEPT =
  /(^|\/)[^/]+\.(lock|pid|tmp)$|^nats\/(store|ports)\/|^nats\/nats\.conf$|^engine\/|^snapshot-held\//;
const PERMISSIONS = 0o777;

/** Throws usage_invalid if `folder` holds no hub's data, naming the subfolder that does. */
export function checkHoldsData(folder: string): void {
  if (existsSync(join(folder, ENGINE))) return;
  const below = join(folder, "hub"); // where npm start puts it
  const hint = existsSync(join(below, ENGINE)) ? `; did you mean ${below}?` : "";
  throw new AppError("usage_invalid", `${folder} (path.data) holds no hub's data${hint}`);
}

/**
 * Throws usage_invalid, data_locked while another snapshot is taken …, with nothing left but chunks that the next
 * snapshot uses.
 */
export async function createSnapshot(options: CreateOptions): Promise<Created> {
  const { name, folder, store, product, nowMs } = options;
  const key = descriptionKey(name);
  if (await store.has(key))
    throw new AppError(
      "usage_invalid",
      `${store.address} already has a snapshot ${name}; choose another name`,
    );
  const tally: Tally = { bytes: 0, newBytes: 0 };
  const lock = FolderLock.acquire(folder, "snapshot"); // a concurrent snapshot would remove the held files
  const held = join(folder, HELD);
  rmSync(held, { recursive: true, force: true });
  try {
    const streams = await storeStreams(options, tally);
    holdShards(join(folder, ENGINE), held);
    const others = filesBelow(folder).filter((path) => !NOT_KEPT.test(path));
    const files: SnapshotFile[] = [];
    for (const path of others) files.push(await storeFile(options, path, path, tally));
    for (const path of filesBelow(held))
      files.push(await storeFile(options, `${HELD}/${path}`, `engine/${path}`, tally));
    const created = new Date(nowMs).toISOString();
    const snapshot: Snapshot = { version: SNAPSHOT_VERSION, name, created, product, files, streams };
    await store.put(key, Buffer.from(JSON.stringify(snapshot)));
    return { snapshot, tally };
  } finally {
    rmSync(held, { recursive: true, force: true });
    lock.release();
  }
}

async function storeStreams(
  { archive, store, progress }: CreateOptions,
  tally: Tally,
): Promise<SnapshotStream[]> {
  const streams: SnapshotStream[] = [];
  const order = (name: string): number => LAST_STREAMS.indexOf(name);
  for (const name of (await archive.names()).sort((left, right) => order(left) - order(right))) {
    const config = await archive.config(name);
    const count = { messages: 0 };
    const piece = await storePiece(store, encodeRecords(archive.read(name), count), tally);
    streams.push({ name, config, messages: count.messages, ...piece });
    progress(`stream ${name}: ${count.messages} messages`);
  }
  return streams;
}

async function storeFile(
  { folder, store, progress }: CreateOptions,
  source: string,
  path: string,
  tally: Tally,
): Promise<SnapshotFile> {
  const from = join(folder, source);
  const { mode } = statSync(from);
  const piece = await storePiece(store, createReadStream(from), tally);
  progress(`file ${path}: ${piece.sizeBytes} bytes`);
  return { path, mode: mode & PERMISSIONS, ...piece };
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

/** A merge or commit may remove files while they are linked; the next commit point is tried then. */
const TRIES = 20;
const FOLDER_MODE = 0o750;

/** Links the engine's files from `engine` into `held`, which must not exist, on the same file system. */
export function holdShards(engine: string, held: string): void {
  mkdirSync(held, { recursive: true, mode: FOLDER_MODE });
  // The common positions first: every manifest read after them covers them.
  const files = existsSync(engine) ? readdirSync(engine).filter(isPositionFile) : [];
  for (const name of files) copyIfThere(join(engine, name), join(held, name));
  for (const uuid of foldersIn(engine)) {
    mkdirSync(join(held, uuid), FOLDER_MODE);
    copyIfThere(join(engine, uuid, "index.json"), join(held, uuid, "index.json"));
    for (const shard of foldersIn(join(engine, uuid)))
      holdShard(join(engine, uuid, shard), join(held, uuid, shard));
  }
}

function holdShard(shard: string, held: string): void {
  for (let tries = 1; ; tries++) {
    try {
      linkShard(shard, held);
      return;
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      rmSync(held, { recursive: true, force: true });
      if (!existsSync(shard)) return; // the index was deleted meanwhile
      if (tries === TRIES)
        throw new AppError("unavailable", `${shard} changes faster than it can be copied; try again`, {
          cause: error,
        });
    }
  }
}

function linkShard(shard: string, held: string): void {
  mkdirSync(held, FOLDER_MODE);
  const read = readManifest(shard);
  if (read === null) return; // nothing was committed yet: everything is in the log
  const { manifest } = read;
  copyFileSync(
    join(shard, `manifest-${manifest.generation}.json`),
    join(held, `manifest-${manifest.generation}.json`),
  );
  for (const { name, liveGeneration } of manifest.segments) {
    const files = [segmentFileName(name)];
    if (liveGeneration > 0) files.push(liveFileName(name, liveGeneration));
    for (const file of files) linkSync(join(shard, file), join(held, file));
  }
}

function copyIfThere(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

/** Returns the subfolders of `folder`; none if it doesn't exist. */
function foldersIn(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
