/**
 * Takes a snapshot of a running hub. The order makes it consistent: the documents that the pipeline's cursors cover
 * are in the DOC messages read after them, and what was purged from DOC is in the shards, which are held last. So the
 * streams come first, then the shards' files; what is in both is deduplicated by position.
 *
 * Segments never change, so a hard link holds them even if a merge removes the original. Each shard is held at a
 * commit point of its own, whose manifest names the position in the log.
 */

import { createReadStream, existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, holdShards } from "#hub/cluster/recovery/held-shards.ts";
import type { StreamArchive } from "#hub/journal/streams/stream-archive.ts";
import { AppError } from "#proto/kit/errors.ts";
import { FolderLock } from "#proto/kit/files/folder-lock.ts";
import { DEAD_LETTER_STREAM, DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import type { BlobStore } from "./blob-store.ts";
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
/** Locks, pid files, the disk's reserve, keys of this hub, and the log's own store, which is read message by message. */
const NOT_KEPT =
  /(^|\/)[^/]+\.(lock|pid|tmp)$|^reserve$|^nats\/(store|ports|cluster)\/|^nats\/(nats\.conf|formation\.json|cluster[^/]*)$|^engine(-copy|-replaced)?\/|^(snapshot|copies)-held\//;
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
    await holdShards(join(folder, ENGINE), held);
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
